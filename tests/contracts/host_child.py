"""Runs in a child process, since what it guards against kills processes: cases in, JSON lines out.

``python -m tests.contracts.host_child EXTENSION LANGUAGE FOLDER``
Each case is announced before it runs, so that the parent can name the one that a death belongs to.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from kit.errors import ArgumentRefused
from kit.guard import make_guard
from kit.kernel import PyccelKernel
from tests.contracts.host_layouts import Array, LayoutCase, cases
from tests.contracts.host_probes import Probes


def say(**items: object) -> None:
    print(json.dumps(items), flush=True)


def snapshot(array: Array) -> Array:
    """The elements as a plain array of native numbers."""
    return np.array(np.asarray(array), dtype=np.asarray(array).dtype.newbyteorder("="), copy=True)


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


def check_fix(kernel: PyccelKernel, name: str, array: Array, fix: str) -> Array | Any:
    """Paste the fix; gives the result of the call, or the array that the call has filled."""
    scope: dict[str, Any] = {"np": np, name: array, kernel.__name__: kernel}
    exec(fix, scope)
    if f"{kernel.__name__}(" not in fix:
        scope["result"] = kernel(scope[name])
    return scope[name] if kernel.outputs else scope["result"]


def check_read(probes: Probes, case: LayoutCase) -> None:
    kernel = probes.kernel(f"fold_{case.dtype}_{case.rank}{case.order}")
    array = case.make()
    expected = probes.python[kernel.__name__](snapshot(array))
    action = kernel.plan(array)["x"].action
    assert action == case.read, f"{action} where {case.read} is owed"
    agree_with_guard(probes, kernel, (array,))
    if action == "REFUSE":
        error = refused(kernel, array)
        result = check_fix(kernel, "x", array, error.fix)
        filled = np.asarray(case.make().filled(np.nan if array.dtype.kind in "fc" else 0))  # type: ignore[attr-defined]
        expected = probes.python[kernel.__name__](filled)
        assert np.isnan(result) if np.isnan(expected) else result == expected
        return
    before = snapshot(array)
    result = kernel(array)
    assert result == expected, f"{result} where {expected} is right"
    assert same(array, before), "an input was changed"
    assert kernel.python(array) == expected


def refused(kernel: PyccelKernel, array: Array) -> ArgumentRefused:
    before = snapshot(array)
    arguments = (array,)
    with pytest.raises(ArgumentRefused) as caught:
        kernel(*arguments)  # starred: the fix then names the parameter, not this variable
    error = caught.value
    assert error.argument == "x"
    assert error.kernel == kernel.__name__
    assert isinstance(error, ValueError), type(error)
    assert same(array, before), "a refused array was changed"
    return error


def check_written(probes: Probes, case: LayoutCase) -> None:
    name = f"bump_{case.dtype}_{case.rank}{case.order}"
    kernel = probes.kernel(name)
    array = case.make()
    expected = snapshot(array)
    action = kernel.plan(array)["x"].action
    assert action == case.written, f"{action} where {case.written} is owed"
    agree_with_guard(probes, kernel, (array,))
    if action == "REFUSE":
        error = refused(kernel, array)
        given = case.make()
        if isinstance(given, np.ma.MaskedArray):
            filled = given.filled(np.nan if given.dtype.kind in "fc" else 0)
            probes.python[name](filled)
            filled[given.mask] = given.data[given.mask]
            assert same(check_fix(kernel, "x", given, error.fix).data, filled)
            assert given.mask.sum() == 1
            return
        probes.python[name](expected)
        assert same(check_fix(kernel, "x", given, error.fix), expected)
        return
    probes.python[name](expected)
    assert kernel(array) is None
    assert same(array, expected), f"{np.asarray(array)} where {expected} is right"
    again = case.make()
    kernel.python(again)
    assert same(again, expected)


def agree_with_guard(probes: Probes, kernel: PyccelKernel, values: tuple[Array, ...]) -> None:
    guard = make_guard(kernel.signature, probes.language)
    assert guard is not None
    if guard(*values):
        plan = kernel.plan(*values)
        assert plan.passes, f"the guard passes what the plan does not:\n{plan}"
        assert plan.target == "host"


def run(label: str, check: Callable[[], Any]) -> None:
    say(start=label)
    try:
        said = check()
    except Exception:
        say(label=label, ok=False, why=traceback.format_exc(limit=-4))
    else:
        say(label=label, ok=True, said=said)


def main(arguments: list[str]) -> None:
    """Run all cases."""
    extension, language, folder = arguments
    probes = Probes(Path(extension), cast(Any, language))
    for case in cases(Path(folder)):
        run(f"{case.label} read", lambda case=case: check_read(probes, case))
        run(f"{case.label} written", lambda case=case: check_written(probes, case))
    say(finished=True)


if __name__ == "__main__":
    main(sys.argv[1:])
