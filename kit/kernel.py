"""Story 2: a call runs. Guard, or bind -> facts -> plan -> run -> write back.

`PyccelKernel` is one callable for every host array: it checks each argument against its own
signature, copies only what must be copied, and writes declared outputs back. Calls that pass as
they are never leave the guard (`kit.guard`); read `_call_slowly` for the others.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kit.arrays import plain_array
from kit.boundary.caller import in_words_of_caller
from kit.boundary.declared import declare_signature, language_of
from kit.boundary.keywords import keyword_names
from kit.boundary.scalars import convert_scalar
from kit.boundary.view_arguments import arrays_of_views
from kit.errors import CopyWarning, KitError
from kit.guard import NOT_FAST, PythonGuard
from kit.kernel_facts import KernelFacts
from kit.provenance import CacheInfo, KernelBuild
from kit.signature import ArgumentType, Signature
from kit.targets import CHOICES, chosen_target

if TYPE_CHECKING:
    from kit.boundary.argument_plan import ArgumentPlan
    from kit.copying.pool import BufferPool
    from kit.moves import Shadows
    from kit.plan import CallPlan

    # Not at run time: Jedi raises on a property that says Literal, and Tab after a kernel's dot
    # would offer nothing.
    from kit.terms import KernelLanguage, Language, Policy, Target

__all__ = ["CacheInfo", "KernelBuild", "PyccelKernel"]

Function = Callable[..., Any]

_OWN_MODULES = frozenset({__name__, PythonGuard.__module__})


class PyccelKernel(KernelFacts):
    """One compiled function for every host array.

    A call either gives the kernel the right values in the order and dtype that it declares and
    fills its outputs, or is refused before anything was copied. Arguments that already fit are
    passed as they are.

    Parameters
    ----------
    function : callable
        The compiled function.
    outputs : sequence of str, optional
        Parameters that it writes; by default what the signature says.
    overwrites : sequence of str
        Outputs that it overwrites entirely, which then need not be copied in.
    signature : Signature or str
        What it takes; a str is the source of its definition, ``"def f(x: 'float64[:]'): ..."``.
        Where the body is only ``...``, every array that is not `Final` counts as written, unless
        `outputs` names them.
    device, object_modules : object
        Not supported by this version: KitError where they are given.
    policy : {"copy", "warn", "strict"}
        What happens where an argument must be copied: silently, with one `CopyWarning` for each
        parameter, or a refusal.
    build : KernelBuild, optional
        Given by `kit.build`.

    Raises
    ------
    TypeError
        If there is no signature: a compiled function exposes none.

    Notes
    -----
    Overlap: inputs are read as they were when the call began. Lists, tuples, sets, dictionaries
    and objects of classes are passed on as they are, and Pyccel checks them. Kernels can be
    called from several threads; the compiled function holds the GIL. Arrays that an object holds
    are not looked for: one that shares elements with a written argument is read while it is
    written. An array that the kernel leaves in an object is passed as it is or refused, and lives
    as long as the object. Memory of large copies is kept for the next call: `kit.release_buffers`.
    """

    def __init__(
        self,
        function: Function,
        *,
        outputs: Sequence[str] | None = None,
        overwrites: Sequence[str] = (),
        signature: Signature | str | None = None,
        device: object = None,
        object_modules: Sequence[str] = (),
        policy: Policy = "warn",
        build: KernelBuild | None = None,
    ) -> None:
        if device is not None:
            raise KitError("PyccelKernel: device= needs %%cuda_kernel, which comes later")
        if object_modules:
            raise KitError("PyccelKernel: arrays inside objects are not looked for yet; pass them")
        if policy not in ("copy", "warn", "strict"):
            raise ValueError(f"policy must be 'copy', 'warn' or 'strict', not {policy!r}")
        self._signature = declare_signature(function, signature, outputs, overwrites)
        self._function = function
        self._policy: Policy = policy
        self._build = build
        # Pyccel's: CudaKernel, where it can be another, does not come by here.
        language = language_of(function) if build is None else cast("Language", build.language)
        self._language: KernelLanguage = language
        self._keywords = keyword_names(
            function, self._signature, {} if build is None else build.record.generated
        )
        self._python_function: Function | None = None
        self._warned: set[str] = set()
        self._buffers: BufferPool | None = None
        self.previous: PyccelKernel | None = None
        self.__name__ = self.__qualname__ = self._signature.name
        self.__doc__ = build.doc if build is not None else function.__doc__
        self._scalars = _convertible(self._signature)
        self._arm_guard(self._signature, language, function, self._keywords)

    # ---- a call -----------------------------------------------------------------------------

    # The guard's __call__ runs what passes, and calls this for the rest.
    def _call_otherwise(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Any:
        __tracebackhide__ = True  # IPython then shows the user's frames only
        target: Target = self._resolve_target(chosen_target()) if CHOICES else "host"
        if target == "host":
            result = self._try_converted(args, kwargs)
            if result is not NOT_FAST:
                return result
        return self._call_slowly(args, kwargs, target)

    def host(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled function, whatever target is chosen."""
        result = self._fast(*args, **kwargs)
        if result is NOT_FAST:
            result = self._try_converted(args, kwargs)
        return self._call_slowly(args, kwargs, "host") if result is NOT_FAST else result

    def _try_converted(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Any:
        """The call with the arrays of views, and with its scalars in the declared types.

        NumPy integers, `x > 0`, 1 for 1.0. Where arrays pass this spares the plan, which takes
        twenty times as long.
        """
        arrays = arrays_of_views((*args, *kwargs.values()))
        if arrays is not None:
            args, kwargs = arrays[: len(args)], dict(zip(kwargs, arrays[len(args) :], strict=True))
            result = self._fast(*args, **kwargs)
            if result is not NOT_FAST:
                return result
        if kwargs or len(args) != len(self._signature.parameters):
            return NOT_FAST
        values = list(args)
        for index, expected in self._scalars:
            try:
                values[index] = convert_scalar(values[index], expected)
            except Exception:  # refused by the plan, with the reason
                return NOT_FAST
        return self._fast(*values) if self._scalars else NOT_FAST

    def python(self, *args: Any, **kwargs: Any) -> Any:
        """Run the cell's own Python, uncompiled: breakpoints and exceptions work.

        The same arguments are refused as by the compiled function, scalars are converted alike
        and inputs that share elements with an output are snapshot alike, so that results agree;
        other arrays are used as they are, without a copy. Where the cell raises, outputs keep
        what it wrote until then.
        """
        __tracebackhide__ = True  # IPython then shows the user's frames only
        return self._call_slowly(args, kwargs, "python")

    def plan(self, *args: Any, **kwargs: Any) -> CallPlan:
        """What a call with these arguments would do; nothing is copied or run."""
        from kit.moves import plan_moves, shadow_arguments

        given = self._signature.bind(args, kwargs)
        values = arrays_of_views(given) or given
        shadows = shadow_arguments(values)
        if shadows is None:
            return self._plan(values)
        return plan_moves(self._plan(shadows.values, moves=True), shadows)

    def _plan(
        self, values: Sequence[object], target: Target = "host", *, moves: bool = False
    ) -> CallPlan:
        # Imported here: a notebook whose calls all pass never needs it, and it takes 6 ms.
        from kit.plan import plan_call

        return plan_call(
            self.__name__,
            self._signature,
            values,
            # What moves is laid out anew, whatever its order was.
            policy="copy" if moves else self._policy,
            language=cast("Language", self._language),
            uncompiled=self._build is not None and self._build.load_python is not None,
            # Uncompiled, objects are of the class that the cell's own Python made.
            module=None if target == "python" else getattr(self._function, "__self__", None),
        )

    def _call_slowly(
        self, args: Sequence[object], kwargs: Mapping[str, object], target: Target
    ) -> Any:
        __tracebackhide__ = True
        from kit.moves import shadow_arguments

        given = self._signature.bind(args, kwargs)
        values = arrays_of_views(given) or given
        shadows = shadow_arguments(values)
        if shadows is not None:
            return self._call_on_host(given, values, shadows, target)
        return self._run_planned(self._accepted_plan(given, values, target), values, target)

    def _call_on_host(
        self,
        given: Sequence[object],
        values: Sequence[object],
        shadows: Shadows,
        target: Target,
    ) -> Any:
        """A call with device arrays, which move to the host, and back where they are written."""
        __tracebackhide__ = True
        from kit.interrupts import deferred_interrupts
        from kit.moves import move_to_host, plan_moves, write_back_to_device

        plan = plan_moves(self._plan(shadows.values, target, moves=True), shadows)
        self._refuse(plan, given, values)
        with deferred_interrupts():
            hosts = move_to_host(values, plan)
            # Planned again as a call of the host: an array that is input and output is now one.
            inner = self._accepted_plan(given, hosts, target)
            result = self._run_planned(inner, hosts, target)
            write_back_to_device(values, hosts, plan)
        return result

    def _accepted_plan(
        self, given: Sequence[object], values: Sequence[object], target: Target
    ) -> CallPlan:
        __tracebackhide__ = True
        plan = self._plan(values, target)
        self._refuse(plan, given, values)
        return plan

    def _refuse(self, plan: CallPlan, given: Sequence[object], values: Sequence[object]) -> None:
        """Raise the refusal of a plan, if it has one, in the words of the caller's line."""
        __tracebackhide__ = True
        refusal = plan.refusal()
        if refusal is not None:
            views = {
                one.name
                for one, value, array in zip(self._signature.parameters, given, values, strict=True)
                if array is not value
            }
            raise in_words_of_caller(refusal, self._signature, views)

    def _run_planned(self, plan: CallPlan, values: Sequence[object], target: Target) -> Any:
        __tracebackhide__ = True
        # From here on an array is its elements, whatever a subclass makes of them: as compiled.
        values = [_plain(one) for one in values]
        if target == "python" or plan.target == "python":
            return self._run_python(plan, values)
        if self._warn_of_copies(plan):
            plan = self._plan(values)  # whoever shows warnings may have changed the arguments
            refusal = plan.refusal()
            if refusal is not None:
                raise refusal
        if any(one.action == "COPY" and one.written for one in plan.arguments):
            from kit.interrupts import deferred_interrupts

            with deferred_interrupts():
                return self._run_on_copies(plan, values)
        return self._run_on_copies(plan, values)

    def _run_on_copies(self, plan: CallPlan, values: Sequence[object]) -> Any:
        __tracebackhide__ = True
        # Imported here as the plan is: what copies nothing needs neither.
        from kit.copying.pool import BufferPool
        from kit.transfer import prepare_arguments, write_back_outputs

        if self._buffers is None:  # of two threads that find it so, one has a pool for one call
            self._buffers = BufferPool()
        prepared = prepare_arguments(values, plan.arguments, self._buffers)
        run = self._run_and_hold if self._signature.keeps else self._run_host
        result = run(prepared)
        write_back_outputs(values, prepared, plan.arguments)
        return result

    def _run_and_hold(self, prepared: Sequence[object]) -> Any:
        """Run a kernel that leaves arguments in objects, which then hold no reference to them."""
        __tracebackhide__ = True
        from kit.keepers import hold_arguments, hold_result

        parameters = self._signature.parameters
        hold_arguments(parameters, prepared)
        result = self._run_host(prepared)
        hold_result(parameters, prepared, result)
        return result

    def _run_host(self, prepared: Sequence[object]) -> Any:
        return self._run(self._function, prepared, self._keywords)

    def _run_python(self, plan: CallPlan, values: Sequence[object]) -> Any:
        __tracebackhide__ = True
        prepared = [
            _for_python(value, one) for value, one in zip(values, plan.arguments, strict=True)
        ]
        return self._run(self._load_python(), prepared, {name: name for name in self._keywords})

    def _run(
        self, function: Function, prepared: Sequence[object], keywords: Mapping[str, str]
    ) -> Any:
        """Call with what has a keyword passed under it, and everything else by position."""
        __tracebackhide__ = True
        if not keywords:
            return function(*prepared)
        pairs = [
            (one.name, value)
            for one, value in zip(self._signature.parameters, prepared, strict=True)
        ]
        positional = [value for name, value in pairs if name not in keywords]
        return function(
            *positional, **{keywords[name]: value for name, value in pairs if name in keywords}
        )

    def _load_python(self) -> Function:
        if self._python_function is None:
            load = None if self._build is None else self._build.load_python
            if load is None:
                raise KitError(
                    f"{self.__name__} has no Python source: it wraps a compiled function; "
                    "compile the source with kit.pyccel_kernel to have the target 'python'"
                )
            self._python_function = load()
        return self._python_function

    def _resolve_target(self, chosen: Target | None) -> Target:
        if chosen == "python":
            return "python"
        if chosen == "device":
            raise KitError(
                f"{self.__name__} has no device build; call {self.__name__}.host(...), "
                "or leave the block of kit.use_target('device')"
            )
        return "host"  # also under "emulator", which only CUDA cells have

    def _warn_of_copies(self, plan: CallPlan) -> bool:
        """Say once for each argument that it is copied; whether anything was said."""
        said = False
        if self._policy != "warn":
            return said
        for one in plan.arguments:
            name = one.parameter.name
            if one.action != "COPY" or name in self._warned:
                continue
            text = _copy_text(self.__name__, one)
            warnings.warn(text, CopyWarning, stacklevel=_frames_of_kit())
            # Afterwards, so that a warning that a filter made an error comes again.
            self._warned.add(name)
            said = True
        return said

    # ---- pickling, by source and options -----------------------------------------------------

    def __reduce__(self) -> tuple[object, ...]:
        build = self._build
        if build is not None and build.rebuild is not None:
            return build.rebuild, (build.unit, self.__name__, dict(build.options))
        return _wrap_again, (self._function, self._signature, self._policy)


def _convertible(signature: Signature) -> Sequence[tuple[int, ArgumentType]]:
    """Positions and types of the scalars that a call can convert without more thought."""
    if len(signature.variants) != 1 or any(one.keyword_only for one in signature.parameters):
        return ()
    return [
        (index, one)
        for index, one in enumerate(signature.variants[0])
        if not one.rank and one.container is None and one.dtype != "str"  # str() takes anything
    ]


def _frames_of_kit() -> int:
    """The `stacklevel` of the caller's line; only the Python guard has a frame of its own."""
    frame, level = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__") in _OWN_MODULES:
        frame, level = frame.f_back, level + 1
    return level


def _plain(value: object) -> object:
    return plain_array(cast(Any, value)) if isinstance(value, np.ndarray) else value


def _for_python(value: object, plan: ArgumentPlan) -> object:
    from kit.transfer import copy_snapshot, prepare_argument

    if plan.action == "CONVERT":
        return prepare_argument(value, plan)
    return copy_snapshot(cast(Any, value)) if plan.shares_with is not None else value


def _copy_text(kernel: str, one: ArgumentPlan) -> str:
    back = " and back" if one.bytes_out else ""
    return (
        f"{kernel}({one.parameter.name}): copied in{back} ({one.reason}); "
        "said once per argument; --policy copy never says it, --policy strict refuses"
    )


def _wrap_again(function: Function, signature: Signature, policy: Policy) -> PyccelKernel:
    return PyccelKernel(function, signature=signature, policy=policy)
