"""What a call of a CUDA kernel would do with each of its arguments; nothing is copied or run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kit.boundary.call_text import CallText
from kit.boundary.decided_call import DecidedCall
from kit.boundary.refusals import describe_value
from kit.boundary.verdict import ErrorKind, Verdict
from kit.cuda.array_arguments import judge_array
from kit.cuda.judged import Judged
from kit.cuda.restricted import refuse_shared
from kit.cuda.signature import CudaParameter, CudaSignature
from kit.cuda.value_arguments import judge_value

if TYPE_CHECKING:
    # Not at run time: Jedi trips over what says Literal, see kit.kernel.
    from kit.layout import LayoutFacts
    from kit.terms import Action, Target

__all__ = ["CudaArgumentPlan", "CudaCallPlan", "judge_arguments", "plan_arguments"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaArgumentPlan:
    """What happens with one argument of a CUDA kernel.

    Parameters
    ----------
    parameter : CudaParameter
        Which parameter of the kernel.
    verdict : Verdict
        What was decided.
    shows : str
        What was passed, in a few words.
    """

    parameter: CudaParameter
    verdict: Verdict
    shows: str

    @property
    def declared(self) -> str:
        """The parameter's type, as the cell says it."""
        return self.parameter.text

    @property
    def action(self) -> Action:
        """What happens: PASS, CONVERT (a number, exactly) or REFUSE; no array is ever copied."""
        return self.verdict.action

    @property
    def reason(self) -> str:
        """Why; empty where the value passes as it is."""
        return self.verdict.reason

    @property
    def bytes_in(self) -> int:
        """0: CUDA kernels work in place or not at all."""
        return self.verdict.bytes_in

    @property
    def bytes_out(self) -> int:
        """0, as `bytes_in`."""
        return self.verdict.bytes_out

    @property
    def facts(self) -> LayoutFacts | None:
        """An array's layout, from index 0 on; None for others, and where it is refused earlier."""
        return self.verdict.facts

    @property
    def found(self) -> str:
        """Of a refusal, what was passed; otherwise empty."""
        return "" if self.verdict.refusal is None else self.verdict.refusal.found

    @property
    def need(self) -> str:
        """Of a refusal, what the kernel needs; otherwise empty."""
        return "" if self.verdict.refusal is None else self.verdict.refusal.need

    @property
    def fix(self) -> str:
        """Of a refusal, lines to paste; otherwise empty."""
        return "" if self.verdict.refusal is None else self.verdict.refusal.fix

    @property
    def error(self) -> ErrorKind:
        """Whether a refusal is also a TypeError ("type") or a ValueError ("value")."""
        return "type" if self.verdict.refusal is None else self.verdict.refusal.error


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CudaCallPlan(DecidedCall[CudaArgumentPlan]):
    """What a call of a CUDA kernel would do; holds no array, and copies none.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    arguments : tuple of CudaArgumentPlan
        In the order of the parameters.
    target : {"device", "emulator"}
        Where it would run.
    """


def judge_arguments(
    signature: CudaSignature, values: Sequence[object], target: Target
) -> list[Judged]:
    """Every argument of a call: what is packed for it, or why it is refused.

    Parameters
    ----------
    signature : CudaSignature
        What the kernel takes.
    values : sequence of object
        One for each parameter, as `CudaSignature.bind` gives them.
    target : {"device", "emulator"}
        Where the kernel is to run.

    Notes
    -----
    Reads no element of an array but of values that are passed by value, and copies none.
    """
    names = [(one.name, False) for one in signature.parameters]
    call = CallText(kernel=signature.name, arguments=names)
    judged = [
        judge_array(one, value, target, call) if one.is_array else judge_value(one, value)
        for one, value in zip(signature.parameters, values, strict=True)
    ]
    return refuse_shared(signature.parameters, values, judged, call)


def plan_arguments(
    signature: CudaSignature, values: Sequence[object], target: Target
) -> CudaCallPlan:
    """What a call would do; the parameters are those of `judge_arguments`."""
    judged = judge_arguments(signature, values, target)
    rows = zip(signature.parameters, values, judged, strict=True)
    plans = tuple(
        CudaArgumentPlan(parameter=one, verdict=found.verdict, shows=_shown(value, found))
        for one, value, found in rows
    )
    return CudaCallPlan(kernel=signature.name, arguments=plans, target=target)


def _shown(value: object, judged: Judged) -> str:
    facts = judged.verdict.facts
    if facts is None:
        return describe_value(value)
    return f"{facts.dtype} array of shape {facts.shape}"
