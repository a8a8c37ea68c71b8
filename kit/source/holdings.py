"""Which objects of one body hold what, given what the functions that it calls keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kit.source.library_calls import is_array_method
from kit.source.parameters import IN_MODULE, IN_RESULT
from kit.source.roots import Body, Shared, join_roots, pair_arguments, resolve_roots
from kit.source.storage import CallFact, Origins

__all__ = ["Holdings", "Keeping"]

# An attribute of an attribute; no array has as many axes.
_INSIDE: Final = -64


@dataclass(slots=True)
class Keeping:
    """One function, and what is known so far of what it keeps.

    `keeps` holds pairs of a keeper and a parameter, `inside` the keepers of which an object inside
    may be the keeper: `outer.inner.x = x`. `gives_objects` where Python can get at an object by
    another name: it is put into another one, or an object that was passed is returned.
    `makes_objects` where it returns any object.
    """

    body: Body
    keeps: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    inside: set[str] = field(default_factory=set[str])
    returned: dict[str, int] = field(default_factory=dict[str, int])
    gives_objects: bool = False
    makes_objects: bool = False

    def learned(self) -> tuple[object, ...]:
        """Changes whenever something is learned."""
        return len(self.keeps), len(self.inside), dict(self.returned), self.makes_objects

    def can_hold(self, root: str) -> bool:
        """Whether a parameter, or what a call has made, may have attributes."""
        return self.body.ranks.get(root) is None


class Holdings:
    """Which objects of one body hold what, in no order of time.

    Parameters
    ----------
    function : Keeping
        The function with this body.
    every : mapping of str to sequence of Keeping
        What a call may run, by `CallFact.callee`; unknown is whatever is missing.

    Attributes
    ----------
    inside : set of str
        Objects of which one inside may have been given something.
    nests : bool
        Whether an object is put into another one.
    """

    def __init__(self, function: Keeping, every: Mapping[str, Sequence[Keeping]]) -> None:
        self._function = function
        self._every = every
        self._shared: Shared = {name: {name: 0} for name in function.body.parameters}
        self._held: dict[str, set[str]] = {}
        self.inside: set[str] = set()
        self.nests = False
        facts = function.body.facts
        # What may be an object of a class; other calls give arrays and scalars.
        self._made = {
            call.result
            for call in [*facts.calls, *facts.uses]
            if any(one.makes_objects for one in every.get(call.callee, ()))
        } | {call.result for call in facts.uses if call.callee[0] != "."}
        self._fill()

    def resolve(self, origins: Origins) -> dict[str, int]:
        """The parameters and results of calls behind some names."""
        return resolve_roots(self._shared, origins, self._function.body.ranks)

    def is_object(self, root: tuple[str, int]) -> bool:
        """Whether a value may be an object as a whole, given its root and the axes taken away."""
        name, dropped = root
        is_made = name in self._made or name in self._function.body.parameters
        return is_made and self._function.can_hold(name) and dropped > _INSIDE // 2

    def closure(self, root: str) -> set[str]:
        """Everything that an object holds, and what that holds."""
        found: set[str] = set()
        pending = [root]
        while pending:
            fresh = self._held.get(pending.pop(), set()) - found
            found |= fresh
            pending += fresh
        return found

    def _fill(self) -> None:
        self._share()
        facts = self._function.body.facts
        for one in facts.holds:
            self._hold(one.container, one.value)
            self.nests |= any(map(self.is_object, self.resolve(one.value).items()))
        for call in [*facts.calls, *facts.uses]:
            callees = self._every.get(call.callee, ())
            for callee in callees:
                self._hold_as(call, callee)
            if not callees and not is_array_method(call.callee):
                self._hold_all(call)
        self._hold_operands()
        for root in list(self.inside):
            # Any object inside may be the one that was given something.
            for one in self.closure(root):
                if self._function.can_hold(one):
                    self._held.setdefault(one, set()).update(self._held[root] - {one})

    def _share(self) -> None:
        body = self._function.body
        calls = [*body.facts.calls, *body.facts.uses]
        self._shared |= {call.result: {call.result: 0} for call in calls}
        growing = True
        while growing:
            growing = False
            for target, origins in body.facts.binds:
                growing |= join_roots(self._shared, target, origins, body.ranks)
            for call in calls:
                for callee in self._every.get(call.callee, ()):
                    for parameter, origins in pair_arguments(call, callee.body):
                        dropped = callee.returned.get(parameter)
                        if dropped is not None:
                            result = tuple((name, n + dropped) for name, n in origins)
                            growing |= join_roots(self._shared, call.result, result, body.ranks)

    def _hold(self, container: Origins, value: Origins, *, inside: bool = False) -> None:
        roots = self.resolve(container)
        if not roots or any(name not in self._shared for name, _ in container):
            roots = {**roots, IN_MODULE: 0}
        values = self.resolve(value)
        for root, dropped in roots.items():
            if root != IN_MODULE and not self._function.can_hold(root):
                continue
            self._held.setdefault(root, set()).update(one for one in values if one != root)
            if inside or dropped < 0:
                self.inside.add(root)

    def _hold_as(self, call: CallFact, callee: Keeping) -> None:
        """What a known function keeps of what this call gives it."""
        given: dict[str, Origins] = {IN_RESULT: ((call.result, 0),), IN_MODULE: ()}
        for parameter, origins in pair_arguments(call, callee.body):
            given[parameter] = (*given.get(parameter, ()), *origins)
        for keeper, kept in callee.keeps:
            if keeper in given and kept in given:
                self._hold(given[keeper], given[kept], inside=keeper in callee.inside)

    def _hold_all(self, call: CallFact) -> None:
        """A function of unknown body may keep anything in any object."""
        given = [*call.positional, *call.keywords.values(), call.spread]
        every = tuple(origin for one in given for origin in one)
        unknown = tuple(one for one in every if one[0] not in self._shared)
        for root in self.resolve((*every, (call.result, 0))):
            self._hold(((root, _INSIDE), *unknown), every)

    def _hold_operands(self) -> None:
        """Operators of the cell's classes may keep their operands; whose they are is not known."""
        function = self._function
        kept = {
            method.body.ranks.get(name)
            for method in _operators(self._every)
            for name in {one for _, one in method.keeps}
        }
        if kept:
            for one in function.body.facts.operands:
                roots = self.resolve(one.origins)
                fitting = [root for root in roots if function.body.ranks.get(root) in kept]
                self._hold((), tuple((root, 0) for root in fitting))


def _operators(every: Mapping[str, Sequence[Keeping]]) -> Iterable[Keeping]:
    for name, methods in every.items():
        if name.startswith(".__") and name != ".__init__":
            yield from methods
