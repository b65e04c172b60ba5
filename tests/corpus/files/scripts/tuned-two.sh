#!/bin/bash
SGLANG_TORCH_PROFILER_DIR=/tmp/traces CUDA_VISIBLE_DEVICES=0,1,2,3 numactl --cpunodebind=0 uv run python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp=4 \
  --mem-fraction-static=0.85 \
  --chunked-prefill-size=8192 \
  --enable-metrics \
  --attention-backend=fa3 &
python3 -m sglang_router.launch_router --worker-urls http://localhost:30000 &
SGLANG_TORCH_PROFILER_DIR=/tmp/traces CUDA_VISIBLE_DEVICES=4,5,6,7 \
sglang serve \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp=4 \
  --mem-fraction-static=0.85 \
  --chunked-prefill-size=8192 \
  --enable-metrics \
  --attention-backend=fa3 &
wait -n
