import os

COMMAND = r"""
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --is-embedding \
  --prefill-only-disable-kv-cache \
  --kv-cache-dtype nvfp4
"""

if __name__ == "__main__":
    os.system(COMMAND)
