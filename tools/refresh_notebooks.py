"""Run the tutorials again and keep their outputs, such that two runs differ in nothing.

python tools/refresh_notebooks.py [NAME ...]      all of them, or those whose name has NAME in it
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from notebooks import ROOT, CellExecutionError, execute

TUTORIALS = ROOT / "tutorials"


def main(names: Sequence[str]) -> int:
    """Refresh the named tutorials; leaves one that fails as it was."""
    os.environ["KIT_STABLE_OUTPUT"] = "1"
    failed = 0
    for path in sorted(TUTORIALS.glob("*.ipynb")):
        if names and not any(name in path.name for name in names):
            continue
        # A store of its own: what a reader sees first is a build, not a hit.
        with tempfile.TemporaryDirectory() as store:
            os.environ["KIT_CACHE_DIR"] = store
            try:
                notebook, _ = execute(path)
            except CellExecutionError as error:
                print(
                    f"{path.name}: left as it was, because a cell failed:\n{error}", file=sys.stderr
                )
                failed += 1
                continue
        clean(notebook)
        nbformat.write(notebook, path)
        print(f"{path.name}: refreshed")
    return 1 if failed else 0


def clean(notebook: Any) -> None:
    """Take out of a notebook what differs between machines and runs."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        for key in ("execution", "collapsed", "ExecuteTime"):
            cell.metadata.pop(key, None)
        for output in cell.get("outputs", ()):
            _clean_output(output)


def _clean_output(output: Any) -> None:
    if "traceback" in output:
        output.traceback = [without_machine_paths(line) for line in output.traceback]
    if "text" in output:
        output.text = without_machine_paths(output.text)
    for kind, value in output.get("data", {}).items():
        if isinstance(value, str) and kind.startswith("text/"):
            output.data[kind] = without_machine_paths(value)


def without_machine_paths(text: str) -> str:
    """Text with the checkout's, Python's and the user's folders shortened."""
    home = str(Path.home())
    for folder, shown in (
        (str(ROOT) + os.sep, ""),
        (sysconfig.get_path("purelib"), "site-packages"),
        (sysconfig.get_path("stdlib"), "python"),
        (sys.prefix, "python"),
        (home, "~"),
    ):
        # IPython's tracebacks have already put ~ for the home folder.
        text = text.replace(folder, shown).replace(folder.replace(home, "~", 1), shown)
    return re.sub(r"0x[0-9a-f]{6,}", "0xADDR", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
