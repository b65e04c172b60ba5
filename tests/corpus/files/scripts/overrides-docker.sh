#!/bin/sh
# needs the container toolkit
docker run --gpus all --shm-size 32g -p 30000:30000 -e 'HF_HOME=/models/hf cache' --rm lmsysorg/sglang:v0.5.23-cu129 \
    python3 -m sglang.launch_server \
    --model-path meta-llama/Llama-3.1-8B-Instruct \
    --json-model-override-args '{"max_position_embeddings": 8192}' \
    --served-model-name 'my llama' \
    --trust-remote-code \
    --port 8000
