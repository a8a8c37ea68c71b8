"""Kernels from notebook cells: typed Python, compiled, callable with any array."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from kit.accounting import TransferCount, assert_no_transfers, count_transfers
    from kit.arrayview import ArrayView
    from kit.backends.devices import synchronize
    from kit.copying.pool import release_buffers
    from kit.decorate import KernelNamespace, pyccel_kernel
    from kit.decorate_cuda import cuda_kernel
    from kit.errors import (
        ArgumentRefused,
        BuildError,
        CacheError,
        CellError,
        CopyWarning,
        KitError,
        KitWarning,
        LaunchError,
        StaleDependencyWarning,
        StaleKernelError,
    )
    from kit.kernel import PyccelKernel
    from kit.layout import LayoutFacts, inspect_layout
    from kit.plan import ArgumentPlan, CallPlan
    from kit.signature import Parameter, Signature
    from kit.targets import use_target
    from kit.trace import BuildRecord

__all__ = [
    "ArgumentPlan",
    "ArgumentRefused",
    "ArrayView",
    "BuildError",
    "BuildRecord",
    "CacheError",
    "CallPlan",
    "CellError",
    "CopyWarning",
    "KernelNamespace",
    "KitError",
    "KitWarning",
    "LaunchError",
    "LayoutFacts",
    "Parameter",
    "PyccelKernel",
    "Signature",
    "StaleDependencyWarning",
    "StaleKernelError",
    "TransferCount",
    "assert_no_transfers",
    "count_transfers",
    "cuda_kernel",
    "inspect_layout",
    "pyccel_kernel",
    "release_buffers",
    "synchronize",
    "use_target",
]

__version__ = "0.1.0"

# Where each public name lives. A name is imported when it is first used, so that `import kit`
# costs a millisecond in a script that may never build anything (docs/decisions/0011).
_HOMES = {
    "kit.accounting": ("TransferCount", "assert_no_transfers", "count_transfers"),
    "kit.arrayview": ("ArrayView",),
    "kit.backends.devices": ("synchronize",),
    "kit.copying.pool": ("release_buffers",),
    "kit.decorate": ("KernelNamespace", "pyccel_kernel"),
    "kit.decorate_cuda": ("cuda_kernel",),
    "kit.errors": (
        "ArgumentRefused",
        "BuildError",
        "CacheError",
        "CellError",
        "CopyWarning",
        "KitError",
        "KitWarning",
        "LaunchError",
        "StaleDependencyWarning",
        "StaleKernelError",
    ),
    "kit.kernel": ("PyccelKernel",),
    "kit.layout": ("LayoutFacts", "inspect_layout"),
    "kit.plan": ("ArgumentPlan", "CallPlan"),
    "kit.signature": ("Parameter", "Signature"),
    "kit.targets": ("use_target",),
    "kit.trace": ("BuildRecord",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "testing":  # a package of its own, which is imported when it is first used
        return import_module("kit.testing")
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module 'kit' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Answer ``%load_ext kit``."""
    from kit.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Answer ``%unload_ext kit``."""
    from kit.extension import unload_ipython_extension as unload

    unload(shell)
