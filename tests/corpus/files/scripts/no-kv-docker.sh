#!/bin/sh
# needs the container toolkit
docker run --gpus all --shm-size 32g -p 30000:30000 --rm lmsysorg/sglang:v0.5.18-cu129 \
    python3 -m sglang.launch_server \
    --model-path meta-llama/Llama-3.1-8B-Instruct \
    --is-embedding \
    --prefill-only-disable-kv-cache \
    --kv-cache-dtype nvfp4
