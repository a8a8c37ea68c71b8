"""The same call on every target: in which layouts, on what copies, and what it left."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from kit.backends.find_device import find_device
from kit.errors import CopyWarning, KitError
from kit.kernel import PyccelKernel
from kit.terms import Target
from kit.testing.argument_copies import LaidOut
from kit.testing.array_layout import ArrayLayout
from kit.testing.choices import ArrayChoice

__all__ = ["Case", "Result", "Run", "combinations", "find_runs", "run_case"]

_REFERENCE: Final = "reference"

Run = Callable[[Sequence[Any], Mapping[str, Any]], Any]
"""Calls one target with positional and named arguments."""


class Case(NamedTuple):
    """One set of arguments in one combination of layouts."""

    given: Sequence[Any] | Mapping[str, Any]
    arguments: Mapping[str, Any]
    choices: Mapping[str, ArrayChoice]
    layouts: Mapping[str, ArrayLayout]
    seed: int

    def __str__(self) -> str:
        plain = {name: choice.layouts[0] for name, choice in self.choices.items()}
        unusual = {
            name: one.name for name, one in self.layouts.items() if one is not plain.get(name)
        }
        words = [f"{name} {layout}" for name, layout in unusual.items()] or ["all in C order"]
        return f"layout: {', '.join(words)}; seed {self.seed}"


class Result(NamedTuple):
    """What one target left."""

    arrays: Mapping[str, np.ndarray[Any, Any]]
    around: tuple[str, ...]
    returned: Mapping[str, Any] | None


def find_runs(
    kernel: PyccelKernel,
    targets: Sequence[Target] | None,
    reference: Callable[..., Any] | None,
    launch: Mapping[str, Any],
) -> dict[str, Run]:
    """What is compared, by name."""
    if targets is None:
        here = find_device() is not None
        targets = [one for one in kernel.targets if one != "device" or here]
    runs: dict[str, Run] = {}
    if reference is not None:
        runs[_REFERENCE] = lambda args, kwargs: reference(*args, **kwargs)
    for name in targets:
        options: Mapping[str, Any] = launch if name in ("emulator", "device") else {}
        method: Callable[..., Any] = getattr(kernel, name)
        runs[name] = lambda args, kwargs, method=method, options=options: method(
            *args, **kwargs, **options
        )
    if len(runs) < 2:
        only = ", ".join(runs) or "nothing"
        raise KitError(
            f"assert_kernels_agree: {kernel.__name__} has only one result to compare ({only})\n"
            "  need:  two targets that run here, or a function to compare with\n"
            "  fix:   reference=...  # does the same with NumPy"
        )
    return runs


def combinations(
    choices: Mapping[str, ArrayChoice], *, layouts: bool
) -> Iterator[Mapping[str, ArrayLayout]]:
    """Layouts for every array: all plain, each array's own while the rest is plain, all alike."""
    plain = {name: choice.layouts[0] for name, choice in choices.items()}
    yield plain
    if not layouts:
        return
    for name, choice in choices.items():
        for layout in choice.layouts[1:]:
            yield {**plain, name: layout}
    flexible = [name for name, choice in choices.items() if len(choice.layouts) > 1]
    if len(flexible) < 2:
        return
    names = {one.name: None for name in flexible for one in choices[name].layouts[1:]}
    for wanted in names:
        same = {name: choices[name].named(wanted) for name in flexible}
        yield {**plain, **{name: one for name, one in same.items() if one is not None}}


def run_case(name: str, run: Run, case: Case) -> Result:
    """One call on copies of its own."""
    __tracebackhide__ = True
    laid_out = {
        one: LaidOut(case.choices[one].values, layout, on_device=name == "device")
        for one, layout in case.layouts.items()
    }
    passed = {
        one: laid_out[case.choices[one].first].argument
        if one in case.choices
        else copy.deepcopy(value)
        for one, value in case.arguments.items()
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CopyWarning)  # other layouts are what is tried here
            if isinstance(case.given, Mapping):
                returned = run((), passed)
            else:
                returned = run(tuple(passed.values()), {})
    except Exception as error:
        error.add_note(f"assert_kernels_agree: on {name}; {case}")
        raise
    arrays = {one: laid_out[choice.first].elements() for one, choice in case.choices.items()}
    around = tuple(one for one, array in laid_out.items() if array.is_written_around())
    kept = None if name in ("emulator", "device") else _named(returned)
    return Result(arrays, around, kept)


def _named(returned: object) -> Mapping[str, Any]:
    """What a function returned, each with a name."""
    if isinstance(returned, tuple):
        several = cast("tuple[Any, ...]", returned)
        return {f"result {number}": one for number, one in enumerate(several)}
    return {} if returned is None else {"the result": returned}
