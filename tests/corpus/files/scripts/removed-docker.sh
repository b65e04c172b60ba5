#!/bin/sh
# needs the container toolkit
docker run --gpus all --shm-size 32g -p 30000:30000 --rm lmsysorg/sglang:v0.5.23-cu129 \
    python3 -m sglang.launch_server \
    --model-path meta-llama/Llama-3.1-8B-Instruct \
    --mem-fraction-static 0.8 \
    --cuda-graph-max-bs 64 \
    --port 30001
