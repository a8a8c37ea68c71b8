"""What a call of a CUDA kernel would do with each of its arguments; nothing is copied or run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kit.boundary.refusals import CallText, describe_value
from kit.boundary.verdict import ErrorKind, Verdict
from kit.cuda.array_arguments import judge_array
from kit.cuda.judged import Judged
from kit.cuda.restricted import refuse_shared
from kit.cuda.signature import CudaParameter, CudaSignature
from kit.cuda.value_arguments import judge_value
from kit.errors import ArgumentRefused, argument_refused
from kit.show.plan_text import plan_html, plan_text

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
    value_text : str
        What was passed, in a few words.
    """

    parameter: CudaParameter
    verdict: Verdict
    value_text: str

    @property
    def action(self) -> Action:
        """What happens: PASS, CONVERT (a number, exactly) or REFUSE; no array is ever copied."""
        return self.verdict.action

    @property
    def reason(self) -> str:
        """Why; empty where the value passes as it is."""
        return self.verdict.reason

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
class CudaCallPlan:
    """What a call of a CUDA kernel would do; holds no array.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    arguments : tuple of CudaArgumentPlan
        In the order of the parameters.
    target : {"device", "emulator"}
        Where it would run.
    """

    kernel: str
    arguments: tuple[CudaArgumentPlan, ...]
    target: Target

    @property
    def refused(self) -> CudaArgumentPlan | None:
        """The first argument that is refused, or None."""
        return next((one for one in self.arguments if one.action == "REFUSE"), None)

    @property
    def passes(self) -> bool:
        """Whether every argument goes through as it is."""
        return all(one.action == "PASS" for one in self.arguments)

    @property
    def bytes_copied(self) -> int:
        """0: CUDA kernels work in place or not at all."""
        return 0

    def refusal(self) -> ArgumentRefused | None:
        """The error that the call would raise, or None."""
        one = self.refused
        if one is None:
            return None
        kind = TypeError if one.error == "type" else ValueError
        return argument_refused(
            kind, self.kernel, one.parameter.name, found=one.found, need=one.need, fix=one.fix
        )

    def __getitem__(self, name: str) -> CudaArgumentPlan:
        for one in self.arguments:
            if one.parameter.name == name:
                return one
        raise KeyError(name)

    def _rows(self) -> list[dict[str, str]]:
        return [
            {
                "argument": one.parameter.name,
                "intent": one.parameter.intent,
                "declared": one.parameter.text,
                "passed": one.value_text,
                "action": one.action,
                "bytes_in": "0",
                "bytes_out": "0",
                "reason": one.reason,
                "need": one.need,
                "fix": one.fix,
            }
            for one in self.arguments
        ]

    def __repr__(self) -> str:
        return plan_text(self.kernel, self.target, self._rows())

    def _repr_html_(self) -> str:
        return plan_html(self.kernel, self.target, self._rows())


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
        CudaArgumentPlan(parameter=one, verdict=found.verdict, value_text=_shown(value, found))
        for one, value, found in rows
    )
    return CudaCallPlan(kernel=signature.name, arguments=plans, target=target)


def _shown(value: object, judged: Judged) -> str:
    facts = judged.verdict.facts
    if facts is None:
        return describe_value(value)
    return f"{facts.dtype} array of shape {facts.shape}"
