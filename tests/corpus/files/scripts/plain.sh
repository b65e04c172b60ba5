#!/usr/bin/env bash
set -euo pipefail

echo "starting python3 -m sglang.launch_server"
exec python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --host 0.0.0.0 \
  --port 30000 \
  --tp-size 2 \
  > server.log 2>&1
