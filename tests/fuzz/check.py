"""One case against what it owes: the numbers, the memory, the refusal and its fix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kit import ArgumentRefused, PyccelKernel, pyccel_kernel
from kit.guard import NOT_FAST
from kit.terms import Language
from tests.fuzz.cases import Case, build
from tests.fuzz.check_refusal import check_fix, check_refusal
from tests.fuzz.comparison import (
    Expected,
    changed_read_only,
    compare,
    copy_warnings,
    fail,
    quiet_warnings,
)
from tests.fuzz.kernels import Family, Subject
from tests.fuzz.oracle import snapshot
from tests.fuzz.owed import owe_call, owe_extents
from tests.fuzz.subjects import cell_source, subjects

FLAGS = "-O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off"
"""kit's own, but a product and a sum are rounded one by one, as Python does."""

# Called from text without a file: a refusal reads the source of its caller, and this one is long.
_scope: dict[str, Any] = {}
exec("def call(kernel, args, kwargs): return kernel(*args, **kwargs)", _scope)
_call = _scope["call"]


def _slowly(kernel: PyccelKernel, *args: Any, **kwargs: Any) -> Any:
    """The call as it is without a guard."""
    return kernel._call_slowly(args, kwargs, "host")


class Fuzzer:
    """The kernels of one language, and their oracles.

    Parameters
    ----------
    language : {"fortran", "c"}
        What the kernels are translated to.
    family : {"small", "full"}
        Which kernels.
    seed : int
        Of the cases.
    folder : Path
        For the files of memory maps.
    """

    def __init__(self, language: Language, family: Family, seed: int, folder: Path) -> None:
        self.language = language
        self.subjects = subjects(family)
        self.seed, self.folder = seed, folder
        source = cell_source(family)
        self.kernels = pyccel_kernel(source, language=language, flags=FLAGS, policy="copy")
        self.python: dict[str, Callable[..., Any]] = {}
        exec(compile(source, "<fuzz>", "exec"), self.python)
        self._variants: dict[tuple[object, ...], PyccelKernel] = {}

    def build(self, number: int) -> Case:
        return build(self.subjects, self.seed, number, self.folder)

    def kernel(self, case: Case) -> PyccelKernel:
        """The kernel of a case: with its policy, and some without their Python text."""
        key = (case.subject.name, case.wrapped, case.overwrites, case.policy)
        # One that warns does so once: a new one for each call.
        if key not in self._variants or case.policy == "warn":
            made = self.kernels[case.subject.name]
            if case.wrapped or case.overwrites or case.policy != "copy":
                made = PyccelKernel(
                    made.compiled,
                    signature=made.signature,
                    policy=case.policy,
                    overwrites=("y",) if case.overwrites else (),
                    build=None if case.wrapped else made.provenance,
                )
            self._variants[key] = made
        return self._variants[key]

    # ---- the oracle -------------------------------------------------------------------------

    def expect(self, number: int) -> Expected:
        """NumPy on a snapshot: the kernel's text, run by Python on plain copies."""
        case = self.build(number)
        owed = owe_call(
            case.subject, case.values, uncompiled=not case.wrapped, language=self.language
        )
        result: Any = None
        plain: list[Any] = []
        if owed.works:
            plain = [
                snapshot(value, kind) for value, kind in zip(case.values, owed.variant, strict=True)
            ]
            try:
                result = self._run_python(case.subject, plain)
            except IndexError:
                owed = owe_extents(case.subject, case.values, owed)
        elif "unequal extents" in case.kinds:
            owed = owe_extents(case.subject, case.values, owed)
        if owed.works:
            for slot, value, one in zip(case.subject.slots, case.values, plain, strict=True):
                if slot.written and value is not None:
                    with quiet_warnings():
                        np.copyto(value.view(np.ndarray), one)
        return Expected(owed=owed, result=result, memory=case.shop.memory, values=case.values)

    def _run_python(self, subject: Subject, plain: Sequence[Any]) -> Any:
        function = self.python[subject.name]
        named = {
            slot.name: value
            for slot, value in zip(subject.slots, plain, strict=True)
            if slot.keyword_only
        }
        with np.errstate(all="ignore"):
            return function(*plain[: len(plain) - len(named)], **named)

    # ---- one case ---------------------------------------------------------------------------

    def check(self, number: int) -> tuple[str, list[str]]:
        """Run one case in every way; gives what was done with it, and what was in it.

        Raises
        ------
        Failure
            If anything is not as owed.
        """
        expected = self.expect(number)
        with np.errstate(all="ignore"):
            said, kinds = self._check_plan(number, expected)
            outcomes = [self._check_call(number, expected, way) for way in ("call", "slow")]
            if not self.build(number).wrapped:
                self._check_call(number, expected, "python")
        if (said == "refused") != (outcomes[0] == "refused") or outcomes[0] != outcomes[1]:
            fail("disagreement", f"the plan says {said}, the calls {outcomes}")
        return said, kinds

    def _check_plan(self, number: int, expected: Expected) -> tuple[str, list[str]]:
        case = self.build(number)
        kernel = self.kernel(case)
        plan = kernel.plan(*case.args, **case.kwargs)
        actions = [one.action for one in plan.arguments]
        passed_fast = kernel._fast(*case.args, **case.kwargs) is not NOT_FAST
        if passed_fast and {"COPY", "REFUSE"} & set(actions):  # defaults it has converted already
            fail("disagreement", f"the guard passes what the plan does not: {plan}")
        if case.policy == "strict" and expected.owed.works:
            relaxed = self.kernels[kernel.__name__].plan(*case.args, **case.kwargs)
            copies = "COPY" in [one.action for one in relaxed.arguments]
            if copies != (plan.refused is not None):
                fail("undue refusal", f"strict, and a copy: {copies}\n{plan}")
            if copies:
                return "refused", case.kinds
        for name in expected.owed.passes:
            if plan[name].action != "PASS":
                fail("undue copy", f"{name}: {plan[name].action} {plan[name].reason}")
        if "REFUSE" in actions:
            return "refused", case.kinds
        if "COPY" in actions:
            return "copied", case.kinds
        return ("converted" if "CONVERT" in actions else "passed"), case.kinds

    def _check_call(self, number: int, expected: Expected, way: str) -> str:
        case = self.build(number)
        kernel = self.kernel(case)
        try:
            with copy_warnings() as copied:
                result = self._call(kernel, case, way)
        except ArgumentRefused as error:
            check_refusal(case, self.build(number), expected.owed, error, way)
            if way == "call":
                again = self.build(number)
                check_fix(again, self.kernel(again), expected.owed, error)
            return "refused"
        except Exception as error:
            fail("another error", f"{way}: {type(error).__name__}: {error}")
        self._check_warnings(case, kernel, copied, way)
        if not expected.owed.works:
            kind = "read-only written" if changed_read_only(case, expected) else "not refused"
            fail(kind, f"{way}: {dict(expected.owed.reasons)}")
        compare(case, expected, result, way)
        return "ran"

    @staticmethod
    def _check_warnings(case: Case, kernel: PyccelKernel, copied: list[str], way: str) -> None:
        """One for each argument that is copied, where the policy says so."""
        plan = kernel.plan(*case.args, **case.kwargs)
        on_host = plan.target == "host" and way != "python"
        due = [
            one.parameter.name
            for one in plan.arguments
            if one.action == "COPY" and case.policy == "warn" and on_host
        ]
        found = [text.partition("(")[2].partition(")")[0] for text in copied]
        if found != due:
            fail("disagreement", f"{way}: warnings for {found}, due for {due}")

    @staticmethod
    def _call(kernel: PyccelKernel, case: Case, way: str) -> Any:
        if way == "call":
            return _call(kernel, case.args, case.kwargs)
        if way == "slow":
            return _call(partial(_slowly, kernel), case.args, case.kwargs)
        return _call(kernel.python, case.args, case.kwargs)
