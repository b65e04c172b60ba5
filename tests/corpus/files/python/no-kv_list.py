"""Starts a server: python3 -m sglang.launch_server ..."""
import subprocess


def start(host: str, port: int) -> subprocess.Popen:
    command = [
        'python3',
        '-m',
        'sglang.launch_server',
        '--model-path',
        'meta-llama/Llama-3.1-8B-Instruct',
        '--is-embedding',
        '--prefill-only-disable-kv-cache',
        '--kv-cache-dtype',
        'nvfp4',
        '--dist-init-addr',
        f"{host}:{port + 1}",
    ]
    return subprocess.Popen(command, env={"A": "1"})
