#!/usr/bin/env bash
set -euo pipefail

echo "starting python3 -m sglang.launch_server"
exec python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --is-embedding \
  --prefill-only-disable-kv-cache \
  --kv-cache-dtype nvfp4 \
  > server.log 2>&1
