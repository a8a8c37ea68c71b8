"""Arguments that are one memory: which is read as it was, and which cannot be an output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, cast

import numpy as np

from kit.boundary.argument_plan import ArgumentPlan, copy_text, refuse
from kit.boundary.call_text import CallText
from kit.boundary.sharing import Sharing, inspect_sharing
from kit.boundary.verdict import Refusal

__all__ = ["plan_sharing"]

NdArray = np.ndarray[Any, Any]


def plan_sharing(
    plans: list[ArgumentPlan], values: Sequence[object], call: CallText
) -> list[ArgumentPlan]:
    """What shares elements with a written argument: a snapshot, or no second output."""
    planned = list(plans)
    arrays = [index for index, one in enumerate(plans) if _is_array(one, values[index])]
    for first, second in combinations(arrays, 2):
        if not (plans[first].written or plans[second].written):
            continue
        sharing = inspect_sharing(cast(NdArray, values[first]), cast(NdArray, values[second]))
        if sharing == "apart":
            continue
        if plans[first].written and plans[second].written:
            other = plans[first].parameter.name
            planned[second] = _refuse_shared(planned[second], other, sharing, call)
        elif plans[first].written:
            planned[second] = _snapshot(planned[second], plans[first], sharing)
        else:
            planned[first] = _snapshot(planned[first], plans[second], sharing)
    return _plan_lists(planned, values, call)


def _plan_lists(
    plans: list[ArgumentPlan], values: Sequence[object], call: CallText
) -> list[ArgumentPlan]:
    """One list or set under two names, of which the kernel writes one or both.

    Pyccel's C wrapper refills each list from what the kernel has of it, one after the other.
    """
    planned = list(plans)
    lists = [at for at, one in enumerate(plans) if one.type.container in ("list", "set")]
    for first, second in combinations(lists, 2):
        if values[first] is not values[second]:
            continue
        if plans[first].written and plans[second].written:
            other = plans[first].parameter.name
            planned[second] = _refuse_shared(planned[second], other, "shared", call)
        elif plans[first].written:
            planned[second] = _snapshot_list(planned[second], plans[first])
        elif plans[second].written:
            planned[first] = _snapshot_list(planned[first], plans[second])
    return planned


def _is_array(plan: ArgumentPlan, value: object) -> bool:
    return plan.type.is_array and isinstance(value, np.ndarray)


def _snapshot(plan: ArgumentPlan, output: ArgumentPlan, sharing: Sharing) -> ArgumentPlan:
    """The plan of an input that is read as it was before the kernel wrote `output`."""
    other = output.parameter.name
    planned = replace(plan, shares_with=other)
    if "COPY" in (plan.action, output.action):
        # Once is enough: the kernel has a copy of this one already, or it writes a copy of the
        # other, and the caller's memory changes only when it has ended.
        return planned
    nbytes = plan.facts.nbytes if plan.facts is not None else 0
    reason = f"{_SHARES[sharing]} {other}, which the kernel writes"
    return replace(planned, action="COPY", reason=reason, bytes_in=nbytes)


def _snapshot_list(plan: ArgumentPlan, output: ArgumentPlan) -> ArgumentPlan:
    """The plan of a list that is read as it was before the kernel wrote it as `output`."""
    other, kind = output.parameter.name, plan.type.container
    reason = f"to a {kind} of its own, because {other}, which the kernel writes, is the same {kind}"
    return replace(plan, action="CONVERT", reason=reason, shares_with=other)


_SHARES: Final[Mapping[Sharing, str]] = {
    "shared": "shares elements with",
    "undecided": "may share elements (too many strides to prove otherwise) with",
}


def _refuse_shared(
    plan: ArgumentPlan, other: str, sharing: Sharing, call: CallText
) -> ArgumentPlan:
    """The plan of an output that shares elements with the output `other`."""
    if plan.action == "REFUSE":
        return plan
    refusal = Refusal(
        error="value",
        found=f"{plan.parameter.name} {_SHARES[sharing]} {other}, and the kernel writes both",
        need="outputs that share no element",
        fix=copy_text(plan, call),
    )
    return refuse(plan, refusal)
