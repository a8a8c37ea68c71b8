"""Builders for the artifact store: a C extension that gcc makes in 0.1 s, or any bytes."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from kit.cache import JSON, Built, digest, unique_module_name

SOURCE = """
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "%(name)s", 0, -1, 0};
PyMODINIT_FUNC PyInit_%(name)s(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL) PyModule_AddIntConstant(module, "value", %(value)d);
    return module;
}
"""

KEY = digest({"source": "one"})
OTHER_KEY = digest({"source": "two"})


def compile_module(directory: Path, module_name: str, value: int) -> Path:
    """An extension module whose attribute `value` tells one build from another."""
    source = directory / f"{module_name}.c"
    source.write_text(SOURCE % {"name": module_name, "value": value})
    artifact = directory / f"{module_name}.so"
    include = sysconfig.get_paths()["include"]
    command = ["gcc", "-shared", "-fPIC", "-O0", f"-I{include}", str(source), "-o", str(artifact)]
    subprocess.run(command, check=True, capture_output=True)
    return artifact


def module_builder(key: str, value: int) -> Callable[[Path], Built]:
    def build(scratch: Path) -> Built:
        name = unique_module_name(key)
        artifact = compile_module(scratch, name, value)
        return Built(artifact=artifact, module_name=name, meta={"value": value})

    return build


def bytes_builder(
    key: str, content: bytes = b"not a library", *, meta: Mapping[str, JSON] | None = None
) -> Callable[[Path], Built]:
    def build(scratch: Path) -> Built:
        artifact = scratch / "artifact.so"
        artifact.write_bytes(content)
        return Built(artifact=artifact, module_name=unique_module_name(key), meta=meta or {})

    return build
