#!/bin/bash
HF_HOME='/models/hf cache' CUDA_VISIBLE_DEVICES=0,1,2,3 numactl --cpunodebind=0 uv run python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --json-model-override-args '{"max_position_embeddings": 8192}' \
  --served-model-name 'my llama' \
  --trust-remote-code \
  --port 8000 &
python3 -m sglang_router.launch_router --worker-urls http://localhost:30000 &
HF_HOME='/models/hf cache' CUDA_VISIBLE_DEVICES=4,5,6,7 \
sglang serve \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --json-model-override-args '{"max_position_embeddings": 8192}' \
  --served-model-name 'my llama' \
  --trust-remote-code \
  --port 8000 &
wait -n
