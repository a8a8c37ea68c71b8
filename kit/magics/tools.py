"""Line magics around kernels: the store, generated source, plans and logs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from kit.cache import open_store
from kit.errors import BuildError, CellError, KitError, clean_text
from kit.kernel import PyccelKernel
from kit.magics.binding import session_of
from kit.magics.cache_report import cache_report
from kit.magics.frontend import namespace_of
from kit.magics.options import ParsedLine, parse_line
from kit.magics.rendering import say, short_errors, shorten
from kit.magics.specs import MagicSpec, Option, Positional
from kit.stale import StaleKernel

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from kit.cuda.arguments import CudaCallPlan
    from kit.magics.source_text import SourceText
    from kit.plan import CallPlan

__all__ = ["KIT_CACHE", "KIT_LOG", "KIT_PLAN", "KIT_SOURCE", "ToolMagics"]

KIT_CACHE = MagicSpec(
    name="kit_cache",
    is_cell=False,
    summary=(
        "List, measure, empty or check the store of compiled cells.\n\n"
        "`clear` deletes what is stored; loaded kernels keep working. `verify` reads every\n"
        "artifact and reports those that are not what was stored."
    ),
    positional=Positional(metavar="ACTION", choices=("list", "size", "clear", "verify")),
    example="%kit_cache size",
)

KIT_SOURCE = MagicSpec(
    name="kit_source",
    is_cell=False,
    summary=(
        "Show the Fortran or C that a kernel was translated to, or the PTX of a CUDA kernel.\n\n"
        "Of a pair it shows both. Where a build kept no PTX it shows the kernel's own text."
    ),
    options=(Option(name="all", short="a", help="also the files that bind it to Python"),),
    positional=Positional(metavar="NAME", completes="kernels"),
    example="%kit_source slope",
)

KIT_PLAN = MagicSpec(
    name="kit_plan",
    is_cell=False,
    summary=(
        "Say what a call would do to each argument, and why. The kernel does not run.\n\n"
        "The arguments are evaluated in the notebook; the plan is the result."
    ),
    positional=Positional(metavar="f(a, b)", completes="kernels"),
    takes_expression=True,
    example="%kit_plan slope(z.T, out)",
)

KIT_LOG = MagicSpec(
    name="kit_log",
    is_cell=False,
    summary=(
        "Show everything that the toolchain printed when a name was last built.\n\n"
        "After a failed build that is the log of the failure, with all of its errors."
    ),
    positional=Positional(metavar="NAME", completes="kernels"),
    example="%kit_log slope",
)


class ToolMagics:
    """The line magics of one shell.

    Parameters
    ----------
    shell : InteractiveShell
        Where names are looked up.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def kit_cache(self, line: str) -> None:
        """Print what the store says, or empty it."""
        with short_errors(self._shell):
            action = parse_line(KIT_CACHE, line).words[0].text
            say(cache_report(open_store(), action))

    def kit_source(self, line: str) -> SourceText | None:
        """Show generated source."""
        with short_errors(self._shell):
            parsed = parse_line(KIT_SOURCE, line)
            kernel = self._kernel(KIT_SOURCE, line, parsed)
            if isinstance(kernel, StaleKernel):
                if kernel.previous is None:
                    raise _no_such(
                        KIT_SOURCE,
                        line,
                        parsed,
                        "has never been built",
                        fix=f"%kit_log {parsed.words[0].text} shows why its last build failed",
                    )
                kernel = kernel.previous
            # Imported here: without CUDA kernels it would be all that asks for their modules.
            from kit.magics.shown_source import shown_source

            shown = shown_source(kernel, everything=parsed.has("all"))
            if shown is None:
                raise _no_such(KIT_SOURCE, line, parsed, "has no generated source")
            return shown

    def kit_log(self, line: str) -> None:
        """Print the whole log of the last build of a name."""
        with short_errors(self._shell):
            parsed = parse_line(KIT_LOG, line)
            name = parsed.words[0].text
            failure = session_of(self._shell).failures.get(name)
            if failure is not None:
                say(_failure_log(failure))
                return
            kernel = self._kernel(KIT_LOG, line, parsed)
            text = kernel.log if isinstance(kernel, PyccelKernel) else repr(kernel)
            say(clean_text(text) or f"the toolchain printed nothing about {name}")

    def kit_plan(
        self, line: str, local_ns: Mapping[str, object] | None = None
    ) -> CallPlan | CudaCallPlan:
        """The plan of a call whose arguments are evaluated here and now."""
        with short_errors(self._shell):
            call = _parse_call(line)
            scope = {**namespace_of(self._shell), **(local_ns or {})}
            try:
                function, args, kwargs = _evaluate(call, scope)
            except Exception as error:
                shorten(self._shell, error)  # the user's own expression; no frame of kit helps
                raise
            name = ast.unparse(call.func)
            if isinstance(function, StaleKernel):
                function()  # raises and says why
            if not isinstance(function, PyccelKernel):
                raise KIT_PLAN.error(
                    line,
                    f"{name} is no kernel but {type(function).__name__}",
                    start=0,
                    fix=self._kernels_hint(KIT_PLAN),
                )
            try:
                return function.plan(*args, **kwargs)
            except TypeError as error:  # too many arguments, or too few
                shorten(self._shell, error)
                raise

    def kernel_names(self) -> list[str]:
        """Names that hold a kernel or the stub of one."""
        return [
            name
            for name, value in namespace_of(self._shell).items()
            if isinstance(value, PyccelKernel | StaleKernel) and not name.startswith("_")
        ]

    def _kernel(self, spec: MagicSpec, line: str, parsed: ParsedLine) -> PyccelKernel | StaleKernel:
        name = parsed.words[0].text
        value = namespace_of(self._shell).get(name)
        if isinstance(value, PyccelKernel | StaleKernel):
            return value
        what = "is not defined" if value is None else f"is no kernel but {type(value).__name__}"
        raise _no_such(spec, line, parsed, what, fix=self._kernels_hint(spec))

    def _kernels_hint(self, spec: MagicSpec) -> str:
        names = self.kernel_names()
        if not names:
            return "run a %%pyccel_kernel or %%cuda_kernel cell first"
        call = "(...)" if spec.takes_expression else ""
        return f"the kernels here are {', '.join(names)}: {spec.prefix} {names[-1]}{call}"


def _no_such(
    spec: MagicSpec, line: str, parsed: ParsedLine, what: str, fix: str | None = None
) -> CellError:
    word = parsed.words[0]
    return spec.error(
        line,
        f"{word.text} {what}",
        start=word.start,
        fix=fix or "run its cell again with --force",
    )


def _failure_log(failure: KitError) -> str:
    parts = [str(failure)]
    if isinstance(failure, BuildError):
        if failure.others:
            parts.append("further errors:\n" + "\n".join(f"  {one}" for one in failure.others))
        if failure.log:
            parts.append("log:\n" + failure.log)
    return clean_text("\n\n".join(parts))


def _parse_call(line: str) -> ast.Call:
    text = line.strip()
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise KIT_PLAN.error(
            line,
            f"this is no Python expression: {error.msg}",
            start=max(0, (error.offset or 1) - 1),
            fix=KIT_PLAN.example,
        ) from None
    except ValueError as error:
        raise KIT_PLAN.error(line, str(error), start=0, fix=KIT_PLAN.example) from None
    if not isinstance(tree, ast.Call):
        raise KIT_PLAN.error(
            line, "this is no call", start=0, fix=f"%kit_plan {text or 'f'}(...) with its arguments"
        )
    return tree


def _evaluate(
    call: ast.Call, scope: dict[str, object]
) -> tuple[object, Sequence[object], Mapping[str, object]]:
    """The call's function and arguments, each evaluated once and in Python's order."""

    def capture(
        function: object, /, *args: object, **kwargs: object
    ) -> tuple[object, Sequence[object], Mapping[str, object]]:
        return function, args, kwargs

    name = "__kit_capture__"
    tree = ast.Call(
        func=ast.Name(id=name, ctx=ast.Load()), args=[call.func, *call.args], keywords=call.keywords
    )
    expression = ast.fix_missing_locations(ast.Expression(body=ast.copy_location(tree, call)))
    found = eval(compile(expression, "<%kit_plan>", "eval"), {**scope, name: capture})
    return cast("tuple[object, Sequence[object], Mapping[str, object]]", found)
