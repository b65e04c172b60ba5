#!/bin/bash
cat > /tmp/start.sh <<'END'
#!/bin/bash
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --host 0.0.0.0 \
  --port 30000 \
  --tp-size 2
END
chmod +x /tmp/start.sh
