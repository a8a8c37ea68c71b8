"""A CUDA cell, compiled for the CPU: from the store where it is known, else built into it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kit.backends.cuda_packages import CudaPackages, find_cuda_packages
from kit.backends.emulator.commands import INCLUDE, Toolchain, find_toolchain
from kit.backends.emulator.loaded import EmulatedCell
from kit.backends.emulator.runtime_library import Runtime, load_runtime, source_digest
from kit.backends.emulator.stored import obtain_library
from kit.backends.emulator.translation import translate_cell
from kit.cache import Built, digest, unique_module_name
from kit.cuda.includes import included_files
from kit.cuda.options import CudaOptions
from kit.cuda.signature import CudaSignature, CudaSymbol
from kit.errors import BuildError

# What only a build needs is imported there.
if TYPE_CHECKING:
    from kit.store.building import OnWait

__all__ = ["obtain"]

_KIT_HEADERS: Final = Path(__file__).parents[2] / "cuda" / "include"

DYNAMIC_SHARED_BYTES: Final = 227 * 1024
"""What a block can have at most, on compute capability 9.0 and 10.0."""

# ``extern __shared__`` arrays all begin at the same address, as on a GPU.
_DYNAMIC_SHARED: Final = """\
.section .tbss,"awT",%nobits
.p2align 7
{labels}.zero {n_bytes}
.section .note.GNU-stack,"",%progbits
"""


def obtain(
    source: str,
    kernels: Sequence[CudaSignature],
    symbols: Sequence[CudaSymbol],
    options: CudaOptions,
    *,
    files: Mapping[str, str] | None = None,
    on_progress: Callable[[str, float], None] | None = None,
    on_wait: OnWait | None = None,
) -> EmulatedCell:
    """A cell that runs on the CPU, loaded.

    Parameters
    ----------
    source : str
        Text of the cell; its first line stands for the magic line.
    kernels : sequence of CudaSignature
        Its ``__global__`` functions.
    symbols : sequence of CudaSymbol
        Its ``__constant__`` and ``__device__`` variables.
    options : CudaOptions
        How it is built.
    files : mapping of str to str, optional
        The user's files that the cell includes -> SHA-256, as they were when `kernels` and
        `symbols` were made of them: of other contents nothing is built. By default as they are.
    on_progress : callable, optional
        Called with the stage that begins ("compiling", "linking") and the time since the build
        began [s].
    on_wait : callable, optional
        Called with process number and label of a process that builds the same.

    Raises
    ------
    CellError
        The cell asks for what the CPU does not have.
    BuildError
        There is no C++ compiler, it refused the cell, what it made does not load, NVIDIA's
        headers are not installed, or `files` have changed.
    CacheError
        The store cannot be used.
    """
    toolchain = find_toolchain()
    sources = source_digest()
    runtime = load_runtime(toolchain, sources, on_wait=on_wait)
    unit = translate_cell(source, kernels, symbols, options)
    packages = find_cuda_packages()
    build = _Build(
        unit=unit,
        source=source,
        names=tuple(one.name for one in kernels),
        includes=_include_flags(options, packages),
        files=included_files(source, options.include_dirs) if files is None else files,
        options=options,
        toolchain=toolchain,
        runtime=runtime,
        on_progress=on_progress,
    )
    key = digest({**build.identity(), "kit emulator": sources, "cccl": packages.identity()["cccl"]})
    library, entry, _ = obtain_library(
        key,
        lambda scratch: build.run(scratch, unique_module_name(key)),
        label=", ".join(build.names),
        on_wait=on_wait,
        force=options.force,
        own=bool(symbols),  # each built cell has its variables for itself, as on a GPU
    )
    return EmulatedCell(library, entry.artifact, runtime, source, kernels, symbols)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """How one cell is compiled when the store does not have it."""

    unit: str
    source: str
    names: tuple[str, ...]
    includes: tuple[str, ...]
    files: Mapping[str, str]
    options: CudaOptions
    toolchain: Toolchain
    runtime: Runtime
    on_progress: Callable[[str, float], None] | None

    def identity(self) -> dict[str, str]:
        """What the library depends on, besides what comes with kit and with packages."""
        return {
            "unit": self.unit,
            "includes": " ".join(self.includes),
            # Not only what was read: a new file may come before it in the order of the search.
            "files": "\n".join(f"{path} {sha256}" for path, sha256 in self.files.items()),
            **self.toolchain.identity(),
            **self.toolchain.cell_identity(self.options.std),
        }

    def run(self, scratch: Path, module: str) -> Built:
        """Compile in `scratch`; CellError or BuildError in the cell's lines."""
        from kit.backends.emulator.commands import CompilerFailed
        from kit.backends.emulator.diagnose import build_error
        from kit.backends.emulator.refusals import refuse_what_cannot_run

        refuse_what_cannot_run(self.source, self.options)
        self._check_files()
        started = time.perf_counter()
        artifact = scratch / f"{module}.so"
        (scratch / "unit.cpp").write_text(self.unit, encoding="utf-8")
        try:
            self._stage("compiling", started)
            log = self._compile(scratch)
            self._stage("linking", started)
            log += "\n" + self._link(scratch, artifact)
        except CompilerFailed as failure:
            raise build_error(failure.output, self.source) from None
        self._check_files()
        meta = {
            "kernels": list(self.names),
            "target": "emulator",
            "log": log,
            "files": _files_read(scratch / "unit.d", exclude=self.includes),
            "seconds": {"emulator": time.perf_counter() - started},
        }
        return Built(artifact=artifact, module_name=module, meta=meta)

    def _check_files(self) -> None:
        # Signatures say where the fields of a struct lie: a header that has moved them since makes
        # another kernel, whose arguments would be packed for this one.
        if included_files(self.source, self.options.include_dirs) != self.files:
            raise BuildError(
                "a file that the cell includes has changed since the cell was built",
                fix="run the cell again",
            )

    def _stage(self, name: str, started: float) -> None:
        if self.on_progress is not None:
            self.on_progress(name, time.perf_counter() - started)

    def _compile(self, scratch: Path) -> str:
        flags = [
            *self.toolchain.cell_flags(self.options.std),
            *self.includes,
            "-MMD",
            "-MF",
            "unit.d",
        ]
        return self.toolchain.compile([*flags, "-c", "unit.cpp", "-o", "unit.o"], scratch=scratch)

    def _link(self, scratch: Path, artifact: Path) -> str:
        from kit.backends.emulator.elf import undefined_thread_locals

        parts = ["unit.o", str(self.runtime.path)]
        names = undefined_thread_locals((scratch / "unit.o").read_bytes())
        if names:
            labels = "".join(
                f'.globl "{name}"\n.hidden "{name}"\n.type "{name}", %object\n"{name}":\n'
                for name in names
            )
            text = _DYNAMIC_SHARED.format(labels=labels, n_bytes=DYNAMIC_SHARED_BYTES)
            (scratch / "shared.s").write_text(text, encoding="utf-8")
            parts.insert(1, "shared.s")
        return self.toolchain.link([*parts, "-o", str(artifact)], scratch=scratch)


def _include_flags(options: CudaOptions, packages: CudaPackages) -> tuple[str, ...]:
    # The user's last, as for NVRTC: a CUDA toolkit's folder has other files of these names.
    flags = [f"-I{one}" for one in (str(_KIT_HEADERS), str(INCLUDE), *options.include_dirs)]
    # libcu++ (cuda/std/...), without NVIDIA's own runtime headers, which the emulator replaces.
    return (*flags, f"-isystem{packages.cccl}")


def _files_read(dependencies: Path, *, exclude: Sequence[str]) -> dict[str, str]:
    """SHA-256 of the user's own files that a unit includes; kit's are in the key.

    System headers are left out by ``-MMD``: the compiler's identity stands for them.
    """
    text = dependencies.read_text(encoding="utf-8", errors="surrogateescape")
    paths = _make_words(text.replace("\\\n", " "))[1:]
    own = str(INCLUDE) + "/"
    return {
        path: hashlib.sha256(Path(path).read_bytes()).hexdigest()
        for path in paths
        if not path.startswith(own) and path != "unit.cpp"
    }


def _make_words(text: str) -> list[str]:
    r"""Words of a rule of make, in which ``\ `` is a space.

    Examples
    --------
    >>> _make_words("unit.o: a\\ b.h c.h")
    ['unit.o:', 'a b.h', 'c.h']
    """
    marked = text.replace("\\ ", "\0").replace("$$", "$").replace("\\#", "#")
    return [word.replace("\0", " ") for word in marked.split()]
