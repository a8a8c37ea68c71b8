"""``%load_ext kit``: registers the magics and their completion, and warms the compile workers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from kit.magics.completion import make_matcher
from kit.magics.cuda_request import CUDA_KERNEL
from kit.magics.pyccel import PyccelKernelMagic
from kit.magics.rendering import hide_own_frames
from kit.magics.request import PYCCEL_KERNEL
from kit.magics.specs import MagicSpec
from kit.magics.tools import KIT_CACHE, KIT_LOG, KIT_PLAN, KIT_SOURCE, ToolMagics

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_unloaders: WeakKeyDictionary[InteractiveShell, list[Callable[[], None]]] = WeakKeyDictionary()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register kit's magics in `shell`; a second time changes nothing.

    Starts the compile workers in the background, unless ``KIT_PREWARM=0``.
    """
    if shell in _unloaders:
        return
    undo: list[Callable[[], None]] = []
    _unloaders[shell] = undo
    undo.append(hide_own_frames(shell))
    tools = ToolMagics(shell)
    kernel_magic = PyccelKernelMagic(shell)
    _register(shell, PYCCEL_KERNEL, kernel_magic.run, undo)
    _register(shell, CUDA_KERNEL, _cuda_cells_of(shell), undo)
    for spec, function in (
        (KIT_CACHE, tools.kit_cache),
        (KIT_LOG, tools.kit_log),
        (KIT_PLAN, tools.kit_plan),
        (KIT_SOURCE, tools.kit_source),
    ):
        _register(shell, spec, function, undo)
    matcher = make_matcher(
        (PYCCEL_KERNEL, CUDA_KERNEL, KIT_CACHE, KIT_LOG, KIT_PLAN, KIT_SOURCE), tools.kernel_names
    )
    completer = cast(Any, shell.Completer)
    if completer is not None:  # a shell without one
        matchers = completer.custom_matchers
        matchers.append(matcher)
        undo.append(lambda: matchers.remove(matcher))
    transforms = shell.input_transformer_manager.cleanup_transforms
    transforms.append(_give_empty_cell_a_body)
    undo.append(lambda: transforms.remove(_give_empty_cell_a_body))
    _prewarm()


def _cuda_cells_of(shell: InteractiveShell) -> Callable[[str, str], None]:
    """``%%cuda_kernel``, whose modules are imported by the first such cell."""

    def run(line: str, cell: str) -> None:
        from kit.magics.cuda import CudaKernelMagic

        CudaKernelMagic(shell).run(line, cell)

    return run


def _prewarm() -> None:
    if os.environ.get("KIT_PREWARM") == "0":
        return
    # What only builds need is imported for them.
    from kit.backends import nvrtc, pyccel

    pyccel.prewarm()
    nvrtc.prewarm()


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take everything back; kernels and their names stay."""
    for undo in reversed(_unloaders.pop(shell, [])):
        undo()


def _register(
    shell: InteractiveShell,
    spec: MagicSpec,
    function: Callable[..., Any],
    undo: list[Callable[[], None]],
) -> None:
    """Register one magic under its name, with its help."""
    from IPython.core.magic import needs_local_scope, no_var_expand

    # A function of its own: a bound method cannot carry the help as its docstring.
    def magic(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    if spec.takes_expression:
        # IPython would replace {...} and $name in the line, which are Python here.
        no_var_expand(magic)
        needs_local_scope(magic)
    kind = "cell" if spec.is_cell else "line"
    magic.__name__ = magic.__qualname__ = spec.name
    magic.__doc__ = spec.help_text()
    manager = cast(Any, shell.magics_manager)  # IPython's own types leave out what it takes
    manager.register_function(magic, magic_kind=kind, magic_name=spec.name)

    def unregister() -> None:
        manager.magics[kind].pop(spec.name, None)

    undo.append(unregister)


def _give_empty_cell_a_body(lines: list[str]) -> list[str]:
    """A magic line alone reaches the magic, which says what is missing in kit's words."""
    prefixes = (PYCCEL_KERNEL.prefix, CUDA_KERNEL.prefix)
    if len(lines) == 1 and (lines[0].split(None, 1) or [""])[0] in prefixes:
        return [lines[0].rstrip("\n") + "\n", "\n"]
    return lines
