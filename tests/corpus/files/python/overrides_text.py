import os

COMMAND = r"""
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --json-model-override-args '{"max_position_embeddings": 8192}' \
  --served-model-name 'my llama' \
  --trust-remote-code \
  --port 8000
"""

if __name__ == "__main__":
    os.system(COMMAND)
