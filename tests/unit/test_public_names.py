"""What `kit` exports: sorted, all there, typed as what they are, and nothing heavy on import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kit


def test_public_names_are_sorted_and_each_has_a_home() -> None:
    assert kit.__all__ == sorted(kit.__all__)
    assert sorted(kit._HOME) == kit.__all__


@pytest.mark.parametrize("name", kit.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(kit, name)
    assert value.__module__.startswith("kit.")
    assert value.__doc__
    assert name in dir(kit)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pycel_kernel'"):
        kit.pycel_kernel  # type: ignore[attr-defined]  # noqa: B018


def test_importing_kit_and_all_its_names_imports_no_toolchain_and_no_notebook_library() -> None:
    code = (
        "import kit, sys\n"
        "for name in kit.__all__: getattr(kit, name)\n"
        "print({'pyccel', 'cupy', 'IPython', 'ipywidgets', 'anywidget', 'platformdirs'}"
        " & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
