"""The package versions that releases pin, from the metadata of their wheels.

``python -m kvsolve.upstream.package_versions TARGET DIRECTORY...`` writes one table; each directory
holds an unpacked release.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

__all__ = ["pinned_versions", "release_of"]

REQUIREMENT = re.compile(r"^Requires-Dist: ([A-Za-z0-9_.\-]+)(?:\[[^\]]*\])?\s*==\s*([^;\s]+)(.*)$")


def metadata(directory: Path) -> str:
    """The metadata text of the release unpacked in a directory.

    Raises:
        LookupError: There is none.
    """
    for path in sorted(directory.glob("sglang-*.dist-info/METADATA")):
        return path.read_text(encoding="utf-8")
    raise LookupError(f"no release is unpacked in {directory}")


def release_of(text: str) -> str:
    """The release that a metadata text is of."""
    found = re.search(r"^Version: (\S+)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def pinned_versions(text: str) -> dict[str, str]:
    """Import-like name -> version, for requirements without a condition or an extra."""
    found = {}
    for line in text.splitlines():
        match = REQUIREMENT.match(line)
        if match and "extra ==" not in match.group(3):
            found[match.group(1).lower().replace("-", "_")] = match.group(2)
    return dict(sorted(found.items()))


def main(target: str, *directories: str) -> None:
    """Write the table."""
    texts = [metadata(Path(d)) for d in directories]
    table = {release_of(text): pinned_versions(text) for text in texts}
    Path(target).write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
