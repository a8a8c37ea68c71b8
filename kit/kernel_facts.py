"""What a kernel is, whatever runs it: signature, source, build, what it is equal to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from kit.boundary.describe import describe_kernel, describe_stub
from kit.guard import PythonGuard, armed_by_table, find_guard
from kit.provenance import CacheInfo, KernelBuild
from kit.show.stability import is_stable_output
from kit.signature import Signature
from kit.trace import BuildRecord

if TYPE_CHECKING:
    import inspect

    # Not at run time: Jedi raises on a property that says Literal, and Tab after a kernel's dot
    # would offer nothing.
    from kit.terms import KernelLanguage, Policy, Target

__all__ = ["KernelFacts"]

_compiled_guard = find_guard()
if TYPE_CHECKING:
    _Guard = PythonGuard
else:
    _Guard = PythonGuard if _compiled_guard is None else armed_by_table(_compiled_guard)


class KernelFacts(_Guard):
    """Everything about a kernel but its calls; `PyccelKernel` fills it in."""

    __name__: str
    _signature: Signature
    _function: Callable[..., Any]
    _policy: Policy
    _language: KernelLanguage
    _build: KernelBuild | None

    @property
    def signature(self) -> Signature:
        """Parameters, types and intents."""
        return self._signature

    @property
    def __signature__(self) -> inspect.Signature:
        return self._signature.to_inspect()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the parameters that the kernel writes."""
        return self._signature.outputs

    @property
    def language(self) -> KernelLanguage:
        """What Pyccel translated it to; "cuda" for a CUDA kernel."""
        return self._language

    @property
    def policy(self) -> Policy:
        """What happens where an argument must be copied."""
        return self._policy

    @property
    def guard(self) -> str:
        """Which fast path it has, "compiled" or "python"; KIT_GUARD=python asks for the latter."""
        return "python" if _compiled_guard is None else "compiled"

    @property
    def compiled(self) -> Callable[..., Any]:
        """The bare compiled function, without any check."""
        return self._function

    @property
    def targets(self) -> tuple[Target, ...]:
        """Where it can run."""
        has_python = self._build is not None and self._build.load_python is not None
        return ("python", "host") if has_python else ("host",)

    @property
    def source(self) -> str:
        """Text of the function; empty where only its compiled form is known."""
        return "" if self._build is None else self._build.function_source

    @property
    def cell_source(self) -> str:
        """Text of the cell that it came from; empty where there is none."""
        return "" if self._build is None else self._build.cell_source

    @property
    def log(self) -> str:
        """Everything that the toolchain printed."""
        return "" if self._build is None else self._build.record.log

    @property
    def build(self) -> BuildRecord | None:
        """How it was built; None for a function that kit did not compile."""
        return None if self._build is None else self._build.record

    @property
    def provenance(self) -> KernelBuild | None:
        """Its source, and what it takes to build it again; None where kit did not compile it."""
        return self._build

    def cache_info(self) -> CacheInfo:
        """Whether the artifact was there already, why, and its key."""
        record = self.build
        if record is None:
            return CacheInfo(hit=False, reason="not compiled by kit", key="")
        return CacheInfo(hit=record.hit, reason=record.reason, key=record.key)

    def stub(self) -> str:
        """Text of a ``.pyi`` file that declares the kernel for type checkers."""
        return describe_stub(self._signature, self.__doc__)

    def __repr__(self) -> str:
        record, build = self.build, ""
        if record is not None and not is_stable_output():
            build = f"{record.key[:12]} ({record.reason})"
        facts = {
            "language": self._language,
            "writes": ", ".join(self.outputs) or "nothing",
            "targets": ", ".join(self.targets),
            "policy": self._policy,
            "build": build,
        }
        return describe_kernel(self._signature, facts)

    # ---- equality, by source and options -----------------------------------------------------

    def _identity(self) -> tuple[object, ...]:
        if self._build is not None and self._build.identity:
            return (self.__name__, self._policy, *self._build.identity)
        return (self._function, self._policy, self._signature.outputs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelFacts):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self
