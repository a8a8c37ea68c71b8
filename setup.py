"""What pyproject.toml cannot say: where NumPy's headers are, and of which text the guard is."""

import hashlib
from pathlib import Path

import numpy as np
from setuptools import Extension, setup

# Read at run time by kit/backends/guard_library.py.
source = hashlib.sha256(Path("kit/guard.c").read_bytes()).hexdigest()

setup(
    ext_modules=[
        Extension(
            "kit._guard",
            sources=["kit/guard.c"],
            include_dirs=[np.get_include()],
            define_macros=[("KIT_GUARD_SOURCE", f'"{source}"')],
            extra_compile_args=["-O2", "-fvisibility=hidden"],
            # Without a compiler kit is installed all the same; see kit/backends/guard_library.py.
            optional=True,
        )
    ]
)
