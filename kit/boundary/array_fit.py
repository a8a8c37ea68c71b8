"""One array argument against the array that a kernel declares: pass, copy or refuse, and why."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from kit.arrays import array_kind
from kit.boundary.call_text import CallText
from kit.boundary.refusals import array_fix, describe_value, is_masked
from kit.boundary.strides import beyond_c_index, why_not_in_place
from kit.boundary.verdict import PASS, ErrorKind, Verdict, refuse
from kit.layout import LayoutFacts, inspect_layout
from kit.signature import ArgumentType
from kit.terms import Language, Order

__all__ = ["EMPTY", "judge_array", "judge_layout", "need_text"]

NdArray = np.ndarray[Any, Any]

EMPTY = "no elements: a fresh empty array stands in"
"""The reason of an argument of size 0, whose own memory Pyccel must not see."""

_RANK_WORDS = {1: "1-D array", 2: "2-D array", 3: "3-D array"}


def need_text(expected: ArgumentType) -> str:
    """What a parameter needs, for the line "need".

    Examples
    --------
    >>> need_text(ArgumentType(dtype="float64", rank=2, order="F", text="float64[:,:](order=F)"))
    'a float64 2-D array in F order, as float64[:,:](order=F)'
    """
    kind = _RANK_WORDS.get(expected.rank, f"{expected.rank}-D array")
    order = f" in {expected.order} order" if expected.rank > 1 else ""
    return f"a {expected.dtype} {kind}{order}, as {expected.text}"


def judge_array(
    name: str,
    value: object,
    expected: ArgumentType,
    *,
    written: bool,
    language: Language,
    call: CallText,
) -> Verdict:
    """Decide one array argument; reads no element but those of a mask, and copies nothing.

    Parameters
    ----------
    name : str
        The parameter's name.
    value : object
        What was passed.
    expected : ArgumentType
        The declared array.
    written : bool
        Whether the kernel writes it.
    language : {"fortran", "c"}
        What the kernel was translated to.
    call : CallText
        The call, for the fix.
    """
    if not isinstance(value, np.ndarray):
        return _no_numpy_array(name, value, expected, written=written, call=call)
    array = cast(NdArray, value)
    problem = _wrong_elements(array, expected)
    if problem is not None:
        error, found, need = problem
        fix = array_fix(name, array, expected, written=written, call=call)
        return refuse(error, found=found, need=need, fix=fix)
    facts = inspect_layout(array)
    verdict = judge_layout(
        name, facts, expected, written=written, language=language, has_base=array.base is not None
    )
    if verdict is PASS and array.dtype.num != np.dtype(expected.dtype).num:
        # long long and long are both int64, and Pyccel compares type numbers.
        return Verdict(action="PASS", reason=f"seen as {expected.dtype}", facts=facts)
    return Verdict(action="PASS", facts=facts) if verdict is PASS else verdict


def _wrong_elements(array: NdArray, expected: ArgumentType) -> tuple[ErrorKind, str, str] | None:
    """Error kind, found and need where the elements are not the declared ones."""
    kind = type(array)
    if kind.__array_ufunc__ is not np.ndarray.__array_ufunc__:
        # Units and the like: compiled code would compute with the bare numbers.
        why = f"{kind.__name__} gives arithmetic its own meaning"
        return "type", describe_value(array), f"{need_text(expected)}; {why}"
    if is_masked(array):
        found = f"{describe_value(array)} with {_masked_count(array)} masked elements"
        return "value", found, f"{need_text(expected)}, with no element masked"
    # newbyteorder makes the comparison one of kinds and sizes; the order itself is copied away.
    if array.dtype.newbyteorder("=") != np.dtype(expected.dtype) or array.ndim != expected.rank:
        return "type", describe_value(array), need_text(expected)
    return None


def _masked_count(array: NdArray) -> int:
    mask: NdArray = cast(Any, np.ma.getmaskarray)(array)
    return int(mask.sum())


def judge_layout(
    name: str,
    facts: LayoutFacts,
    expected: ArgumentType,
    *,
    written: bool,
    language: Language,
    has_base: bool,
) -> Verdict:
    """Decide by the layout alone, for an array of the right dtype and rank.

    Examples
    --------
    >>> expected = ArgumentType(dtype="float64", rank=2, order="C", text="float64[:,:]")
    >>> facts = inspect_layout(np.zeros((3, 4)).T)
    >>> judge_layout("x", facts, expected, written=False, language="c", has_base=True).reason
    'F order, and the kernel declares C order'
    """
    order = expected.order or "C"
    if written and not facts.writeable:
        return _not_writeable(name, facts, expected)
    if facts.size == 0:
        return Verdict(action="PASS", reason=EMPTY, facts=facts)
    beyond = beyond_c_index(facts.shape, order) if language == "c" else None
    if beyond is not None:
        return refuse(
            "value",
            found=beyond,
            need="fewer than 2**31 elements, because Pyccel's C arrays index in int32",
            fix="recompile the cell with language='fortran' (%%pyccel_kernel -l fortran)",
        )
    if written and facts.overlaps:
        return _overlapping(name, facts, expected)
    reason = _why_copy(facts, order, has_base=has_base, language=language)
    if reason is None:
        return PASS
    return Verdict(
        action="COPY",
        reason=reason,
        bytes_in=facts.nbytes,
        bytes_out=facts.nbytes if written else 0,
        facts=facts,
    )


def _why_copy(
    facts: LayoutFacts, order: Order, *, has_base: bool, language: Language
) -> str | None:
    if not facts.native:
        return "bytes are not in this machine's order"
    if not facts.aligned:
        return "elements are not aligned"
    reason = why_not_in_place(
        facts.shape,
        facts.strides_bytes,
        facts.itemsize,
        order,
        has_base=has_base,
        language=language,
    )
    if reason is not None and facts.order not in (None, order):
        return f"{facts.order} order, and the kernel declares {order} order"
    return reason


def _not_writeable(name: str, facts: LayoutFacts, expected: ArgumentType) -> Verdict:
    order = f'order="{expected.order}"' if expected.rank > 1 else ""
    return refuse(
        "value",
        found=f"a read-only array of shape {facts.shape}: it is not writeable",
        need=f"a writeable array, because the kernel writes {name}",
        fix=f"{name} = {name}.copy({order})",
    )


def _overlapping(name: str, facts: LayoutFacts, expected: ArgumentType) -> Verdict:
    order = f'order="{expected.order}"' if expected.rank > 1 else ""
    zero = next(
        (
            axis
            for axis, (extent, stride) in enumerate(
                zip(facts.shape, facts.strides_bytes, strict=True)
            )
            if extent > 1 and stride == 0
        ),
        None,
    )
    found = "elements that overlap in memory"
    if zero is not None:
        found = f"axis {zero} has stride 0 ({facts.shape[zero]} indices, one element)"
    return refuse(
        "value",
        found=found,
        need=f"one element per index, because the kernel writes {name}",
        fix=f"{name} = {name}.copy({order})",
    )


def _no_numpy_array(
    name: str, value: object, expected: ArgumentType, *, written: bool, call: CallText
) -> Verdict:
    kind = array_kind(value)
    found = describe_value(value)
    need = need_text(expected)
    if kind == "cuda":
        fix = _from_device(name, value, expected, written=written, call=call)
        return refuse("type", found=f"{found} on a device", need=f"{need}, on the host", fix=fix)
    fix = array_fix(name, value, expected, written=written, call=call)
    return refuse("type", found=found, need=need, fix=fix)


def _from_device(
    name: str, value: object, expected: ArgumentType, *, written: bool, call: CallText
) -> str:
    library = type(value).__module__.partition(".")[0]
    host = {
        "cupy": f'{name}.get(order="{expected.order}")',
        "numba": f"{name}.copy_to_host()",
        "torch": f"{name}.cpu().numpy()",
    }.get(library, f'cupy.asarray({name}).get(order="{expected.order}")')
    if not written:
        return f"{name} = {host}"
    back = {"numba": f"{name}.copy_to_device({name}_buffer)"}.get(
        library, f"{name}[...] = {library if library == 'cupy' else 'cupy'}.asarray({name}_buffer)"
    )
    if library == "kit":  # an ArrayView has no slices of its own
        back = f"cupy.asarray({name})[...] = cupy.asarray({name}_buffer)"
    if library == "torch":
        back = f"{name}.copy_(torch.from_numpy({name}_buffer))"
    return "\n".join([f"{name}_buffer = {host}", call.replacing(name, f"{name}_buffer"), back])
