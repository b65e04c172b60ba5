import os

COMMAND = r"""
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --mem-fraction-static 0.8 \
  --cuda-graph-max-bs 64 \
  --port 30001
"""

if __name__ == "__main__":
    os.system(COMMAND)
