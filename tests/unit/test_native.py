"""Where kit's own C extensions come from: the package, the store, or nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kit
from kit import native
from kit.cache import Built, Store, unique_module_name
from kit.errors import BuildError

CELL = "def total(x: 'float64[:]'):\n    s = 0.0\n    for v in x:\n        s += v\n    return s\n"


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, and no extension in the package."""
    monkeypatch.setenv("KIT_CACHE_DIR", str(tmp_path / "store"))
    monkeypatch.setattr(native, "_packaged", lambda name: None)  # pyright: ignore[reportUnknownLambdaType]
    return tmp_path / "store"


@pytest.fixture(params=["guard", "arrayview", "packer"])
def name(request: pytest.FixtureRequest) -> Any:
    return request.param


def artifacts(store: Path) -> list[Path]:
    return sorted(store.rglob("*.so"))


def test_an_extension_is_built_once_into_the_store(
    name: Any, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = native.find_native(name)
    assert module is not None
    assert hasattr(module, {"guard": "Guard", "arrayview": "View", "packer": "Packer"}[name])
    built = artifacts(own_store)
    assert len(built) == 1
    assert built[0].is_relative_to(own_store / name)

    def no_build(*args: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(native, "_build", no_build)
    assert native.find_native(name) is not None
    assert artifacts(own_store) == built
    # It is no kernel: lists of kernels do not show it.
    assert not list((own_store / "v1").rglob("*.json"))


def test_a_stored_extension_that_does_not_load_is_built_again(name: Any, own_store: Path) -> None:
    """As published, and made for another C library, say."""
    key = native._key(name)

    def build(scratch: Path) -> Built:
        artifact = scratch / "odd.so"
        artifact.write_bytes(b"no library")
        return Built(artifact=artifact, module_name=unique_module_name(key), meta={})

    Store(own_store / name).build_once(key, build, label="odd")
    (odd,) = artifacts(own_store)
    assert native.find_native(name) is not None
    assert artifacts(own_store) != [odd]


def test_no_compiler_no_headers_or_nowhere_to_write_gives_none(
    name: Any, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(native, "find_compilers", _missing)
        assert native.find_native(name) is None
    with monkeypatch.context() as patch:
        patch.setattr(native, "_include", lambda: "/nowhere")
        assert native.find_native(name) is None
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)  # pyright: ignore[reportUnknownLambdaType]
        assert native.find_native(name) is None
    assert not own_store.exists()


def _missing(language: str) -> dict[str, str]:
    raise BuildError("no compiler")


def test_source_that_does_not_compile_gives_none(
    name: Any, own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{name}.c").write_text("int main(void) { return }")
    monkeypatch.setattr(native, "_FOLDER", tmp_path)
    assert native.find_native(name) is None
    assert not artifacts(own_store)


def test_library_of_another_text_is_not_used(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other: Any = ModuleType(f"kit._{name}")
    other.SOURCE = "of another text"
    monkeypatch.setattr(native, "import_module", lambda name: other)  # pyright: ignore[reportUnknownLambdaType]
    monkeypatch.setattr(native, "_stored", lambda name: None)  # pyright: ignore[reportUnknownLambdaType]
    assert native.find_native(name) is None
    other.SOURCE = native.hashlib.sha256(native._source(name).read_bytes()).hexdigest()
    assert native.find_native(name) is other


def child(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_variable_asks_for_the_python_guard() -> None:
    code = (
        "import kit, numpy as np\n"
        f"k = kit.pyccel_kernel({CELL!r})\n"
        "print(k(np.arange(4.0)), k(np.arange(8.0)[::-2]), k.guard)"
    )
    quiet = {"PYTHONWARNINGS": "ignore"}
    assert child(code, KIT_GUARD="python", **quiet) == "6.0 16.0 python"
    assert child(code, **quiet) == "6.0 16.0 compiled"


def test_a_copy_warning_names_the_line_of_the_caller_with_either_guard() -> None:
    code = (
        "import kit, numpy as np, warnings, sys\n"
        f"k = kit.pyccel_kernel({CELL!r})\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    k(np.arange(8.0)[::-2])\n"
        "print(k.guard, said[0].lineno, said[0].filename)\n"
    )
    assert child(code, KIT_GUARD="python") == "python 5 <string>"
    assert child(code) == "compiled 5 <string>"


def test_kernels_say_which_guard_they_have() -> None:
    assert kit.pyccel_kernel(CELL).guard in ("compiled", "python")
