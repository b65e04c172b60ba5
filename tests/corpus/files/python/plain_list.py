"""Starts a server: python3 -m sglang.launch_server ..."""
import subprocess


def start(host: str, port: int) -> subprocess.Popen:
    command = [
        'python3',
        '-m',
        'sglang.launch_server',
        '--model-path',
        'meta-llama/Llama-3.1-8B-Instruct',
        '--host',
        '0.0.0.0',
        '--port',
        '30000',
        '--tp-size',
        '2',
        '--dist-init-addr',
        f"{host}:{port + 1}",
    ]
    return subprocess.Popen(command, env={"A": "1"})
