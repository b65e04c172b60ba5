#!/bin/bash
cat > /tmp/start.sh <<'END'
#!/bin/bash
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --is-embedding \
  --prefill-only-disable-kv-cache \
  --kv-cache-dtype nvfp4
END
chmod +x /tmp/start.sh
