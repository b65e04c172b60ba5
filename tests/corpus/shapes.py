"""The shapes in which the corpus holds servers, after those of public repositories.

Every shape puts marks around the words, so that what a reader has to find is known from the writing
and not from a reader.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from .marking import as_json, as_shell, as_yaml, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .servers import Server

__all__ = ["SHAPES", "Shape", "Spelled", "spelled"]

MODULE = ("python3", "-m", "sglang.launch_server")
DYNAMO = ("python3", "-m", "dynamo.sglang")


class Spelled(NamedTuple):
    """A command of the corpus: the words that a reader has to find, and what it is about.

    Attributes:
        words: All of its words.
        server: What it starts.
        number: Which command of the file it is.
        unknown: By position, words that the file does not tell.
    """

    words: tuple[str, ...]
    server: Server
    number: int = 0
    unknown: tuple[int, ...] = ()

    def marks(
        self, write: Callable[[str], str], start: int = 0, end: int | None = None
    ) -> list[str]:
        """Its words as they are written, between marks."""
        words = list(enumerate(self.words))[start:end]
        return [mark(write(word), self.number, at) for at, word in words]


def spelled(
    server: Server, program: Sequence[str] = MODULE, number: int = 0, extra: Sequence[str] = ()
) -> Spelled:
    """A server as a command; words of ``extra`` that begin with a dollar are not known."""
    words = (*program, *server.options, *extra)
    unknown = tuple(at for at, word in enumerate(words) if word.startswith("$"))
    return Spelled(words, server, number, unknown)


class Shape(NamedTuple):
    """A shape.

    Attributes:
        path: The file's name; ``{}`` stands for the server's.
        write: Makes commands and text of a server.
        image: The file names the image.
        gpu: GPU profile that the file names.
        gpus: GPUs that it gives.
        env: It sets the server's environment.
        form: What the reader calls it.
        name: What the file calls the server.
    """

    path: str
    write: Callable[[Server], tuple[list[Spelled], str]]
    form: str
    image: bool = False
    gpu: str | None = None
    gpus: int | None = None
    env: bool = False
    name: str = ""


def image(server: Server) -> str:
    """The image of the server's release."""
    return f"lmsysorg/sglang:v{server.release}-cu129"


def indent(text: str, by: int) -> str:
    """A text set in."""
    return "".join(" " * by + line for line in text.splitlines(keepends=True))


def items(words: Sequence[str], by: int) -> str:
    """Words as items of a block sequence."""
    return "".join(f"{' ' * by}- {word}\n" for word in words)


def env_items(server: Server, by: int) -> str:
    """The environment as Kubernetes has it."""
    pad = " " * by
    rows = [f'{pad}- name: {n}\n{pad}  value: "{v}"\n' for n, v in server.env]
    rows.append(
        f"{pad}- name: POD_IP\n{pad}  valueFrom:\n{pad}    fieldRef: {{fieldPath: status.podIP}}\n"
    )
    return "".join(rows)


def lines(words: Sequence[str], pairs: Sequence[Sequence[str]], end: str = " \\\n  ") -> str:
    """A command with one option a line; ``words`` are written words in order."""
    program = len(words) - sum(len(option) for option in pairs)
    rows, at = [" ".join(words[:program])], program
    for option in pairs:
        rows.append(" ".join(words[at : at + len(option)]))
        at += len(option)
    return end.join(rows)


def written(command: Spelled, write: Callable[[str], str] = as_shell, end: str = " \\\n  ") -> str:
    """The command with one option a line."""
    return lines(command.marks(write), command.server.pairs, end)


def deployment(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, extra=("--dist-init-addr", "$(POD_IP):5000"))
    one = one._replace(unknown=(len(one.words) - 1,))
    words = one.marks(as_yaml)
    return (
        [one],
        f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: sglang
spec:
  replicas: 1
  template:
    spec:
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
      containers:
        - name: server  # the only one
          image: {image(server)}
          command: [{", ".join(one.marks(as_json)[:3])}]
          args:
{items(words[3:], 12)}          env:
{env_items(server, 12)}          resources:
            limits:
              nvidia.com/gpu: "8"
          volumeMounts:
            - {{name: dshm, mountPath: /dev/shm}}
""",
    )


def statefulset(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    script = written(one)
    return (
        [one],
        f"""\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: sglang-multi
spec:
  serviceName: sglang
  template:
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: cloud.google.com/gke-accelerator
                    operator: In
                    values: [nvidia-h100-80gb]
      containers:
        - name: worker
          image: {image(server)}
          command:
            - /bin/bash
            - -c
            - |
              set -e
              # started on every pod
{indent(script, 14)}
          resources:
            limits: {{nvidia.com/gpu: 8}}
""",
    )


def leader_worker_set(server: Server) -> tuple[list[Spelled], str]:
    rank = ("--nnodes", "2", "--node-rank", "$(LWS_WORKER_INDEX)")
    two = [spelled(server, number=n, extra=rank) for n in (0, 1)]
    size = len(two[0].words) - 3

    def grouped(words: list[str]) -> list[str]:
        return [
            w.replace('"2"', "$(LWS_GROUP_SIZE)") if at == size else w for at, w in enumerate(words)
        ]

    parts = []
    for role, one in zip(("leaderTemplate", "workerTemplate"), two, strict=True):
        parts.append(f"""\
    {role}:
      spec:
        containers:
        - name: sglang-{role[:6]}
          image: {image(server)}
          command:
{items(grouped(one.marks(as_yaml)), 10)}          resources:
            limits:
              nvidia.com/gpu: "8"
""")
    return (
        two,
        f"""\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: sglang
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
{"".join(parts)}""",
    )


def serving_runtime(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata:
  name: srt-llama
spec:
  supportedModelFormats:
    - modelFormat: {{name: safetensors, version: "1.0.0"}}
      modelArchitecture: LlamaForCausalLM
  engineConfig:
    runner:
      name: ome-container
      image: docker.io/{image(server)}
      ports:
        - {{containerPort: 8080, name: http1}}
      command:
{items(one.marks(as_json), 8)}      resources:
        requests:
          nvidia.com/gpu: 8
        limits:
          nvidia.com/gpu: 8
  routerConfig:
    runner:
      name: router
      image: registry.example.com/router:v0.2
      command:
        - sh
        - -c
        - >
          python3 -m sglang_router.launch_router
          --host 0.0.0.0
          --port 8080
""",
    )


def inference_service(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: llama
spec:
  predictor:
    nodeSelector: {{node.kubernetes.io/instance-type: p5.48xlarge}}
    containers:
    - args: [{", ".join(one.marks(as_json))}]
      image: {image(server)}
      name: kserve-container
      resources: {{limits: {{nvidia.com/gpu: 8}}}}
""",
    )


def dynamo_graph(server: Server) -> tuple[list[Spelled], str]:
    own = ("--disaggregation-mode", "prefill"), ("--disaggregation-mode", "decode")
    two = [
        spelled(server, DYNAMO, n, (*own[n], "--dyn-tool-call-parser", "hermes")) for n in (0, 1)
    ]
    parts = []
    for role, one in zip(("prefill", "decode"), two, strict=True):
        parts.append(f"""\
    {role}:
      componentType: worker
      resources:
        limits:
          gpu: "8"
      extraPodSpec:
        mainContainer:
          image: {image(server)}
          workingDir: /workspace
          command:
{items(one.marks(as_yaml)[:3], 10)}          args:
{items(one.marks(as_yaml)[3:], 12)}""")
    return (
        two,
        f"""\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: disagg
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec:
        mainContainer:
          image: frontend:1
          command: [python3, -m, dynamo.frontend]
{"".join(parts)}""",
    )


def role_based_group(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
metadata:
  name: agg
spec:
  roles:
    - name: backend
      replicas: 2
      standalonePattern:
        template:
          spec:
            nodeSelector:
              nvidia.com/gpu.product: "NVIDIA-H100-80GB-HBM3"
            containers:
              - name: backend
                image: {image(server)}
                command:
{items(one.marks(as_yaml), 18)}                env:
{env_items(server, 18)}                resources:
                  limits:
                    nvidia.com/gpu: "8"
""",
    )


def job(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, ("sglang", "serve"))
    script = " ".join(one.marks(as_shell))
    return (
        [one],
        f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: smoke}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: smoke
        image: "{image(server)}"
        command: ["bash", "-lc"]
        args:
          - >-
            {script}
        resources:
          limits:
            nvidia.com/gpu: 8
---
apiVersion: v1
kind: Service
metadata: {{name: smoke}}
spec: {{ports: [{{port: 30000}}]}}
""",
    )


def helm_values(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
# Values for the chart of the serving stack.
replicaCount: 1
engine:
  image:
    repository: lmsysorg/sglang
    tag: v{server.release}-cu129
    pullPolicy: IfNotPresent
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
  command:
{items(one.marks(as_yaml)[:3], 4)}  args:
{items(one.marks(as_yaml)[3:], 4)}  resources:
    limits:
      nvidia.com/gpu: 8
ingress:
  enabled: false
""",
    )


def helm_template(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, extra=("--log-level", "{{ .Values.logLevel }}"))
    one = one._replace(unknown=(len(one.words) - 1,))
    words = one.marks(as_yaml, 0, -1)
    last = mark('"{{ .Values.logLevel }}"', 0, len(one.words) - 1)
    return (
        [one],
        f"""\
{{{{- if .Values.enabled }}}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{{{ include "chart.fullname" . }}}}
  labels:
    {{{{- include "chart.labels" . | nindent 4 }}}}
spec:
  template:
    spec:
      containers:
        - name: {{{{ .Chart.Name }}}}
          image: "{{{{ .Values.image.repository }}}}:{{{{ .Values.image.tag }}}}"
          command:
{items([*words, last], 12)}
      {{{{- with .Values.nodeSelector }}}}
      nodeSelector:
        {{{{- toYaml . | nindent 8 }}}}
      {{{{- end }}}}
{{{{- end }}}}
""",
    )


def config_map(server: Server) -> tuple[list[Spelled], str]:
    words: list[str] = []
    rows = []
    for option in server.pairs:
        name, _, attached = option[0].partition("=")
        values = [attached] if attached else list(option[1:])
        key = mark(name[2:], 0, len(words))
        words.append(name)
        if not values:
            rows.append(f"    {key}: true\n")
            continue
        value = values[0]
        quoted = value if value.replace(".", "").isdigit() or value.isalnum() else as_json(value)
        rows.append(f"    {key}: {mark(quoted, 0, len(words))}\n")
        words.append(value)
    return (
        [Spelled(tuple(words), server)],
        f"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: sglang-config
data:
  server.yaml: |
{"".join(rows)}""",
    )


def options_file(server: Server) -> tuple[list[Spelled], str]:
    (one,), text = config_map(server)
    body = text.partition("server.yaml: |\n")[2]
    return [one], "# sglang serve --config\n" + "".join(
        line.removeprefix("    ") for line in body.splitlines(keepends=True)
    )


def recipe(server: Server) -> tuple[list[Spelled], str]:
    (one,), text = config_map(server)
    body = text.partition("server.yaml: |\n")[2]
    return (
        [one],
        f"""\
name: "agg-h100"
model:
  path: "hf:meta-llama/Llama-3.1-8B-Instruct"
  container: "{image(server)}"
resources:
  gpu_type: h100
  gpus_per_node: 8
backend:
  type: sglang
  aggregated_environment:
{"".join(f'    {n}: "{v}"' + chr(10) for n, v in server.env)}    PYTHONUNBUFFERED: "1"
  sglang_config:
    aggregated:
{indent(body, 2)}benchmark:
  type: manual
""",
    )


def compose(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    words = one.marks(lambda word: as_shell(word).replace("$", "$$"))
    return (
        [one],
        f"""\
services:
  sglang:
    image: {image(server)}
    container_name: sglang
    environment:
{"".join(f'      {n}: "{v}"' + chr(10) for n, v in server.env)}      HF_TOKEN: ${{HF_TOKEN}}
    entrypoint: {" ".join(words[:3])}
    command: >
{indent(lines(words[3:], server.pairs, chr(10)).lstrip(), 6)}
    ulimits: {{memlock: -1}}
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              device_ids: ["0", "1", "2", "3", "4", "5", "6", "7"]
              capabilities: [gpu]
""",
    )


def compose_defaults(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, extra=("--log-level", "info", "--random-seed", "${SEED}"))
    one = one._replace(unknown=(len(one.words) - 1,))
    words = one.marks(as_json)
    words[-3] = f'"${{LOG_LEVEL:-{mark("info", 0, len(words) - 3)}}}"'
    words[-1] = mark('"${SEED}"', 0, len(words) - 1)
    return (
        [one],
        f"""\
x-common: &common
  restart: unless-stopped
  ipc: host
services:
  llm:
    <<: *common
    image: {image(server)}
    command:
{items(words, 6)}    deploy:
      resources:
        reservations:
          devices: [{{driver: nvidia, count: 8, capabilities: [gpu]}}]
""",
    )


def launch_script(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, ("exec", *MODULE))
    exports = "".join(f"export {n}={as_shell(v)}\n" for n, v in server.env)
    return (
        [one],
        f"""\
#!/usr/bin/env bash
set -euo pipefail
{exports}
echo "starting python3 -m sglang.launch_server"
{written(one)} \\
  > server.log 2>&1
""",
    )


def arrays(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    words = one.marks(as_shell)
    half = 3 + len(server.pairs[0])
    later = lines(["", *words[half:]], server.pairs[1:], "\n  ").strip()
    return (
        [one],
        f"""\
#!/bin/bash
source "$(dirname "$0")/common.sh"
MODEL_ARGS=({" ".join(words[3:half])})
SERVER_ARGS=(
  {later}
)

if [[ -n "${{SLURM_JOB_ID:-}}" ]]; then
  echo "job $SLURM_JOB_ID"
fi
{" ".join(words[:3])} "${{MODEL_ARGS[@]}}" \\
  "${{SERVER_ARGS[@]}}" > "$LOG" 2>&1 &
SERVER_PID=$!
wait "$SERVER_PID"
""",
    )


def variables(server: Server) -> tuple[list[Spelled], str]:
    extra = ("--max-running-requests", "64", "--stream-interval", "8", "--random-seed", "$SEED")
    one = spelled(server, extra=extra)
    words = one.marks(as_shell)
    count = len(words)
    assigned = mark("64", 0, count - 5)
    words[count - 5] = '"$MAX_REQUESTS"'
    words[count - 3] = mark("$((PER_NODE * 2))", 0, count - 3)
    words[count - 1] = mark("$SEED", 0, count - 1)
    body = lines(words[:-6], server.pairs)
    return (
        [one],
        f"""\
#!/bin/bash
MAX_REQUESTS={assigned}
PER_NODE=4
while [[ $# -gt 0 ]]; do
  case "$1" in
    --requests) MAX_REQUESTS="$2"; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 1 ;;
  esac
done

{body} \\
  {" ".join(words[-6:])}
""",
    )


def inner(word: str) -> str:
    """A word inside single quotes."""
    return as_json(word) if as_shell(word) != word else word


def batch(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
#!/bin/bash
#SBATCH --job-name=sglang
#SBATCH --gpus-per-node=8
module load cuda
srun --ntasks=1 \\
  bash -c '{" ".join(one.marks(inner))}'
""",
    )


def docker_run(server: Server) -> tuple[list[Spelled], str]:
    front = ["docker", "run", "--gpus", "all", "--shm-size", "32g", "-p", "30000:30000"]
    front += [word for n, v in server.env for word in ("-e", f"{n}={v}")]
    front += ["--rm", image(server)]
    one = spelled(server, (*front, *MODULE))
    words = one.marks(as_shell)
    head = " ".join(words[: len(front)])
    return (
        [one],
        f"""\
#!/bin/sh
# needs the container toolkit
{head} \\
    {lines(words[len(front) :], server.pairs, " " + chr(92) + chr(10) + "    ")}
""",
    )


def wrapped(server: Server) -> tuple[list[Spelled], str]:
    front = ("numactl", "--cpunodebind=0", "uv", "run")
    two = [spelled(server, (*front, *MODULE), 0), spelled(server, ("sglang", "serve"), 1)]
    prefix = "".join(f"{n}={as_shell(v)} " for n, v in server.env)
    return (
        two,
        f"""\
#!/bin/bash
{prefix}CUDA_VISIBLE_DEVICES=0,1,2,3 {written(two[0])} &
python3 -m sglang_router.launch_router --worker-urls http://localhost:30000 &
{prefix}CUDA_VISIBLE_DEVICES=4,5,6,7 \\
{written(two[1])} &
wait -n
""",
    )


def here_document(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
#!/bin/bash
cat > /tmp/start.sh <<'END'
#!/bin/bash
{written(one)}
END
chmod +x /tmp/start.sh
""",
    )


def dockerfile_exec(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    words = one.marks(as_json)
    env = "".join(f'ENV {n}="{v}"\n' for n, v in server.env)
    return (
        [one],
        f"""\
ARG BASE=unused
FROM --platform=linux/amd64 {image(server)} AS serve
{env}RUN pip install --no-cache-dir extra-package \\
    && rm -rf /var/tmp/pip
ENTRYPOINT [{", ".join(words[:3])}]
CMD [ \\
  {(", " + chr(92) + chr(10) + "  ").join(words[3:])} \\
]
""",
    )


def dockerfile_shell(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, ("sglang", "serve"))
    return (
        [one],
        f"""\
FROM {image(server)}
EXPOSE 30000
CMD {written(one, end=" " + chr(92) + chr(10) + "    ")}
""",
    )


def markdown(server: Server) -> tuple[list[Spelled], str]:
    two = [spelled(server, number=0), spelled(server, ("$", "sglang", "serve"), 1)]
    two[1] = two[1]._replace(unknown=())
    words = [mark("$", 1, 0), *two[1].marks(as_shell)[1:]]
    return (
        two,
        f"""\
# Serving Llama

Start it with `python3 -m sglang.launch_server`:

```bash
{written(two[0])}
```

* Or, from a list:

  ```console
  {" ".join(words)}
  ```

```text
[INFO] python3 -m sglang.launch_server --model-path was logged here
```
""",
    )


def markdown_manifest(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
---
title: On Kubernetes
---

<Tab title="Manifest">

```yaml Pod
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: sglang
      image: {image(server)}
      args:
{items(one.marks(as_yaml), 8)}```

</Tab>
""",
    )


def python_list(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, extra=("--dist-init-addr", "$addr"))
    words = one.marks(repr)
    words[-1] = mark('f"{host}:{port + 1}"', 0, len(words) - 1)
    one = one._replace(words=(*one.words[:-1], "{host}:{port + 1}"), unknown=(len(words) - 1,))
    return (
        [one],
        f"""\
\"\"\"Starts a server: python3 -m sglang.launch_server ...\"\"\"
import subprocess


def start(host: str, port: int) -> subprocess.Popen:
    command = [
        {("," + chr(10) + "        ").join(words)},
    ]
    return subprocess.Popen(command, env={{"A": "1"}})
""",
    )


def python_text(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    return (
        [one],
        f"""\
import os

COMMAND = r\"\"\"
{written(one)}
\"\"\"

if __name__ == "__main__":
    os.system(COMMAND)
""",
    )


def notebook(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    source = ["import time\n", "!" + " ".join(one.marks(as_shell)) + " &\n", "time.sleep(60)"]
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "metadata": {}, "source": ["Run it."]},
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source,
        },
    ]
    text = json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
        indent=1,
        ensure_ascii=False,
    )
    return [one], text + "\n"


def argv_json(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server)
    rows = ",\n    ".join(one.marks(as_json))
    return [one], f'{{\n  "image": "{image(server)}",\n  "argv": [\n    {rows}\n  ]\n}}\n'


def sky_task(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, extra=("--revision", "$REVISION"))
    one = one._replace(words=(*one.words[:-1], "main"), unknown=())
    words = one.marks(as_shell)
    words[-1] = mark('"${REVISION}"', 0, len(words) - 1)
    body = lines(words[:-2], server.pairs) + " \\\n  " + " ".join(words[-2:])
    return (
        [one],
        f"""\
name: sglang
envs:
  REVISION: main
resources:
  image_id: docker:{image(server)}
  accelerators: H100:8
  ports: [30000]
setup: |
  pip install extra
run: |
  set -x
{indent(body, 2)}
""",
    )


def workflow(server: Server) -> tuple[list[Spelled], str]:
    one = spelled(server, extra=("--random-seed", "${{ matrix.seed }}"))
    one = one._replace(unknown=(len(one.words) - 1,))
    words = one.marks(as_shell)
    words[-1] = mark("${{ matrix.seed }}", 0, len(words) - 1)
    body = lines(words[:-2], server.pairs) + " \\\n  " + " ".join(words[-2:])
    return (
        [one],
        f"""\
on: [push]
jobs:
  serve:
    runs-on: gpu
    strategy:
      matrix: {{seed: [1, 2]}}
    steps:
      - uses: actions/checkout@v4
      - name: Start
        run: |
{indent(body, 10)} &
          sleep 60
""",
    )


SHAPES: dict[str, Shape] = {
    "deployment": Shape(
        "k8s/{}-deployment.yaml", deployment, "container", True, "h100", 8, True, "server"
    ),
    "statefulset": Shape(
        "k8s/{}-statefulset.yaml", statefulset, "shell", True, "h100", 8, False, "worker"
    ),
    "lws": Shape("k8s/{}-lws.yaml", leader_worker_set, "container", True, None, 8),
    "runtime": Shape(
        "ome/{}-rt.yaml", serving_runtime, "container", True, None, 8, False, "ome-container"
    ),
    "inferenceservice": Shape(
        "kserve/{}.yaml", inference_service, "container", True, "h100", 8, False, "kserve-container"
    ),
    "dynamo": Shape("dynamo/{}-disagg.yaml", dynamo_graph, "container", True, None, 8),
    "rbg": Shape(
        "rbg/{}-agg.yaml", role_based_group, "container", True, "h100", 8, True, "backend"
    ),
    "job": Shape("k8s/{}-job.yml", job, "shell", True, None, 8, False, "smoke"),
    "values": Shape("helm/{}-values.yaml", helm_values, "container", True, "h100", 8),
    "template": Shape("helm/templates/{}-deployment.yaml", helm_template, "container"),
    "configmap": Shape("k8s/{}-config.yaml", config_map, "options"),
    "options": Shape("config/{}.yaml", options_file, "options"),
    "recipe": Shape("recipes/{}-agg.yaml", recipe, "options", True, "h100", 8, True, "aggregated"),
    "compose": Shape("compose/{}/compose.yaml", compose, "compose", True, None, 8, True),
    "composedefaults": Shape(
        "compose/{}-defaults/docker-compose.yml", compose_defaults, "compose", True, None, 8
    ),
    "script": Shape("scripts/{}.sh", launch_script, "shell", env=True),
    "arrays": Shape("scripts/{}-arrays.sh", arrays, "shell"),
    "variables": Shape("scripts/{}-variables.sh", variables, "shell"),
    "batch": Shape("slurm/{}.sbatch", batch, "shell"),
    "docker": Shape("scripts/{}-docker.sh", docker_run, "shell"),
    "wrapped": Shape("scripts/{}-two.sh", wrapped, "shell", env=True),
    "heredoc": Shape("scripts/{}-heredoc.sh", here_document, "shell"),
    "dockerfile": Shape("images/{}/Dockerfile", dockerfile_exec, "dockerfile", True, env=True),
    "dockerfileshell": Shape("images/Dockerfile.{}", dockerfile_shell, "dockerfile", True),
    "markdown": Shape("docs/{}.md", markdown, "shell"),
    "mdx": Shape("docs/{}.mdx", markdown_manifest, "container", True, name="sglang"),
    "pythonlist": Shape("python/{}_list.py", python_list, "python"),
    "pythontext": Shape("python/{}_text.py", python_text, "python"),
    "notebook": Shape("python/{}.ipynb", notebook, "shell"),
    "json": Shape("config/{}.json", argv_json, "container", True),
    "sky": Shape("sky/{}.yaml", sky_task, "shell", True, "h100", 8),
    "workflow": Shape("ci/{}.yml", workflow, "shell"),
}
