import os

COMMAND = r"""
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp-size 2 \
  --kv-cache-dtyep fp8_e4m3 \
  --enable-metrics
"""

if __name__ == "__main__":
    os.system(COMMAND)
