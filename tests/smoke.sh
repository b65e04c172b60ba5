#!/usr/bin/env bash
# Builds wheel and sdist, installs each into an empty environment, and uses it from elsewhere.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 KVSOLVE_CACHE_DIR="$work/cache"
unset PYTHONPATH

say() { echo "smoke: $*"; }

"$python" -m venv "$work/build"
"$work/build/bin/pip" install --quiet build
"$work/build/bin/python" -m build --outdir "$work/dist" "$root" >"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; exit 1; }
say "built $(cd "$work/dist" && ls | tr '\n' ' ')"

expect() {  # CODE WORDS COMMAND...: the exit code, and words in what is printed
  local code=$1 words=$2 got=0 out
  shift 2
  out=$("$@" 2>&1) || got=$?
  if [ "$got" != "$code" ] || ! grep -qF -- "$words" <<<"$out"; then
    say "expected code $code and '$words' of: $*"
    say "got code $got and: $out"
    exit 1
  fi
}

use() {  # An environment that holds kvsolve and what it needs, nothing else
  local bin=$1 context=(--gpu h100 --sglang 0.5.18)
  local model=(--model-path meta-llama/Llama-3.1-8B-Instruct)
  cd "$work"
  expect 0 "kvsolve " "$bin/kvsolve" --version
  expect 0 "Usage" "$bin/kvsolve" check --help
  expect 0 "nothing known" "$bin/kvsolve" check "${context[@]}" -- "${model[@]}"
  expect 1 "KV1141" "$bin/kvsolve" check "${context[@]}" --format concise -- "${model[@]}" --kv-cache-dtype nvfp4
  expect 1 "proven cheapest" "$bin/kvsolve" fix "${context[@]}" -- "${model[@]}" --kv-cache-dtype nvfp4
  expect 0 '"version": "2.1.0"' "$bin/kvsolve" check "${context[@]}" --format sarif -- "${model[@]}"
  expect 0 "kv-cache" "$bin/kvsolve" explain --sglang 0.5.18 KV1035
  expect 0 '"kv-cache-dtype"' "$bin/kvsolve" schema config
  expect 0 '"verdict"' "$bin/kvsolve" schema check
  expect 2 "kvsolve[mcp]" "$bin/kvsolve" mcp
  expect 0 "valid" "$bin/python" -c \
    "import kvsolve; print(kvsolve.check('${model[*]}', gpu='h100', sglang='0.5.18').verdict)"
  expect 0 "" "$bin/python" -m pip check
}

for made in "$work"/dist/*.whl "$work"/dist/*.tar.gz; do
  rm -rf "$work/env" "$work/cache"
  "$python" -m venv "$work/env"
  "$work/env/bin/pip" install --quiet "$made"
  (use "$work/env/bin")
  say "$(basename "$made") works in an empty environment"
done

# The steps of the GitHub Action, from the wheel: install it, then judge a folder.
mkdir "$work/repository"
echo "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct" \
  >"$work/repository/good.sh"
step=("$work/env/bin/python" "$root/tests/action_steps.py" "$(echo "$work"/dist/*.whl)")
step+=("$work/repository" gpu=h100 sglang=0.5.18)
expect 0 "" "${step[@]}"
sed 's/$/ --kv-cache-dtype nvfp4/' "$work/repository/good.sh" >"$work/repository/bad.sh"
expect 1 "::error file=bad.sh" "${step[@]}"
say "the action installs the wheel and judges a folder"
