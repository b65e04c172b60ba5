#!/bin/bash
cat > /tmp/start.sh <<'END'
#!/bin/bash
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --mem-fraction-static 0.8 \
  --cuda-graph-max-bs 64 \
  --port 30001
END
chmod +x /tmp/start.sh
