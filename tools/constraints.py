"""Write into constraints.txt what pip chooses today for every extra: names and versions only.

Nothing is installed: pip only resolves, in a fresh environment. What it chooses must also install
on the first release of the oldest Python (Debian 12 has 3.11.2), so a version that asks for more
is excluded, and pip asked again. Run it with that Python, then run lint and tests:

    PYTHON=python3.11 make constraints && make lint test
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Write the file; 0 where pip found a set that fits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    extras = ",".join(project["optional-dependencies"])
    if not sys.version.startswith(oldest[:-1]):
        print(f"kit: resolving with {sys.version.split()[0]}; better with Python {oldest[:-2]}")

    excluded: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(Path(scratch) / "venv", with_pip=True)
        while True:
            chosen = resolve(Path(scratch), f"{ROOT}[{extras}]", excluded)
            too_new = [one for one in chosen if not installs_on(oldest, one)]
            if not too_new:
                break
            for one in too_new:
                asks = one["requires_python"]
                print(f"kit: {one['name']} {one['version']} needs Python {asks}: an older one then")
                excluded[one["name"]] = one["version"]

    lines = {f"{canonical(one['name'])}=={one['version']}" for one in chosen}
    ours = {line for line in lines if line.startswith(f"{project['name']}==")}
    text = "\n".join(sorted(lines - ours)) + "\n"
    (ROOT / "constraints.txt").write_text(text, encoding="utf-8")
    print(f"kit: constraints.txt has {len(lines - ours)} packages; now run make lint test")
    return 0


def resolve(scratch: Path, wanted: str, excluded: dict[str, str]) -> list[dict[str, Any]]:
    """Metadata of every package that pip would install."""
    limits, report = scratch / "limits.txt", scratch / "report.json"
    limits.write_text("".join(f"{name}<{version}\n" for name, version in excluded.items()))
    pip = [str(scratch / "venv" / "bin" / "python"), "-m", "pip", "-qq", "--no-input"]
    options = ["--dry-run", "--ignore-installed", "--report", str(report), "-c", str(limits)]
    subprocess.run([*pip, "install", *options, wanted], check=True)
    return [item["metadata"] for item in json.loads(report.read_text())["install"]]


def installs_on(python: str, metadata: dict[str, Any]) -> bool:
    """Whether a package's Requires-Python admits that version.

    >>> installs_on("3.11.0", {"requires_python": ">=3.8"})
    True
    >>> installs_on("3.11.0", {"requires_python": ">=3.11.5"})
    False
    """
    from pip._vendor.packaging.specifiers import SpecifierSet

    return SpecifierSet(metadata.get("requires_python", "")).contains(python)


def canonical(name: str) -> str:
    """A distribution's name in the spelling that indexes compare.

    >>> canonical("Jinja_2.x")
    'jinja-2-x'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
