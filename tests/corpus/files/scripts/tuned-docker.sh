#!/bin/sh
# needs the container toolkit
docker run --gpus all --shm-size 32g -p 30000:30000 -e SGLANG_TORCH_PROFILER_DIR=/tmp/traces --rm lmsysorg/sglang:v0.5.21-cu129 \
    python3 -m sglang.launch_server \
    --model-path meta-llama/Llama-3.1-8B-Instruct \
    --tp=4 \
    --mem-fraction-static=0.85 \
    --chunked-prefill-size=8192 \
    --enable-metrics \
    --attention-backend=fa3
