import os

COMMAND = r"""
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --tp=4 \
  --mem-fraction-static=0.85 \
  --chunked-prefill-size=8192 \
  --enable-metrics \
  --attention-backend=fa3
"""

if __name__ == "__main__":
    os.system(COMMAND)
