"""Kernels from notebook cells: typed Python, compiled, callable with any array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit.decorate import KernelNamespace, pyccel_kernel
from kit.errors import (
    ArgumentRefused,
    BuildError,
    CacheError,
    CellError,
    CopyWarning,
    KitError,
    KitWarning,
    StaleDependencyWarning,
    StaleKernelError,
)
from kit.kernel import PyccelKernel
from kit.layout import LayoutFacts, inspect_layout
from kit.plan import ArgumentPlan, CallPlan
from kit.signature import Parameter, Signature
from kit.targets import use_target
from kit.trace import BuildRecord

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = [
    "ArgumentPlan",
    "ArgumentRefused",
    "BuildError",
    "BuildRecord",
    "CacheError",
    "CallPlan",
    "CellError",
    "CopyWarning",
    "KernelNamespace",
    "KitError",
    "KitWarning",
    "LayoutFacts",
    "Parameter",
    "PyccelKernel",
    "Signature",
    "StaleDependencyWarning",
    "StaleKernelError",
    "inspect_layout",
    "pyccel_kernel",
    "use_target",
]

__version__ = "0.1.0"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Answer ``%load_ext kit``."""
    from kit.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Answer ``%unload_ext kit``."""
    from kit.extension import unload_ipython_extension as unload

    unload(shell)
