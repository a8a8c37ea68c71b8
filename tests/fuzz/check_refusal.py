"""A refusal: that it is owed, complete, in time, and that its fix works when pasted."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit import ArgumentRefused, PyccelKernel
from tests.fuzz.cases import Case
from tests.fuzz.comparison import Expected, compare_memory, fail, quiet_warnings
from tests.fuzz.kernels import Kind
from tests.fuzz.owed import Owed


def check_refusal(
    case: Case, untouched: Case, owed: Owed, error: ArgumentRefused, way: str
) -> None:
    """Whether a refusal is owed, says all that it must, and has left everything as it was.

    Parameters
    ----------
    case, untouched : Case
        The case that was called, and another building of it.
    owed : Owed
        What the call owes.
    error : ArgumentRefused
        What it raised.
    way : str
        How it was called, for the report.
    """
    if owed.works and case.policy != "strict":
        fail("undue refusal", f"{way}: {error}")
    before = Expected(owed=owed, result=None, memory=untouched.shop.memory, values=untouched.values)
    compare_memory(case, before, "changed and refused", way)
    for name in ("kernel", "argument", "found", "need", "fix"):
        if not getattr(error, name):
            fail("bad refusal", f"{way}: no {name}: {error}")
    kind = "type" if isinstance(error, TypeError) else "value"
    if not isinstance(error, (TypeError, ValueError)) or error.kernel != case.subject.name:
        fail("bad refusal", f"{way}: {type(error)}: {error}")
    if owed.works:
        return
    reasons = owed.reasons.get(error.argument, [])
    is_strict = case.policy == "strict" and kind == "value"
    if kind not in {one.error for one in reasons} and not is_strict:
        fail("bad refusal", f"{way}: {kind} error, owed are {dict(owed.reasons)}: {error}")


def check_fix(case: Case, kernel: PyccelKernel, owed: Owed, error: ArgumentRefused) -> None:
    """Paste the fix: the call must work, or be refused for another argument."""
    names = [slot.name for slot in case.subject.slots]
    if "unequal extents" in case.kinds and not owed.short:
        return  # they come to light after the fix
    index = names.index(error.argument)
    value, kind = case.values[index], case.subject.slots[index].kinds[0]
    if "recompile the cell" in error.fix or not _has_numbers(value, kind):
        return
    others = [one for one in case.values if isinstance(one, np.ndarray) and one is not value]
    is_alone = np.shape(value) not in map(np.shape, others)
    if case.subject.shapes != "free" and is_alone and not owed.short:
        return  # a list becomes an array of its own shape, and the kernel trusts the shapes
    scope: dict[str, Any] = {"np": np, kernel.__name__: kernel}
    scope.update(zip(names, case.values, strict=True))
    try:
        with quiet_warnings():
            exec(error.fix, scope)
            if f"{kernel.__name__}(" not in error.fix:
                positional = [s.name for s in case.subject.slots if not s.keyword_only]
                named = {s.name: scope[s.name] for s in case.subject.slots if s.keyword_only}
                kernel(*[scope[one] for one in positional], **named)
    except ArgumentRefused as again:
        if (case.policy == "strict" and again.found != error.found) or "recompile" in again.fix:
            return
        if again.argument == error.argument:
            fail("bad fix", f"refused again:\n{again}\nafter the fix of: {error}")
        if not (set(owed.reasons) - {error.argument} or case.policy == "strict"):
            fail("bad fix", f"refused elsewhere:\n{again}\nafter the fix of: {error}")
    except Exception as other:
        fail("bad fix", f"{type(other).__name__}: {other}, in the fix of: {error}")


def _has_numbers(value: Any, kind: Kind) -> bool:
    """Whether an array of numbers can be made of it at all, as a fix for an array has to."""
    if not kind.rank:
        return True
    try:
        elements = np.array(value)
        if elements.dtype.kind == "O" and not isinstance(value, np.ndarray):
            return False  # an object that NumPy can only hold
        (elements["v"] if elements.dtype.names else elements).astype(kind.dtype)
    except Exception:
        return False
    return True
