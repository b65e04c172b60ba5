"""A release is opened from a wheel, a directory or a checkout; nothing else is taken for one."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.upstream.source import SourceTree

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "sglang/__init__.py": "",
    "sglang/_version.py": "__version__ = version = '9.8.7'\n",
    "sglang/srt/server_args.py": "X = 1\n",
    "sglang/srt/arg_groups/__init__.py": "",
    "sglang/srt/arg_groups/a.py": "A = 2\n",
    "sglang/srt/latin.py": "# \xe9\n",
    "sglang/srt/broken.py": "def (:\n",
}
METADATA = "Metadata-Version: 2.1\nName: sglang\nVersion: 9.8.7.post1\n\nVersion: no\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")
    return root


def wheel(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_an_unpacked_site(tmp_path: Path) -> None:
    site = write(tmp_path, {**FILES, "sglang-9.8.7.post1.dist-info/METADATA": METADATA})
    tree = SourceTree.open(site)
    assert tree.release == "9.8.7.post1"
    assert tree.exists("sglang/srt/server_args.py")
    assert tree.read("sglang/srt/server_args.py") == "X = 1\n"
    assert tree.parse("sglang/srt/arg_groups/a.py") is tree.parse("sglang/srt/arg_groups/a.py")
    assert tree.glob("sglang/srt/arg_groups/*.py") == [
        "sglang/srt/arg_groups/__init__.py",
        "sglang/srt/arg_groups/a.py",
    ]


def test_a_wheel(tmp_path: Path) -> None:
    files = {**FILES, "sglang-9.8.7.post1.dist-info/METADATA": METADATA}
    tree = SourceTree.open(wheel(tmp_path / "sglang-9.8.7-py3-none-any.whl", files))
    assert tree.release == "9.8.7.post1"
    assert tree.read("sglang/srt/arg_groups/a.py") == "A = 2\n"


def test_a_checkout_tells_its_release_by_its_version_file(tmp_path: Path) -> None:
    tree = SourceTree.open(write(tmp_path, {f"python/{k}": v for k, v in FILES.items()}))
    assert tree.release == "9.8.7"
    assert tree.module_path("sglang.srt.arg_groups") == "sglang/srt/arg_groups/__init__.py"
    assert tree.module_path("sglang.srt.arg_groups.a") == "sglang/srt/arg_groups/a.py"
    assert tree.module_path("torch") is None


def test_a_release_that_is_not_stated_may_be_named(tmp_path: Path) -> None:
    bare = {k: v for k, v in FILES.items() if "version" not in k}
    site = write(tmp_path, bare)
    with pytest.raises(KvsolveError, match="tells which SGLang release"):
        SourceTree.open(site)
    assert SourceTree.open(site, release="1.2.3").release == "1.2.3"


def test_what_is_no_release_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(KvsolveError, match="does not exist"):
        SourceTree.open(tmp_path / "none.whl")
    with pytest.raises(KvsolveError, match="holds no sglang directory"):
        SourceTree.open(tmp_path)
    (tmp_path / "text.whl").write_text("no zip", encoding="utf-8")
    with pytest.raises(KvsolveError, match="no wheel"):
        SourceTree.open(tmp_path / "text.whl")
    with pytest.raises(KvsolveError, match=r"has no sglang/srt/server_args\.py"):
        SourceTree.open(wheel(tmp_path / "other.whl", {"vllm/__init__.py": ""}))
    write(tmp_path / "half", {"sglang/__init__.py": ""})
    with pytest.raises(KvsolveError, match="no SGLang release"):
        SourceTree.open(tmp_path / "half")


def test_bad_files_give_one_sentence(tmp_path: Path) -> None:
    tree = SourceTree.open(write(tmp_path, FILES))
    with pytest.raises(KvsolveError, match=r"has no sglang/none\.py"):
        tree.read("sglang/none.py")
    with pytest.raises(KvsolveError, match=r"latin\.py .* cannot be read"):
        tree.read("sglang/srt/latin.py")
    with pytest.raises(KvsolveError, match=r"broken\.py .* is not Python"):
        tree.parse("sglang/srt/broken.py")
