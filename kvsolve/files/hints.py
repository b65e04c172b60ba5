"""What the surroundings of a command say about its GPUs and its image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.files.unknown import has_unknown
from kvsolve.files.yaml_nodes import MAPPING, SCALAR, SEQUENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.files.yaml_nodes import Node

__all__ = ["gpu_hint", "gpu_of_label", "gpus_hint", "image_hint"]

_PRODUCTS = tuple(
    (name, re.compile(rf"(?<![a-z0-9]){pattern}(?![a-z0-9])"))
    for name, pattern in (
        ("gb300", r"gb300"),
        ("gb200", r"gb200"),
        ("gb10", r"gb10|dgx-spark"),
        ("thor", r"thor"),
        ("b300", r"b300"),
        ("b200", r"b200"),
        ("h200", r"h200"),
        ("h100", r"h100"),
        ("h20", r"h20"),
        ("a100", r"a100(?!.*40gb)"),
        ("l40s", r"l40s"),
        ("l4", r"l4"),
        ("t4", r"t4"),
        ("rtxpro6000", r"rtx[ _-]?pro[ _-]?6000"),
        ("rtx5090", r"(?:rtx[ _-]?)?5090"),
        ("rtx4090", r"(?:rtx[ _-]?)?4090"),
        ("mi355x", r"mi355x"),
        ("mi325x", r"mi325x"),
        ("mi300x", r"mi300x"),
    )
)
_MACHINES = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("b200", r"p6-b200\.|a4-highgpu-"),
        ("gb200", r"p6e-gb200\.|a4x-highgpu-"),
        ("h200", r"p5en?\.|a3-ultragpu-"),
        ("h100", r"p5\.|a3-(?:high|mega|edge)gpu-"),
        ("a100", r"p4de\.|a2-ultragpu-"),
        ("l40s", r"g6e\."),
        ("l4", r"g6\.|g2-standard-"),
        ("t4", r"g4dn\."),
    )
)
_LABELS = (
    "gpu.product", "gpu-product", "gke-accelerator", "instance-gpu-name", "gpu-name", "gpu_type",
    "gpu-type", "accelerator", "gpu.nvidia.com/class", "gpu.nvidia.com/model", "device-id",
    "product-name", "instance-type", "gpu_vendor_model", "nodepool",
)  # fmt: skip
_LIMITS = ("nvidia.com/gpu", "amd.com/gpu", "gpu", "gpu.intel.com/i915", "huawei.com/Ascend910")
_COUNTS = re.compile(r"\d{1,3}")


def gpu_of_label(text: str) -> str | None:
    """The GPU profile that a product's or a machine's name means.

    >>> gpu_of_label("NVIDIA-H100-80GB-HBM3"), gpu_of_label("p5.48xlarge"), gpu_of_label("gold")
    ('h100', 'h100', None)
    """
    low = text.lower()
    for name, pattern in (*_PRODUCTS, *_MACHINES):
        if pattern.search(low):
            return name
    return None


def gpu_hint(around: Sequence[Node]) -> str | None:
    """The GPU that the mappings around a command ask for, the nearest first."""
    for node in around:
        for label, value in _labels(node):
            if any(name in label.lower() for name in _LABELS):
                found = gpu_of_label(value)
                if found:
                    return found
    return None


def _labels(node: Node) -> Iterator[tuple[str, str]]:
    """Labels that a mapping asks its machine to have."""
    for name in ("nodeSelector", "node_selector", "nodeSelectors"):
        selector = node.get(name)
        if selector is not None and selector.kind == MAPPING:
            yield from ((key, value.value) for key, value in selector.entries())
    yield from _affinity(node.get("affinity"))
    resources = node.get("resources")
    if resources is not None and resources.kind == MAPPING:
        for key in ("gpu_type", "accelerators"):
            value = resources.get(key)
            if value is not None and value.kind == SCALAR:
                yield "accelerator", value.value
            elif value is not None and value.kind == MAPPING:
                yield from (("accelerator", name) for name, _ in value.entries())


def _affinity(node: Node | None) -> Iterator[tuple[str, str]]:
    """Terms of a node affinity that leave one value only."""
    waiting = [node] if node is not None else []
    steps = 0
    while waiting and steps < 200:
        steps += 1
        here = waiting.pop()
        if here.kind == SEQUENCE:
            waiting += here.items
        elif here.kind == MAPPING:
            key, values = here.text("key"), here.get("values")
            if key and values is not None and here.text("operator") == "In":
                if len(values.items) == 1:
                    yield key, values.items[0].value
            else:
                waiting += [value for _, value in here.pairs]


def gpus_hint(around: Sequence[Node]) -> int | None:
    """How many GPUs the mappings around a command give it, the nearest first."""
    for node in around:
        for found in _counts(node):
            if _COUNTS.fullmatch(found) and int(found) > 0:
                return int(found)
    return None


def _counts(node: Node) -> Iterator[str]:
    resources = node.get("resources")
    if resources is not None and resources.kind == MAPPING:
        for part in ("limits", "requests"):
            for name in _LIMITS:
                yield resources.text(part, name) or ""
        accelerators = resources.text("accelerators")
        if accelerators and ":" in accelerators:
            yield accelerators.rpartition(":")[2]
        yield resources.text("gpus_per_node") or ""
    deploy = node.get("deploy")
    if deploy is not None and deploy.kind == MAPPING:
        yield from _reserved(deploy)


def _reserved(deploy: Node) -> Iterator[str]:
    """Devices of a compose service."""
    node: Node | None = deploy
    for name in ("resources", "reservations", "devices"):
        node = node.get(name) if node is not None and node.kind == MAPPING else None
    for device in node.items if node is not None else ():
        if device.kind == MAPPING:
            ids = device.get("device_ids")
            yield str(len(ids.items)) if ids is not None else device.text("count") or ""


def image_hint(around: Sequence[Node]) -> str | None:
    """The image of the nearest mapping that names one, None where a part of it is not known."""
    for node in around:
        image = node.get("image", "image_id")
        resources = node.get("resources")
        if image is None and resources is not None and resources.kind == MAPPING:
            image = resources.get("image_id")
        if image is None:
            continue
        if image.kind == MAPPING:
            repository, tag = image.text("repository") or image.text("name"), image.text("tag")
            text = f"{repository}:{tag}" if repository and tag else ""
        else:
            text = image.value.removeprefix("docker:")
        return text if text and not has_unknown(text) else None
    return None
