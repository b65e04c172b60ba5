#!/bin/bash
source "$(dirname "$0")/common.sh"
MODEL_ARGS=(--model-path meta-llama/Llama-3.1-8B-Instruct)
SERVER_ARGS=(
  --tp=4
  --mem-fraction-static=0.85
  --chunked-prefill-size=8192
  --enable-metrics
  --attention-backend=fa3
)

if [[ -n "${SLURM_JOB_ID:-}" ]]; then
  echo "job $SLURM_JOB_ID"
fi
python3 -m sglang.launch_server "${MODEL_ARGS[@]}" \
  "${SERVER_ARGS[@]}" > "$LOG" 2>&1 &
SERVER_PID=$!
wait "$SERVER_PID"
