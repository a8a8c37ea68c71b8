"""What a call would do with each of its arguments: pure decisions, nothing is copied or run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kit.boundary.argument_plan import (
    ArgumentPlan,
    plan_argument,
    refuse,
    refuse_copy,
    refuse_empty,
    refuse_kept,
)
from kit.boundary.call_text import CallText
from kit.boundary.decided_call import DecidedCall
from kit.boundary.extent_check import find_broken_rule
from kit.boundary.shared_arguments import plan_sharing
from kit.signature import ArgumentType, Signature
from kit.terms import Language, Policy

__all__ = ["ArgumentPlan", "CallPlan", "plan_call"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CallPlan(DecidedCall[ArgumentPlan]):
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

    variant: tuple[ArgumentType, ...]
    target: Literal["host", "python"] = "host"


def plan_call(
    kernel: str,
    signature: Signature,
    values: Sequence[object],
    *,
    policy: Policy,
    language: Language,
    uncompiled: bool = True,
    module: object = None,
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
    module : object
        The extension module that the kernel is in, whose classes its objects are of; None where
        any class of the right name will do.

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
        plan = _plan_variant(signature, variant, values, policy, language, call, uncompiled, module)
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
    module: object,
) -> CallPlan:
    plans = [
        plan_argument(parameter, one, value, language, call, module)
        for parameter, one, value in zip(signature.parameters, variant, values, strict=True)
    ]
    if all(one.action != "REFUSE" for one in plans):
        plans = plan_sharing(plans, values, call)
        plans = _plan_extents(plans, signature, values, call)
    plans = [
        refuse_kept(one, value, call) if one.action == "COPY" and one.parameter.kept_by else one
        for one, value in zip(plans, values, strict=True)
    ]
    if policy == "strict":
        plans = [
            refuse_copy(one, value, call) if one.action == "COPY" else one
            for one, value in zip(plans, values, strict=True)
        ]
    target: Literal["host", "python"] = "host"
    if language == "c" and any(one.empty for one in plans):
        # 2.2.3: the C wrapper refuses every array without elements, whatever its layout.
        target = "python"
        if not uncompiled:
            plans = [refuse_empty(one) if one.empty else one for one in plans]
    return CallPlan(
        kernel=call.kernel,
        arguments=tuple(plans),
        variant=variant,
        target=target,
    )


def _plan_extents(
    plans: list[ArgumentPlan], signature: Signature, values: Sequence[object], call: CallText
) -> list[ArgumentPlan]:
    """Extents that the kernel's source takes for granted: the first that is missing is refused."""
    broken = find_broken_rule(signature, values, call)
    if broken is None:
        return plans
    name, refusal = broken
    return [refuse(one, refusal) if one.parameter.name == name else one for one in plans]
