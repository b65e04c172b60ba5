#!/bin/bash
CUDA_VISIBLE_DEVICES=0,1,2,3 numactl --cpunodebind=0 uv run python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --host 0.0.0.0 \
  --port 30000 \
  --tp-size 2 &
python3 -m sglang_router.launch_router --worker-urls http://localhost:30000 &
CUDA_VISIBLE_DEVICES=4,5,6,7 \
sglang serve \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --host 0.0.0.0 \
  --port 30000 \
  --tp-size 2 &
wait -n
