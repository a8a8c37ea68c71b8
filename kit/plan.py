"""What a call would do with each of its arguments: pure decisions, nothing is copied or run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from kit.boundary.array_fit import judge_array
from kit.boundary.containers import judge_container
from kit.boundary.refusals import CallText, array_fix, describe_value
from kit.boundary.scalars import judge_scalar
from kit.boundary.sharing import share_elements
from kit.boundary.verdict import PASS, ErrorKind, Refusal, Verdict, refuse
from kit.errors import ArgumentRefused, argument_refused
from kit.layout import LayoutFacts
from kit.show.plan_text import plan_html, plan_text
from kit.signature import ArgumentType, Parameter, Signature
from kit.terms import Action, Language, Policy

__all__ = ["ArgumentPlan", "CallPlan", "plan_call"]

NdArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentPlan:
    """What the boundary does with one argument.

    Parameters
    ----------
    parameter : Parameter
        Which parameter of the kernel.
    type : ArgumentType
        The type, of those that the parameter may have, that was decided for.
    action : {"PASS", "CONVERT", "COPY", "MOVE", "REFUSE"}
        What happens.
    reason : str
        Why; empty where the value passes as it is.
    bytes_in, bytes_out : int
        What is copied before the call, and written back after it [bytes].
    facts : LayoutFacts or None
        The array's layout; None for scalars and where it was refused before that mattered.
    value_text : str
        What a scalar or object was; empty for an array with `facts`.
    shares_with : str or None
        The written argument whose elements this one shares: it is read as it was when the call
        began.
    found, need, fix : str
        Of a refusal, otherwise empty.
    error : {"type", "value"}
        Whether a refusal is also a TypeError or a ValueError.
    """

    parameter: Parameter
    type: ArgumentType
    action: Action
    reason: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    facts: LayoutFacts | None = None
    value_text: str = ""
    shares_with: str | None = None
    found: str = ""
    need: str = ""
    fix: str = ""
    error: ErrorKind = "type"

    @property
    def shows(self) -> str:
        """The value in a few words."""
        if self.facts is None:
            return self.value_text
        return f"{self.facts.dtype} array of shape {self.facts.shape}"

    @property
    def written(self) -> bool:
        """Whether the kernel writes this argument."""
        return self.parameter.intent != "in"

    @property
    def empty(self) -> bool:
        """Whether this is an array without elements."""
        return self.facts is not None and self.facts.size == 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CallPlan:
    """What a call would do; holds no array.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    arguments : tuple of ArgumentPlan
        In the order of the parameters.
    variant : tuple of ArgumentType
        The combination of types that the call would run.
    target : {"host", "python"}
        Where it would run; "python" where compiled code cannot take the arguments at all.
    """

    kernel: str
    arguments: tuple[ArgumentPlan, ...]
    variant: tuple[ArgumentType, ...]
    target: Literal["host", "python"] = "host"

    @property
    def refused(self) -> ArgumentPlan | None:
        """The first argument that is refused, or None."""
        return next((one for one in self.arguments if one.action == "REFUSE"), None)

    @property
    def passes(self) -> bool:
        """Whether every argument goes through as it is."""
        return all(one.action == "PASS" for one in self.arguments)

    @property
    def bytes_copied(self) -> int:
        """What is copied in and back [bytes]."""
        return sum(one.bytes_in + one.bytes_out for one in self.arguments)

    def refusal(self) -> ArgumentRefused | None:
        """The error that the call would raise, or None."""
        one = self.refused
        if one is None:
            return None
        kind = TypeError if one.error == "type" else ValueError
        return argument_refused(
            kind, self.kernel, one.parameter.name, found=one.found, need=one.need, fix=one.fix
        )

    def __getitem__(self, name: str) -> ArgumentPlan:
        for one in self.arguments:
            if one.parameter.name == name:
                return one
        raise KeyError(name)

    def _rows(self) -> list[dict[str, str]]:
        return [
            {
                "argument": one.parameter.name,
                "intent": one.parameter.intent,
                "declared": one.type.text,
                "passed": one.shows,
                "action": one.action,
                "bytes_in": str(one.bytes_in),
                "bytes_out": str(one.bytes_out),
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


def plan_call(
    kernel: str,
    signature: Signature,
    values: Sequence[object],
    *,
    policy: Policy,
    language: Language,
    uncompiled: bool = True,
) -> CallPlan:
    """Decide every argument of a call.

    Parameters
    ----------
    kernel : str
        Name for messages.
    signature : Signature
        What the kernel declares.
    values : sequence of object
        One per parameter, as `Signature.bind` gives them.
    policy : {"copy", "warn", "strict"}
        "strict" refuses what would otherwise be copied.
    language : {"fortran", "c"}
        What the kernel was translated to.
    uncompiled : bool
        Whether the cell can also run uncompiled, for what compiled C cannot take.

    Returns
    -------
    CallPlan
        For the first variant in which everything passes, else the first that works, else the
        one that comes closest.
    """
    call = CallText(
        kernel=kernel,
        arguments=_call_arguments(signature, values),
        final=frozenset(one.name for one in signature.parameters if one.final),
    )
    best: CallPlan | None = None
    for variant in signature.variants:
        plan = _plan_variant(signature, variant, values, policy, language, call, uncompiled)
        if plan.passes:
            return plan
        if best is None or _distance(plan) < _distance(best):
            best = plan
    assert best is not None  # a signature has at least one variant
    return best


def _distance(plan: CallPlan) -> int:
    """How far from working; 0 works, and the first of equals is kept."""
    return sum(one.action == "REFUSE" for one in plan.arguments)


def _call_arguments(signature: Signature, values: Sequence[object]) -> list[tuple[str, bool]]:
    """Parameters that the call has to name; those left at their default drop out."""
    named: list[tuple[str, bool]] = []
    skipped = False
    for parameter, value in zip(signature.parameters, values, strict=True):
        if value is parameter.default:
            skipped = True
        else:
            named.append((parameter.name, parameter.keyword_only or skipped))
    return named


def _plan_variant(
    signature: Signature,
    variant: tuple[ArgumentType, ...],
    values: Sequence[object],
    policy: Policy,
    language: Language,
    call: CallText,
    uncompiled: bool,
) -> CallPlan:
    plans = [
        _plan_argument(parameter, one, value, language, call)
        for parameter, one, value in zip(signature.parameters, variant, values, strict=True)
    ]
    if all(one.action != "REFUSE" for one in plans):
        plans = _plan_sharing(plans, values)
    if policy == "strict":
        plans = [
            _refuse_copy(one, value, call) if one.action == "COPY" else one
            for one, value in zip(plans, values, strict=True)
        ]
    target = "host"
    if language == "c" and any(one.empty for one in plans):
        # 2.2.3: the C wrapper refuses every array without elements, whatever its layout.
        target = "python"
        if not uncompiled:
            plans = [_refuse_empty(one) if one.empty else one for one in plans]
    return CallPlan(
        kernel=call.kernel,
        arguments=tuple(plans),
        variant=variant,
        target="python" if target == "python" else "host",
    )


def _plan_argument(
    parameter: Parameter,
    expected: ArgumentType,
    value: object,
    language: Language,
    call: CallText,
) -> ArgumentPlan:
    if value is None and parameter.default is None:
        verdict = PASS  # an optional argument that is absent
    elif expected.container is not None:
        verdict = judge_container(parameter.name, value, expected)
    elif expected.is_array:
        verdict = judge_array(
            parameter.name,
            value,
            expected,
            written=parameter.intent != "in",
            language=language,
            call=call,
        )
    else:
        verdict = judge_scalar(parameter.name, value, expected)
    return _as_plan(parameter, expected, value, verdict)


def _as_plan(
    parameter: Parameter, expected: ArgumentType, value: object, verdict: Verdict
) -> ArgumentPlan:
    plan = ArgumentPlan(
        parameter=parameter,
        type=expected,
        action=verdict.action,
        reason=verdict.reason,
        # What is declared as overwritten entirely need not be read first.
        bytes_in=0 if parameter.intent == "out" else verdict.bytes_in,
        bytes_out=verdict.bytes_out,
        facts=verdict.facts,
        # Described when it is shown, where the facts allow: that costs more than the decision.
        value_text="" if verdict.facts is not None else describe_value(value),
    )
    return plan if verdict.refusal is None else _with_refusal(plan, verdict.refusal)


def _with_refusal(plan: ArgumentPlan, refusal: Refusal) -> ArgumentPlan:
    return replace(
        plan,
        action="REFUSE",
        reason=refusal.found,
        bytes_in=0,
        bytes_out=0,
        found=refusal.found,
        need=refusal.need,
        fix=refusal.fix,
        error=refusal.error,
    )


def _plan_sharing(plans: list[ArgumentPlan], values: Sequence[object]) -> list[ArgumentPlan]:
    """What shares elements with a written argument: a snapshot, or no second output."""
    planned = list(plans)
    arrays = [index for index, one in enumerate(plans) if _is_array(one, values[index])]
    for position, first in enumerate(arrays):
        for second in arrays[position + 1 :]:
            if not (plans[first].written or plans[second].written):
                continue
            a, b = cast(NdArray, values[first]), cast(NdArray, values[second])
            if not share_elements(a, b):
                continue
            if plans[first].written and plans[second].written:
                planned[second] = _refuse_shared(planned[second], plans[first].parameter.name)
            elif plans[first].written:
                planned[second] = _snapshot(planned[second], plans[first].parameter.name)
            else:
                planned[first] = _snapshot(planned[first], plans[second].parameter.name)
    return planned


def _is_array(plan: ArgumentPlan, value: object) -> bool:
    return plan.type.is_array and isinstance(value, np.ndarray)


def _snapshot(plan: ArgumentPlan, other: str) -> ArgumentPlan:
    nbytes = plan.facts.nbytes if plan.facts is not None else 0
    reason = f"shares elements with {other}, which the kernel writes"
    return replace(plan, action="COPY", reason=reason, bytes_in=nbytes, shares_with=other)


def _copy_text(plan: ArgumentPlan) -> str:
    order = f'order="{plan.type.order}"' if plan.type.rank > 1 else ""
    return f"{plan.parameter.name} = {plan.parameter.name}.copy({order})"


def _refuse_shared(plan: ArgumentPlan, other: str) -> ArgumentPlan:
    if plan.action == "REFUSE":
        return plan
    name = plan.parameter.name
    return _refused(
        plan,
        found=f"{name} shares elements with {other}, and the kernel writes both",
        need="outputs that share no element",
        fix=_copy_text(plan),
    )


def _refuse_empty(plan: ArgumentPlan) -> ArgumentPlan:
    return _refused(
        plan,
        found=f"{plan.shows}: no elements",
        need="at least one element, because Pyccel's C wrapper refuses empty arrays",
        fix="recompile the cell with language='fortran' (%%pyccel_kernel -l fortran)",
    )


def _refuse_copy(plan: ArgumentPlan, value: object, call: CallText) -> ArgumentPlan:
    """Under the policy "strict": what would be copied is refused, with the copy as the fix."""
    if plan.shares_with is not None:
        fix = _copy_text(plan)
    else:
        fix = array_fix(plan.parameter.name, value, plan.type, written=plan.written, call=call)
    return _refused(
        plan,
        found=f"{plan.shows}: {plan.reason}",
        need=f"{plan.type.text} without a copy, because policy is 'strict'",
        fix=fix,
    )


def _refused(plan: ArgumentPlan, *, found: str, need: str, fix: str) -> ArgumentPlan:
    verdict = refuse("value", found=found, need=need, fix=fix)
    assert verdict.refusal is not None
    return _with_refusal(plan, verdict.refusal)
