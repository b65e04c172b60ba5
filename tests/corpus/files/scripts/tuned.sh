#!/usr/bin/env bash
set -euo pipefail
export SGLANG_TORCH_PROFILER_DIR=/tmp/traces

echo "starting python3 -m sglang.launch_server"
exec python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp=4 \
  --mem-fraction-static=0.85 \
  --chunked-prefill-size=8192 \
  --enable-metrics \
  --attention-backend=fa3 \
  > server.log 2>&1
