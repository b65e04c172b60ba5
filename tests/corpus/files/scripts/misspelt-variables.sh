#!/bin/bash
MAX_REQUESTS=64
PER_NODE=4
while [[ $# -gt 0 ]]; do
  case "$1" in
    --requests) MAX_REQUESTS="$2"; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 1 ;;
  esac
done

python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp-size 2 \
  --kv-cache-dtyep fp8_e4m3 \
  --enable-metrics \
  --max-running-requests "$MAX_REQUESTS" --stream-interval $((PER_NODE * 2)) --random-seed $SEED
