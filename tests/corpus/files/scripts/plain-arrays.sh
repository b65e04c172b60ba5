#!/bin/bash
source "$(dirname "$0")/common.sh"
MODEL_ARGS=(--model-path meta-llama/Llama-3.1-8B-Instruct)
SERVER_ARGS=(
  --host 0.0.0.0
  --port 30000
  --tp-size 2
)

if [[ -n "${SLURM_JOB_ID:-}" ]]; then
  echo "job $SLURM_JOB_ID"
fi
python3 -m sglang.launch_server "${MODEL_ARGS[@]}" \
  "${SERVER_ARGS[@]}" > "$LOG" 2>&1 &
SERVER_PID=$!
wait "$SERVER_PID"
