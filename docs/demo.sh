#!/bin/sh
# The example of the README: four refusals, of which a start would tell one at a time.
kvsolve=${1:-kvsolve}

show() {
    echo
    echo "\$ kvsolve $*"
    "$kvsolve" "$@"
    # 1 means findings, which is what the demonstration is for.
    [ $? -le 1 ] || exit 2
}

set -- --sglang 0.5.18 --gpu h100 -- python -m sglang.launch_server \
    --model-path meta-llama/Llama-3.1-8B-Instruct \
    --is-embedding --prefill-only-disable-kv-cache --kv-cache-dtype nvfp4

show check "$@" && show fix "$@"
