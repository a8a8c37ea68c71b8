"""How NVRTC is called for a cell, and all that its cubins depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kit.backends.cuda_packages import KIT_HEADERS, CudaPackages, describe_file
from kit.backends.find_device import find_devices
from kit.backends.packages import find_package
from kit.cuda.includes import included_files
from kit.cuda.options import CI_ARCHITECTURES, CudaOptions
from kit.cuda.stored_signature import STORED_FIELDS
from kit.errors import CellError
from kit.store.loading import sha256_hex

__all__ = [
    "PROGRAM",
    "build_identity",
    "check_flags",
    "choose_architectures",
    "nvrtc_options",
    "shown_options",
    "unknown_architecture",
]

PROGRAM: Final = "cell"
"""What NVRTC's messages call the cell."""

# Raised whenever kit builds differently from the same inputs, so that old artifacts are not found.
_RECIPE: Final = "2"

# CCCL (13.3.5) puts the architecture into the namespaces of Thrust and CUB, so that a kernel with a
# thrust::complex had another name in each cubin. That is for libraries that are linked together.
_ONE_NAME: Final = (
    "THRUST_DISABLE_ABI_NAMESPACE",
    "THRUST_IGNORE_ABI_NAMESPACE_ERROR",
    "CUB_DISABLE_NAMESPACE_MAGIC",
    "CUB_IGNORE_NAMESPACE_MAGIC_ERROR",
)

# Options of NVRTC's that kit gives by itself, or that leave no cubin; and what says the same.
_TAKEN: Final = {
    ("--gpu-architecture", "-arch"): "--arch sm_XX",
    ("--std", "-std"): "--std c++20",
    ("--include-path", "-I"): "-I DIR, whose files are watched for changes",
    ("--pre-include", "-include"): '#include "..." as the first line of the cell',
    ("--define-macro", "-D"): "-D NAME=VALUE",
    (
        "--relocatable-device-code",
        "-rdc",
        "--device-c",
        "-dc",
        "--dlink-time-opt",
        "-dlto",
    ): "nothing: a cell is one unit, and is linked with nothing",
    (
        "--pch",
        "-pch",
        "--create-pch",
        "-create-pch",
        "--use-pch",
        "-use-pch",
        "--pch-dir",
        "-pch-dir",
    ): '#include "...", whose files are watched for changes',
}


def choose_architectures(options: CudaOptions) -> tuple[str, ...]:
    """What a cell is compiled for: what its options say, the GPUs that are here, or CI's list."""
    asked = options.architectures or tuple(one.architecture for one in find_devices())
    return tuple(dict.fromkeys(asked or CI_ARCHITECTURES))


def nvrtc_options(options: CudaOptions, packages: CudaPackages) -> tuple[str, ...]:
    """Options for every architecture.

    Parameters
    ----------
    options : CudaOptions
        Of the cell.
    packages : CudaPackages
        Whose folders are searched before the user's.
    """
    folders = (*packages.include_dirs, *options.include_dirs)
    return (
        "--ptxas-options=-v",
        *(f"--include-path={one}" for one in folders),
        *(f"--define-macro={one}" for one in _ONE_NAME),
        *shown_options(options),
    )


def shown_options(options: CudaOptions) -> tuple[str, ...]:
    """Those that differ between cells, without folders: a record shows no paths."""
    checks = ["KIT_CHECK_BOUNDS=1"] if options.debug or "bounds" in options.check else []
    return (
        f"--std={options.std}",
        *(f"--define-macro={one}" for one in (*checks, *options.defines)),
        *(["--generate-line-info"] if options.debug else []),
        *options.flags,
    )


def check_flags(flags: Sequence[str]) -> None:
    """Refuse flags that would work against kit.

    Raises
    ------
    CellError
        With the option to use instead.
    """
    for flag in flags:
        for names, instead in _TAKEN.items():
            if any(_is_option(flag, name) for name in names):
                raise CellError(f"--flags cannot have {flag}", line=1, fix=f"# use {instead}")


def _is_option(flag: str, name: str) -> bool:
    # -I and -D may be followed by their value at once.
    return flag.partition("=")[0] == name or (len(name) == 2 and flag.startswith(name))


def build_identity(
    text: str, options: CudaOptions, architectures: Sequence[str], packages: CudaPackages
) -> tuple[dict[str, str], dict[str, str]]:
    """All that a build depends on, for its key; and the user's files among it, with their SHA-256.

    Starts no process and imports no compiler.
    """
    files = dict(included_files(text, options.include_dirs))
    outputs = options.outputs or {}
    identity = {
        "recipe": _RECIPE,
        "stored fields": STORED_FIELDS,
        "cuda cell": text,
        "architectures": " ".join(architectures),
        "options": "\0".join(nvrtc_options(options, packages)),
        "outputs": repr(options.outputs and sorted(outputs.items(), key=repr)),
        "template": repr(sorted(options.template.items())),
        "files": "\n".join(f"{path} {sha256}" for path, sha256 in files.items()),
        "kit headers": _headers(),
        "parser": _parser(),
        **packages.identity(),
    }
    return identity, files


def unknown_architecture(
    architectures: Sequence[str], supported: Sequence[str], compiler: str
) -> CellError:
    """The error where NVRTC does not know one of the architectures."""
    unknown = [one for one in architectures if one.rstrip("af") not in supported]
    names = ", ".join(unknown or architectures)
    newest = supported[-1] if supported else "sm_90"
    return CellError(
        f"{compiler} does not compile for {names}; it does for {', '.join(supported)}",
        line=1,
        fix=f"--arch {newest}",
    )


def _parser() -> str:
    """Which tree-sitter reads the cell: names and places of a signature are as it sees them."""
    found: list[str] = []
    for name in ("tree_sitter", "tree_sitter_cuda"):
        package = find_package(name)
        libraries = () if package is None else sorted(package.glob("_binding*"))
        found += [describe_file(one) for one in libraries]
    return " ".join(found)


def _headers() -> str:
    """Digest of kit's own headers."""
    contents = [
        f"{path.relative_to(KIT_HEADERS)} {sha256_hex(path.read_bytes())}"
        for path in sorted(KIT_HEADERS.glob("**/*.*h"))
    ]
    return sha256_hex("\n".join(contents).encode())
