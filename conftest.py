"""What every test session has: a store of its own, an empty working directory, a shuffled order.

It lies at the root because the doctests in ``kit/`` and the tutorials need it too.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# nbval imports nbformat, which checks IRIs where it finds rfc3987_syntax, whose import compiles a
# grammar for 0.9 s (1.1.0). No notebook holds an IRI: without it, the first test starts sooner.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: not importable

pytest_plugins = ["nbval.plugin"]

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")

# ---- the session's environment --------------------------------------------------------------

_scratch = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--order-seed",
        type=int,
        default=None,
        help="seed of the order in which files and tests run (default: a new one, printed)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set the environment before anything is collected, for doctests and notebook processes too."""
    scratch = tempfile.TemporaryDirectory(prefix="kit-tests-")
    config.stash[_scratch] = scratch
    root = Path(scratch.name)
    for name in ("cache", "cwd", "hypothesis", "ipython", "jupyter"):
        (root / name).mkdir()
    os.environ["KIT_CACHE_DIR"] = str(root / "cache")
    os.environ["KIT_STABLE_OUTPUT"] = "1"
    os.environ["KIT_PREWARM"] = "0"
    os.environ.pop("KIT_TARGET", None)
    # Off, a debugger that IPython's kernel loads would warn about frozen modules on every start.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    # Notebook processes of this environment, without the settings and the history of who tests.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    os.environ["JUPYTER_CONFIG_DIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = str(root / "jupyter")
    os.environ["IPYTHONDIR"] = str(root / "ipython")
    _configure_hypothesis(root / "hypothesis")
    if config.option.order_seed is None:
        chosen = random.SystemRandom().randrange(10**6)
        config.option.order_seed = getattr(config, "workerinput", {}).get("order_seed", chosen)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give the workers of pytest-xdist one seed: they must agree on the order."""
    node.workerinput["order_seed"] = node.config.option.order_seed


def pytest_unconfigure(config: pytest.Config) -> None:
    scratch = config.stash.get(_scratch, None)
    if scratch is not None:
        scratch.cleanup()


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.option.order_seed
    return f"order seed: {seed} (the same order again: --order-seed={seed})"


def _configure_hypothesis(storage: Path) -> None:
    from hypothesis import settings
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(storage)
    # The same examples on every run, so that CI fails only for what changed; `make properties`
    # roams.
    settings.register_profile("kit", deadline=None, database=None, derandomize=True)
    count = os.environ.get("KIT_FUZZ_COUNT")
    if count is not None:
        settings.register_profile("fuzz", deadline=None, database=None, max_examples=int(count))
    settings.load_profile("kit" if count is None else "fuzz")


# ---- the tutorials, and nothing that somebody made beside them -------------------------------


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """JupyterLab opens in tutorials/, and new notebooks come to lie there."""
    is_own = collection_path.suffix == ".ipynb" and not re.match(r"\d\d_", collection_path.name)
    return True if is_own else None


# ---- any order ------------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle files, and tests within files; the cells of a notebook keep their order."""
    rng = random.Random(config.option.order_seed)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    paths = sorted(files)
    rng.shuffle(paths)
    for path in paths:
        if path.suffix != ".ipynb":
            rng.shuffle(files[path])
    items[:] = [item for path in paths for item in files[path]]
    _skip_what_this_machine_lacks(items)


# ---- what the machine has -------------------------------------------------------------------


def gpu_missing() -> str | None:
    """Why GPU tests cannot run here, or None."""
    if not any(Path(node).exists() for node in ("/dev/nvidiactl", "/dev/dxg")):
        return "no NVIDIA GPU on this machine"
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed (pip install '.[cuda]')"
    runtime = importlib.import_module("cupy").cuda.runtime
    try:
        found = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        return f"no usable GPU: {error}"
    return None if found else "CuPy finds no GPU"


def chromium() -> str | None:
    """The path of Debian's (or another) Chromium, or None."""
    chosen = os.environ.get("KIT_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def browser_missing() -> str | None:
    """Why browser tests cannot run here, or None."""
    for module in ("playwright", "jupyterlab"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed (pip install '.[test,lab]')"
    return None if chromium() else "no Chromium (apt-get install chromium)"


def _skip_what_this_machine_lacks(items: list[pytest.Item]) -> None:
    for marker, missing in (("gpu", gpu_missing), ("browser", browser_missing)):
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = missing() if marked else None
        if reason is not None:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


# ---- fixtures -------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _nothing_left_in_the_working_directory(
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """Run every test in an empty directory and fail the one that leaves something there."""
    if request.node.path.suffix == ".ipynb":
        yield
        return
    directory = Path(request.config.stash[_scratch].name) / "cwd"
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(request.config.rootpath)
        left = sorted(path.name for path in directory.iterdir())
        if left:
            shutil.rmtree(directory)
            directory.mkdir()
    if left:
        pytest.fail(f"left in the working directory: {', '.join(left)}")
