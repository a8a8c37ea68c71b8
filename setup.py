"""What pyproject.toml cannot say: where NumPy's headers are, and which text a library is of."""

import hashlib
from pathlib import Path

import numpy as np
from setuptools import Extension, setup


def extension(name: str) -> Extension:
    """One of kit's own C files as a module; kit/native.py compares the digest of its text."""
    source = f"kit/{name}.c"
    digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()
    return Extension(
        f"kit._{name}",
        sources=[source],
        include_dirs=[np.get_include()],
        define_macros=[(f"KIT_{name.upper()}_SOURCE", f'"{digest}"')],
        extra_compile_args=["-O2", "-fvisibility=hidden"],
        # Without a compiler kit is installed all the same: the store or a twin in Python serves.
        optional=True,
    )


setup(ext_modules=[extension(name) for name in ("arrayview", "guard", "packer")])
