#!/usr/bin/env bash
set -euo pipefail
export HF_HOME='/models/hf cache'

echo "starting python3 -m sglang.launch_server"
exec python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --json-model-override-args '{"max_position_embeddings": 8192}' \
  --served-model-name 'my llama' \
  --trust-remote-code \
  --port 8000 \
  > server.log 2>&1
