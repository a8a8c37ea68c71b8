"""Both classes of views: on the base type in C, and on its twin in Python."""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from typing import Any
from unittest import mock

import pytest

__all__ = ["VIEW_TYPES", "compiled_views", "python_views"]


@cache
def compiled_views() -> Any:
    """`kit.ArrayView` as it is, which must be the compiled one."""
    from kit.arrayview import ArrayView
    from kit.views.base import IS_COMPILED

    assert IS_COMPILED, "no compiled base type, and no way to make one"
    return ArrayView


@cache
def python_views() -> Any:
    """The same class on the twin: its modules once more, under KIT_ARRAYVIEW=python."""
    compiled_views()  # what both need is then imported once
    own = [name for name in sys.modules if name.startswith(("kit.views", "kit.arrayview"))]
    with (
        mock.patch.dict(sys.modules),
        mock.patch.dict(os.environ, {"KIT_ARRAYVIEW": "python"}),
    ):
        for name in own:
            del sys.modules[name]
        module = importlib.import_module("kit.arrayview")
        assert not importlib.import_module("kit.views.base").IS_COMPILED
    kit: Any = sys.modules["kit"]
    for name in ("views", "arrayview"):  # importing has set them to the second copies
        setattr(kit, name, sys.modules[f"kit.{name}"])
    return module.ArrayView


VIEW_TYPES = [pytest.param(compiled_views, id="compiled"), pytest.param(python_views, id="python")]
