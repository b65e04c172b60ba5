#!/usr/bin/env bash
set -euo pipefail

echo "starting python3 -m sglang.launch_server"
exec python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp-size 2 \
  --kv-cache-dtyep fp8_e4m3 \
  --enable-metrics \
  > server.log 2>&1
