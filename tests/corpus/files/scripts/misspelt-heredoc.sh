#!/bin/bash
cat > /tmp/start.sh <<'END'
#!/bin/bash
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp-size 2 \
  --kv-cache-dtyep fp8_e4m3 \
  --enable-metrics
END
chmod +x /tmp/start.sh
