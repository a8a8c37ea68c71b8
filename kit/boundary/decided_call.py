"""What is the same in the plan of every call, whatever the kernel is written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kit.boundary.verdict import ErrorKind
from kit.errors import ArgumentRefused, argument_refused
from kit.show.plan_text import plan_html, plan_text

if TYPE_CHECKING:
    # Not at run time: Jedi trips over what says Literal, see kit.kernel.
    from kit.terms import Action, Intent, Target

__all__ = ["DecidedCall"]


class _Declared(Protocol):
    """A parameter."""

    @property
    def name(self) -> str: ...
    @property
    def intent(self) -> Intent: ...


class _Argument(Protocol):
    """What happens with one argument."""

    @property
    def parameter(self) -> _Declared: ...
    @property
    def declared(self) -> str: ...
    @property
    def shows(self) -> str: ...
    @property
    def action(self) -> Action: ...
    @property
    def reason(self) -> str: ...
    @property
    def bytes_in(self) -> int: ...
    @property
    def bytes_out(self) -> int: ...
    @property
    def found(self) -> str: ...
    @property
    def need(self) -> str: ...
    @property
    def fix(self) -> str: ...
    @property
    def error(self) -> ErrorKind: ...


A = TypeVar("A", bound=_Argument)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DecidedCall(Generic[A]):
    """What a call would do; holds no array.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    arguments : tuple of ArgumentPlan or CudaArgumentPlan
        In the order of the parameters.
    target : {"python", "host", "device", "emulator"}
        Where it would run.
    """

    kernel: str
    arguments: tuple[A, ...]
    target: Target

    @property
    def refused(self) -> A | None:
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

    def __getitem__(self, name: str) -> A:
        for one in self.arguments:
            if one.parameter.name == name:
                return one
        raise KeyError(name)

    def _rows(self) -> list[dict[str, str]]:
        return [
            {
                "argument": one.parameter.name,
                "intent": one.parameter.intent,
                "declared": one.declared,
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
