"""One case against what it owes: the numbers, the memory, the refusal and its fix."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kit import ArgumentRefused, CopyWarning, PyccelKernel, pyccel_kernel
from kit.guard import NOT_FAST
from kit.terms import Language
from tests.fuzz.cases import Case, build
from tests.fuzz.kernels import Family, Kind, Subject, cell_source, subjects
from tests.fuzz.memory import Array
from tests.fuzz.owed import Owed, equal, is_writeable, owe_call, owe_extents, snapshot

FLAGS = "-O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off"
"""kit's own, but a product and a sum are rounded one by one, as Python does."""

# Called from text without a file: a refusal reads the source of its caller, and this one is long.
_scope: dict[str, Any] = {}
exec("def call(kernel, args, kwargs): return kernel(*args, **kwargs)", _scope)
_call = _scope["call"]


def _slowly(kernel: PyccelKernel, *args: Any, **kwargs: Any) -> Any:
    """The call as it is without a guard."""
    return kernel._call_slowly(args, kwargs, "host")


class Failure(Exception):
    """What went wrong: the first argument is its column in the table."""


def fail(kind: str, why: str) -> NoReturn:
    raise Failure(kind, why)


@dataclass
class Expected:
    """What the oracle says: the result, and every byte of memory after the call."""

    owed: Owed
    result: Any
    memory: list[Array]
    values: list[Any]


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
                    with _quiet():
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
            with _copy_warnings() as copied:
                result = self._call(kernel, case, way)
        except ArgumentRefused as error:
            self._check_refusal(case, expected, error, way)
            if way == "call":
                self._check_fix(number, error, expected.owed)
            return "refused"
        except Exception as error:
            fail("another error", f"{way}: {type(error).__name__}: {error}")
        self._check_warnings(case, kernel, copied, way)
        if not expected.owed.works:
            kind = "read-only written" if changed_read_only(case, expected) else "not refused"
            fail(kind, f"{way}: {dict(expected.owed.reasons)}")
        self.compare(case, expected, result, way)
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

    def compare(self, case: Case, expected: Expected, result: Any, way: str = "bare") -> None:
        """Fail where the result or a byte of memory is not the oracle's."""
        if not equal(result, expected.result):
            fail("wrong", f"{way}: the result is {result}, and {expected.result} is right")
        self._compare_memory(case, expected, "wrong", way)

    @staticmethod
    def _call(kernel: PyccelKernel, case: Case, way: str) -> Any:
        if way == "call":
            return _call(kernel, case.args, case.kwargs)
        if way == "slow":
            return _call(partial(_slowly, kernel), case.args, case.kwargs)
        return _call(kernel.python, case.args, case.kwargs)

    @staticmethod
    def _compare_memory(case: Case, expected: Expected, kind: str, way: str) -> None:
        names = [slot.name for slot in case.subject.slots]
        for name, value, other in zip(names, case.values, expected.values, strict=True):
            if isinstance(value, np.ndarray) and not _equal_elements(value, other):
                fail(kind, f"{way}: {name} is\n{np.asarray(value)}\nand this is right:\n{other}")
        for found, right in zip(case.shop.memory, expected.memory, strict=True):
            # NaNs of another sign or payload are NaN all the same.
            if not np.array_equal(found, right) and not _nan_somewhere(expected.values):
                at = np.flatnonzero(found != right)
                fail(kind, f"{way}: bytes {at[:20]} of {found.size} changed beside the arrays")

    # ---- refusals ---------------------------------------------------------------------------

    def _check_refusal(
        self, case: Case, expected: Expected, error: ArgumentRefused, way: str
    ) -> None:
        owed = expected.owed
        if owed.works and case.policy != "strict":
            fail("undue refusal", f"{way}: {error}")
        untouched = self._untouched(case)
        self._compare_memory(case, untouched, "changed and refused", way)
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

    def _untouched(self, case: Case) -> Expected:
        again = self.build(case.shop.number)
        nothing = Owed(reasons={}, variant=())
        return Expected(owed=nothing, result=None, memory=again.shop.memory, values=again.values)

    def _check_fix(self, number: int, error: ArgumentRefused, owed: Owed) -> None:
        """Paste the fix: the call must work, or be refused for another argument."""
        case = self.build(number)
        kernel = self.kernel(case)
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
            with _quiet():
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


@contextmanager
def _copy_warnings() -> Iterator[list[str]]:
    """The texts of CopyWarnings; every other warning is an error."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", CopyWarning)
        yield texts
    texts += [str(one.message) for one in caught]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings that a fix may give: of copies, and of NumPy to who writes into them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*broadcast_arrays", DeprecationWarning)
        warnings.simplefilter("ignore", CopyWarning)
        yield


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


def _equal_elements(a: Array, b: Array) -> bool:
    if a.dtype.kind in "biufc":
        return equal(a.view(np.ndarray), b.view(np.ndarray))
    if a.dtype.kind == "O":
        return bool(np.all(np.asarray(a == b)))
    return a.tobytes() == b.tobytes()


def _nan_somewhere(values: Sequence[Any]) -> bool:
    return any(
        isinstance(one, np.ndarray)
        and one.dtype.kind in "fc"
        and bool(np.isnan(one.view(np.ndarray)).any())
        for one in values
    )


def changed_read_only(case: Case, expected: Expected) -> bool:
    return any(
        isinstance(value, np.ndarray)
        and not is_writeable(value)
        and not _equal_elements(value, other)
        for value, other in zip(case.values, expected.values, strict=True)
    )
