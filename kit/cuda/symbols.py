"""`k.symbols`: the ``__constant__`` and ``__device__`` variables of a cell, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.arrays import array_kind
from kit.boundary.refusals import is_masked
from kit.cuda.dead_memory import dead_text, why_value_dead
from kit.cuda.element_types import (
    component_text,
    dtype_text,
    holds_components,
    is_struct,
    why_not_element,
)
from kit.cuda.loaded import LoadedCell
from kit.cuda.signature import CudaParameter, CudaSymbol, Element
from kit.cuda.value_arguments import judge_value
from kit.errors import ArgumentRefused, argument_refused, clean_text
from kit.source.nearest import nearest
from kit.views.rules import MASKED

if TYPE_CHECKING:
    from kit.terms import Target

__all__ = ["CudaSymbols", "symbol_dtype"]

Dtype = np.dtype[Any]


class CudaSymbols(Mapping[str, Any]):
    """The variables of a cell on one target, by name, each as an array of the target's side.

    ``symbols["coef"]`` shares the memory of the variable: NumPy's in the emulator, CuPy's on the
    device. ``symbols["coef"] = values`` writes all of it, from an array of the same shape and dtype
    or, where the variable is one value, from a number that it holds exactly. Each target has its
    own copy of every variable, and each GPU has its own.

    Parameters
    ----------
    kernel : str
        Name for messages.
    symbols : sequence of CudaSymbol
        What the cell defines.
    target : {"device", "emulator"}
        Whose copy.
    load : callable
        Gives the loaded cell of a target; called when a variable is first asked for.
    """

    def __init__(
        self,
        kernel: str,
        symbols: Sequence[CudaSymbol],
        target: Target,
        load: Callable[[Target], LoadedCell],
    ) -> None:
        self._kernel = kernel
        self._symbols = {one.name: one for one in symbols}
        self._target: Target = target
        self._load = load

    def __setattr__(self, name: str, value: object) -> None:
        # Silently making an attribute would leave the variable as it was.
        if not name.startswith("_"):
            raise AttributeError(f'symbols.{name} = ... writes nothing: symbols["{name}"] = ...')
        object.__setattr__(self, name, value)

    @property
    def target(self) -> Target:
        """Whose copies these are."""
        return self._target

    def on(self, target: Target) -> CudaSymbols:
        """The copies of another target."""
        return CudaSymbols(self._kernel, tuple(self._symbols.values()), target, self._load)

    def __getitem__(self, name: str) -> Any:
        return self._load(self._target).symbol(self._symbol(name))

    def __setitem__(self, name: str, value: object) -> None:
        symbol = self._symbol(name)
        if symbol.const:
            found = "a variable that the cell declares const, so that compilers know its value"
            fix = f"# remove const from {symbol.name} in line {symbol.line} of the cell"
            raise self._refused(symbol, found, "a variable without const", fix)
        source = self._checked(symbol, value)
        _write(self[name], source)

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __contains__(self, name: object) -> bool:
        return name in self._symbols  # without loading anything

    def _symbol(self, name: str) -> CudaSymbol:
        found = self._symbols.get(name)
        if found is not None:
            return found
        # Of two names in different namespaces both have to be written out.
        short = [one for full, one in self._symbols.items() if full.rpartition("::")[2] == name]
        if len(short) == 1:
            return short[0]
        raise KeyError(clean_text(self._unknown(name)))

    def _unknown(self, name: object) -> str:
        if not self._symbols:
            return f"the cell of {self._kernel} has no __constant__ or __device__ variable"
        text = f"no variable {name!r} in the cell of {self._kernel}, which has "
        meant = nearest(str(name), self._symbols, at_least=0.6)
        return text + ", ".join(self._symbols) + (f"; did you mean {meant!r}?" if meant else "")

    def _checked(self, symbol: CudaSymbol, value: object) -> Any:
        """What to write: an array of either side that has the variable's very bytes."""
        dead = why_value_dead(value)
        if dead is not None:
            raise self._refused(symbol, *dead_text("value", dead))
        kind = array_kind(value)
        if not symbol.shape and kind != "cuda":
            judged = judge_value(_as_parameter(symbol), value)
            refusal = judged.verdict.refusal
            if refusal is not None:
                raise self._refused(symbol, refusal.found, refusal.need, refusal.fix)
            return np.frombuffer(judged.data, np.uint8)
        if kind is None:
            found, need = f"{type(value).__name__}, which is no array", f"shape {symbol.shape}"
            raise self._refused(symbol, found, need, _fresh(symbol, value))
        if is_masked(cast(Any, value)):
            raise self._refused(symbol, *MASKED, "value = value.filled(0)")
        array: Any = value if kind == "cuda" else np.asarray(value)
        return self._checked_array(symbol, array)

    def _checked_array(self, symbol: CudaSymbol, array: Any) -> Any:
        element, dtype = symbol.element, np.dtype(array.dtype)
        found = f"{dtype} array of shape {tuple(array.shape)}"
        if dtype.names is not None or is_struct(element):
            shape, problem = symbol.shape, why_not_element(dtype, element)
        else:
            shape = symbol.shape if element.width == 1 else (*symbol.shape, element.width)
            problem = None if holds_components(dtype, element) else "another dtype"
        if problem is None and tuple(array.shape) == shape:
            return array
        fix = f"value = value.astype({dtype_text(element)}).reshape({shape})"
        found += f": {problem}" if problem is not None and is_struct(element) else ""
        fix = fix if array.size == prod(shape) and not is_struct(element) else _fresh(symbol, None)
        need = f"shape {shape} of {component_text(element)}"
        raise self._refused(symbol, found, need, fix)

    def _refused(self, symbol: CudaSymbol, found: str, need: str, fix: str) -> ArgumentRefused:
        place = f"symbols[{symbol.name!r}]"
        return argument_refused(ValueError, self._kernel, place, found=found, need=need, fix=fix)

    def __repr__(self) -> str:
        lines = [f"variables of {self._kernel}'s cell, as the {self._target} has them:"]
        lines += [
            f"  {one.name}: __{one.space}__ {component_text(one.element)}"
            + (f" of shape {one.shape}" if one.shape else "")
            for one in self._symbols.values()
        ]
        return clean_text("\n".join(lines if self._symbols else [self._unknown("")]))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._symbols)


def symbol_dtype(element: Element) -> Dtype:
    """NumPy's dtype of one component of a variable, or of its records.

    Examples
    --------
    >>> symbol_dtype(Element("float32", 4, 16, 16, "float4"))
    dtype('float32')
    """
    if not is_struct(element):
        if element.dtype == "bfloat16":
            import ml_dtypes  # pyright: ignore[reportMissingTypeStubs]

            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(element.dtype)
    if element.fields is None:
        return np.dtype(f"V{element.size}")
    fields = element.fields
    formats = [
        (
            symbol_dtype(one.element),
            one.shape if one.element.width == 1 else (*one.shape, one.element.width),
        )
        for one in fields
    ]
    return np.dtype(
        {
            "names": [one.name for one in fields],
            "formats": formats,
            "offsets": [one.offset for one in fields],
            "itemsize": element.size,
        }
    )


def _fresh(symbol: CudaSymbol, value: object) -> str:
    """A line that makes an array of a variable's shape; of a list or a number, with its values."""
    element = symbol.element
    shape = symbol.shape if element.width == 1 else (*symbol.shape, element.width)
    dtype = dtype_text(element)
    if isinstance(value, (list, tuple)):
        return f"value = np.array(value, {dtype}).reshape({shape})"
    number = "value" if isinstance(value, (int, float, np.bool_)) and element.dtype else 0
    return f"value = np.full({shape}, {number}, {dtype})"


def _as_parameter(symbol: CudaSymbol) -> CudaParameter:
    """A variable of one value, as a parameter that is passed by value."""
    element = symbol.element
    kind = "struct" if is_struct(element) else "scalar" if element.width == 1 else "vector"
    return CudaParameter(
        name="value",
        kind=kind,
        element=element,
        ndim=None,
        intent="in",
        restrict=False,
        size=element.size,
        alignment=element.alignment,
        offset=0,
        text=element.text,
        line=symbol.line,
        column=1,
    )


def _write(array: Any, source: Any) -> None:
    """All elements of a variable, from an array of the same bytes on either side."""
    if _is_numpy(source):
        host = np.ascontiguousarray(source)
        same = np.frombuffer(host.tobytes(), np.uint8).view(array.dtype).reshape(array.shape)
        if _is_numpy(array):
            np.copyto(array, same, casting="no")
        else:
            array.set(same)  # CuPy's way from the host
    elif _is_numpy(array):
        np.copyto(array, source.get().view(array.dtype).reshape(array.shape), casting="no")
    else:
        array[...] = source


def _is_numpy(value: object) -> bool:
    return isinstance(value, np.ndarray)
