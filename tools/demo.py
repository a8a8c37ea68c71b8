"""Run the first tutorial, keep it as a page in build/demo/, and say what came out of it."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from notebooks import ROOT, CellExecutionError, execute, first_line

TUTORIAL = ROOT / "tutorials" / "01_first_kernel.ipynb"
PAGE = ROOT / "build" / "demo" / "01_first_kernel.html"

# Runs in the notebook process after the last cell. The tutorial times NumPy and its kernel into
# `seconds`; kernels are whatever the notebook's names hold.
SUMMARY = """
def _summary():
    import json
    from kit import PyccelKernel

    kernels = []
    for name, value in sorted(globals().items()):
        if not isinstance(value, PyccelKernel) or value.__name__ != name:
            continue
        build = value.build
        kernels.append({
            "name": name,
            "signature": name + str(value.__signature__),
            "outputs": list(value.outputs),
            "language": build.language,
            "compiler": build.compiler,
            "hit": build.hit,
            "seconds": build.seconds.get("total", 0.0),
            "kilobytes": build.artifact_bytes / 1024,
        })
    print(json.dumps({"kernels": kernels, "seconds": globals().get("seconds", {})}))

_summary()
"""


def main() -> int:
    """Run the tutorial with its progress on the screen; 0 where every cell did what it should."""
    # The tutorial is kept with stable outputs; who runs the demo wants to see times.
    os.environ.pop("KIT_STABLE_OUTPUT", None)
    print(f"running {_shown(TUTORIAL)}")
    start = time.perf_counter()
    try:
        notebook, summary = execute(TUTORIAL, on_cell=_say, before_exit=SUMMARY)
    except CellExecutionError as error:
        print(f"\nA cell of {_shown(TUTORIAL)} failed:\n\n{error}", file=sys.stderr)
        return 1
    _write_page(notebook)
    print(f"ran in {time.perf_counter() - start:.1f} s\n")
    facts = json.loads(summary)
    print("\n".join([*_kernel_lines(facts["kernels"]), *_speed_lines(facts["seconds"])]))
    print("\nlook at it:     ", _shown(PAGE))
    print("change it:       make lab")
    return 0


def _say(index: int, cell: Any, seconds: float) -> None:
    line = textwrap.shorten(first_line(cell.source), 64, placeholder=" ...")
    print(f"  [{cell.execution_count:2d}] {seconds:6.2f} s  {line}", flush=True)


def _write_page(notebook: Any) -> None:
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter(embed_images=True).from_notebook_node(notebook)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(html, encoding="utf-8")


def _kernel_lines(kernels: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["kernels:"]
    for one in kernels:
        origin = "found in the store" if one["hit"] else f"built in {one['seconds']:.1f} s"
        writes = ", ".join(one["outputs"]) or "nothing"
        lines.append(f"  {one['name']:<12} {one['language']}, {one['compiler']}, {origin}")
        lines.append(f"  {'':<12} writes {writes}; {one['kilobytes']:.0f} KiB of machine code")
    return lines


def _speed_lines(seconds: Mapping[str, float]) -> list[str]:
    if not seconds:
        return []
    slowest = max(seconds.values())
    lines = ["speed on the tutorial's own data:"]
    for name, value in seconds.items():
        lines.append(f"  {name:<12} {value * 1e3:8.3f} ms   {slowest / value:5.1f} x")
    return lines


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


if __name__ == "__main__":
    sys.exit(main())
