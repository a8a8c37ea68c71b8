"""What the boundary does with one argument of a call, and the ways in which that can change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kit.boundary.array_fit import judge_array
from kit.boundary.call_text import CallText
from kit.boundary.containers import judge_container
from kit.boundary.refusals import array_fix, describe_value
from kit.boundary.scalars import judge_scalar
from kit.boundary.verdict import PASS, ErrorKind, Refusal, Verdict
from kit.layout import LayoutFacts
from kit.signature import IN_MODULE, IN_RESULT, ArgumentType, Parameter
from kit.terms import Action, Language

__all__ = [
    "ArgumentPlan",
    "copy_text",
    "plan_argument",
    "refuse",
    "refuse_copy",
    "refuse_empty",
    "refuse_kept",
]


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
        began. "PASS" then means that the kernel writes a copy of the other.
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
    def declared(self) -> str:
        """The type, as an annotation."""
        return self.type.text

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


def plan_argument(
    parameter: Parameter,
    expected: ArgumentType,
    value: object,
    language: Language,
    call: CallText,
    module: object = None,
) -> ArgumentPlan:
    """Decide one argument by itself; whether it shares elements with others comes later.

    Parameters
    ----------
    parameter : Parameter
        What the kernel declares.
    expected : ArgumentType
        The type, of those that the parameter may have, that is tried.
    value : object
        What was passed.
    language : {"fortran", "c"}
        What the kernel was translated to.
    call : CallText
        The call, for the fix.
    module : object
        The extension module that the kernel is in, for its classes; None where it is not known.
    """
    if value is None and parameter.default is None:
        verdict = PASS  # an optional argument that is absent
    elif expected.container is not None:
        verdict = judge_container(
            parameter.name,
            value,
            expected,
            written=parameter.intent != "in",
            refilled=language == "c" and not parameter.final,
            module=module,
        )
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
    return plan if verdict.refusal is None else refuse(plan, verdict.refusal)


def refuse(plan: ArgumentPlan, refusal: Refusal) -> ArgumentPlan:
    """The plan of an argument that is refused."""
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


def copy_text(plan: ArgumentPlan, call: CallText) -> str:
    """Lines that copy under another name: the caller may have passed one variable twice."""
    name, copied = plan.parameter.name, f"{plan.parameter.name}_copy"
    order = f'order="{plan.type.order}"' if plan.type.rank > 1 else ""
    text = f"{name}.copy({order})"
    if plan.facts is not None and not plan.facts.native:
        text = f"{name}.astype(np.{plan.type.dtype}{', ' + order if order else ''})"
    return f"{copied} = {text}\n{call.replacing(name, copied)}"


def refuse_empty(plan: ArgumentPlan) -> ArgumentPlan:
    """The plan of an array without elements where only compiled C could take it."""
    return _refused(
        plan,
        found=f"{plan.shows}: no elements",
        need="at least one element, because Pyccel's C wrapper refuses empty arrays",
        fix="recompile the cell with language='fortran' (%%pyccel_kernel -l fortran)",
    )


def refuse_copy(plan: ArgumentPlan, value: object, call: CallText) -> ArgumentPlan:
    """Under the policy "strict": what would be copied is refused, with the copy as the fix."""
    if plan.shares_with is not None:
        fix = copy_text(plan, call)
    else:
        fix = array_fix(plan.parameter.name, value, plan.type, written=plan.written, call=call)
    return _refused(
        plan,
        found=f"{plan.shows}: {plan.reason}",
        need=f"{plan.type.text} without a copy, because policy is 'strict'",
        fix=fix,
    )


def refuse_kept(plan: ArgumentPlan, value: object, call: CallText) -> ArgumentPlan:
    """The plan of an array that the kernel keeps, and of which it could only get a copy."""
    name, keeper = plan.parameter.name, plan.parameter.kept_by[0]
    where = {IN_RESULT: "the returned object", IN_MODULE: "an object"}.get(keeper, keeper)
    if plan.shares_with is not None:
        fix = copy_text(plan, call)
    else:
        fix = array_fix(name, value, plan.type, written=False, call=call)
    first, *others = fix.splitlines()
    fix = "\n".join([f"{first}  # {where} then points at this array", *others])
    return _refused(
        plan,
        found=f"{plan.shows}: {plan.reason}",
        need=f"{plan.type.text} without a copy, because {where} keeps {name} after the call",
        fix=fix,
    )


def _refused(plan: ArgumentPlan, *, found: str, need: str, fix: str) -> ArgumentPlan:
    return refuse(plan, Refusal(error="value", found=found, need=need, fix=fix))
