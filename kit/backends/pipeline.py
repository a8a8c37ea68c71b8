"""Run Pyccel's pipeline on one unit; only this module and `bundled` touch Pyccel's own objects.

Pyccel has no types, keeps its state in globals and writes to the current directory. Here it meets
one request at a time in a process (or at least a directory) of its own, with three things replaced,
all of them checked against Pyccel 2.2.3:

- `Compiler.run_command`, so that compilers run side by side with exactly kit's flags;
- `PyccelStage.set_stage`, to report progress;
- the search for STC and gFTL, two libraries inside Pyccel's own package, which needs the programs
  pkg-config and cmake and fails obscurely without them.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from kit.backends.bundled import bundle_libraries
from kit.backends.commands import WRAPPER_MARK, Commands, CommandSettings, CompilerError
from kit.backends.compiler_facts import compiler_version, find_run_path
from kit.backends.diagnostics import from_compiler, from_crash, from_pyccel, from_python
from kit.backends.files_read import FilesRead
from kit.backends.imports import bring_user_modules
from kit.backends.protocol import CompileReply, CompileRequest, Diagnostic
from kit.backends.source import with_harmless_comments, without_keyword_only
from kit.backends.wrapper_library import WrapperLibrary
from kit.toolchain import DEFAULT_FLAGS

__all__ = ["load_pyccel", "translate"]

_STAGE_SHOWN = {
    "syntactic": "parsing",
    "semantic": "translating",
    "codegen": "translating",
    "cwrapper": "wrapping",
}
_LOG_LIMIT = 1_000_000  # characters; a build that prints more is a fault, and its log is not read


def load_pyccel() -> None:
    """Import all that a translation needs; takes about 0.4 s."""
    import_module("pyccel.codegen.pipeline")


def translate(
    request: CompileRequest,
    *,
    on_stage: Callable[[str], None],
    read_log: Callable[[], str],
    library: WrapperLibrary | None = None,
) -> CompileReply:
    """Translate and compile; changes the working directory, the environment and Pyccel's globals.

    Parameters
    ----------
    request : CompileRequest
        What to do; `scratch` exists.
    on_stage : callable
        Called with the name of each stage when it begins.
    read_log : callable
        Gives what has been printed so far.
    library : WrapperLibrary or None
        Compiled support code to use instead of compiling it, where it fits.

    Returns
    -------
    CompileReply
        Failures of the source or of the tools are replies, not exceptions.
    """
    # The current directory is the worker's own until the run changes to the scratch one.
    files = FilesRead(exclude=(request.scratch, str(Path.cwd())))
    run = _Run(request=request, report=on_stage, library=library, files=files)
    started = time.perf_counter()
    diagnostics = from_python(request.source)
    if not diagnostics:
        with files:
            diagnostics = run.execute()
    run.seconds["total"] = time.perf_counter() - started
    artifact = run.artifact if run.artifact.is_file() else None
    ok = artifact is not None and all(one.severity == "warning" for one in diagnostics)
    return CompileReply(
        ok=ok,
        diagnostics=tuple(diagnostics),
        log=_shortened(read_log()),
        artifact=str(artifact) if ok else None,
        generated=run.generated(),
        files=files.digests(),
        seconds=run.seconds,
        compiler=compiler_version(request.compilers.get(request.language)),
    )


@dataclass(slots=True, kw_only=True)
class _Run:
    """One translation."""

    request: CompileRequest
    report: Callable[[str], None]
    library: WrapperLibrary | None
    files: FilesRead
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    _stage: str = "starting"
    _since: float = field(default_factory=time.perf_counter)

    @property
    def scratch(self) -> Path:
        return Path(self.request.scratch)

    @property
    def artifact(self) -> Path:
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        return self.scratch / f"{self.request.module_name}{suffix}"

    def on_stage(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._since = now
        if stage != self._stage:
            self._stage = stage
            self.report(stage)

    def execute(self) -> list[Diagnostic]:
        """Translate the user's modules, then the unit."""
        os.chdir(self.scratch)
        os.environ.update(self.request.environment)
        # Compilers' own temporary files: the store may have room where /tmp has none.
        os.environ["TMPDIR"] = str(self.scratch)
        errors: Any = import_module("pyccel.errors.errors").Errors()
        unit = self.scratch / f"{self.request.module_name}.py"
        translated = with_harmless_comments(without_keyword_only(self.request.source))
        unit.write_text(translated, encoding="utf-8")
        commands = Commands(settings=self._settings(), on_stage=self.on_stage, log=_print)
        self._patch(commands)
        crash: list[Diagnostic] = []
        cause: BaseException | None = None
        try:
            self._translate_all(unit)
        except CompilerError as error:
            crash = from_compiler(
                error.output, generated=self.generated(), source=self.request.source
            )
        except Exception as error:  # Pyccel raises of everything, its own faults included
            traceback.print_exc()
            cause = error.__context__
            stage = import_module("pyccel.utilities.stage").PyccelStage().current_stage
            if not _is_pyccel_error(error):
                crash = [from_crash(error, stage=stage, source=self.request.source)]
            elif not errors.has_errors():
                crash = [Diagnostic(severity="fatal", stage=str(stage), message=str(error))]
        finally:
            commands.close()
            self.on_stage("finished")
        _print(str(errors))
        told = from_pyccel(
            errors.error_info_map, unit=unit, source=self.request.source, cause=cause
        )
        return [*crash, *told]

    def generated(self) -> dict[str, str]:
        """The sources that Pyccel wrote."""
        folder = self.scratch / "__pyccel__"
        return {
            path.name: path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(folder.glob("*"))
            if path.suffix in {".f90", ".F90", ".c", ".h"}
        }

    def _translate_all(self, unit: Path) -> None:
        pipeline: Any = import_module("pyccel.codegen.pipeline")
        recognised: Any = import_module("pyccel.ast.utilities").recognised_source
        modules = bring_user_modules(
            self.request.source, self.request.search_path, self.scratch, recognised
        )
        for module in modules:
            text = module.copy.read_bytes()
            self.files.note(module.origin, text)
            module.copy.write_text(with_harmless_comments(text.decode()), encoding="utf-8")
        config = self._write_config()
        for file in [*(module.copy for module in modules), unit]:
            pipeline.execute_pyccel(
                str(file),
                language=self.request.language,
                compiler_family=str(config),
                # Given, because the default reads a variable of the user's.
                debug=False,
                accelerators=("openmp",) if self.request.openmp else (),
                conda_warnings="off",
            )

    def _settings(self) -> CommandSettings:
        request = self.request
        if request.debug:
            flags = {"c": ("-O0", "-g"), "fortran": ("-O0", "-g", "-fcheck=bounds")}
        else:
            # STC checks the bounds of every access in C without NDEBUG. First, so that
            # --flags=-UNDEBUG wins.
            used = ("-DNDEBUG", *(DEFAULT_FLAGS if request.flags is None else request.flags))
            flags = {"c": used, "fortran": used}
        library = self.library
        if library and not library.serves(request.compilers["c"], request.environment):
            library = None
        return CommandSettings(
            scratch=self.scratch,
            unit_flags=flags,
            run_path=find_run_path(request.compilers),
            library=library,
        )

    def _write_config(self) -> Path:
        """Pyccel's own configuration for GNU compilers, with every flag that kit decides taken out.

        Its name is what Pyccel calls the family, and decides where STC is found.
        """
        available: Any = import_module("pyccel.compilers.default_compilers").available_compilers
        config = copy.deepcopy(available["GNU"])
        for language, section in config.items():
            section |= {"release_flags": [], "debug_flags": []}
            section["exec"] = self.request.compilers.get(language, section["exec"])
            section["python"] = {
                "flags": [WRAPPER_MARK, "-DNDEBUG"],
                "include": section["python"]["include"],
                "shared_suffix": section["python"]["shared_suffix"],
            }
        path = self.scratch / "GNU.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    def _patch(self, commands: Commands) -> None:
        compilers: Any = import_module("pyccel.codegen.compiling.compilers")
        stage: Any = import_module("pyccel.utilities.stage").PyccelStage

        def run_command(cmd: list[object], verbose: object) -> None:
            commands.run([str(part) for part in cmd])

        def set_stage(self_: Any, name: str) -> None:
            self_._stage = name
            if name in _STAGE_SHOWN:
                self.on_stage(_STAGE_SHOWN[name])

        # A lock that was made before the fork refuses to be taken.
        basic: Any = import_module("pyccel.codegen.compiling.basic")
        basic.CompileObj.compilation_in_progress = basic.FileLock(
            str(self.scratch / ".lock_acquisition.lock")
        )
        compilers.Compiler.run_command = staticmethod(run_command)
        stage.set_stage = set_stage
        bundle_libraries()


def _is_pyccel_error(error: BaseException) -> bool:
    kind: Any = import_module("pyccel.errors.errors").PyccelError
    return isinstance(error, kind)


def _shortened(log: str) -> str:
    if len(log) <= _LOG_LIMIT:
        return log
    half = _LOG_LIMIT // 2
    return f"{log[:half]}\n... {len(log) - _LOG_LIMIT} characters left out ...\n{log[-half:]}"


def _print(text: str) -> None:
    # One write, because compilers that run side by side log from threads.
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
