"""What others get wrong and kit does not, each shown on both in the same run.

The peers are an optional extra, `bench`; `make bench` installs it and runs this file, and
without them these tests skip with that as the reason.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

PROBE = """
import numpy as np, kit
from cunumpy import kernels
total = kit.pyccel_kernel('''
def total(x: "float64[:,:,:]"):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                s += x[i, j, k]
    return s
''')
theirs = kernels.PyccelKernel(total.compiled)
"""


def needs(module: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"{module} is not installed: see the extra 'bench'")


def told(code: str) -> list[str]:
    """What a child prints; the peer may end it."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@needs("cunumpy")
def test_a_stepped_middle_axis_is_summed_rightly_and_not_by_cunumpy() -> None:
    code = PROBE + (
        "x = np.arange(60.0).reshape(4, 5, 3)[:, ::2, :]\nprint(x.sum(), total(x), theirs(x))\n"
    )
    right, ours, others = map(float, told(code))
    assert ours == right
    assert others != right


@needs("cunumpy")
def test_the_other_order_is_copied_and_refused_by_cunumpy() -> None:
    code = PROBE + (
        "x = np.asfortranarray(np.arange(60.0).reshape(4, 5, 3))\n"
        "print(x.sum() == total(x))\n"
        "try:\n    theirs(x)\nexcept TypeError:\n    print('TypeError')\n"
    )
    assert told(code) == ["True", "TypeError"]


@needs("cunumpy")
def test_integers_for_floats_are_refused_and_converted_silently_by_cunumpy() -> None:
    code = PROBE + (
        "import cunumpy\n"
        "x = np.full((1, 1, 1), 2**53 + 1)\n"
        "print(int(theirs(cunumpy.kernels.as_kernel_array(x, x, np.float64))) == 2**53 + 1)\n"
        "try:\n    total(x)\nexcept kit.ArgumentRefused:\n    print('refused')\n"
    )
    assert told(code) == ["False", "refused"]


# Each runs one call for kit and for a peer, on memory of its own.
VECTORS = """
import numpy as np, kit
source = '''
def shift(x: "float64[:]", y: "float64[:]"):
    for i in range(1, x.shape[0] - 1):
        y[i] = x[i - 1] + x[i + 1]

def total(x: "float64[:]"):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s

def fill(y: "float64[:]"):
    for i in range(y.shape[0]):
        y[i] = 7.0

def double(x: "float64[:]", y: "float64[:]"):
    y[:] = x[:] * 2.0
'''
ours, python = kit.pyccel_kernel(source), {}
exec(source, python)

def cunumpy_of(name, *outputs):
    from cunumpy import kernels
    return kernels.PyccelKernel(ours[name].compiled, outputs=outputs)

def numba_of(name):
    import numba
    return numba.njit(python[name])

def shifted(call):
    memory = np.arange(101.0) ** 2
    call(memory[:100], memory[1:])
    return memory.tolist()

right = shifted(lambda x, y: python["shift"](x.copy(), y))
"""


@needs("cunumpy")
def test_an_input_on_the_output_is_read_as_it_was_and_not_by_cunumpy() -> None:
    code = "print(shifted(ours.shift) == right, shifted(cunumpy_of('shift', 1)) == right)"
    assert told(VECTORS + code) == ["True", "False"]


@needs("numba")
def test_an_input_on_the_output_is_read_as_it_was_and_not_by_numba() -> None:
    code = "print(shifted(ours.shift) == right, shifted(numba_of('shift')) == right)"
    assert told(VECTORS + code) == ["True", "False"]


@needs("cunumpy")
def test_a_field_of_packed_records_is_summed_rightly_and_not_by_cunumpy() -> None:
    code = """
records = np.zeros(9, [("kind", "i4"), ("x", "f8")])
records["x"] = np.arange(9.0)
print(ours.total(records["x"]) == 36, cunumpy_of("total")(records["x"]) == 36)
"""
    assert told(VECTORS + code) == ["True", "False"]


@needs("cunumpy")
def test_a_read_only_output_is_refused_and_written_by_cunumpy() -> None:
    code = """
for call in (ours.fill, cunumpy_of("fill", 0)):
    y = np.zeros(5)
    y.flags.writeable = False
    try:
        call(y)
    except kit.ArgumentRefused:
        pass
    print(y.any())
"""
    assert told(VECTORS + code) == ["False", "True"]


@needs("cunumpy")
def test_a_short_output_is_refused_and_overrun_by_cunumpy() -> None:
    code = """
for call in (ours.double, cunumpy_of("double", 1)):
    memory = np.zeros(64)  # the output is a part of it, so that nothing else is overrun
    try:
        call(np.ones(32), memory[:4])
    except kit.ArgumentRefused:
        pass
    print(memory[4:].any())
"""
    assert told(VECTORS + code) == ["False", "True"]


@needs("Cython")
def test_a_cell_that_does_not_compile_raises_and_succeeds_with_cython() -> None:
    code = """
import contextlib, io, tempfile
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config, ipython_dir=tempfile.mkdtemp())
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    shell.run_cell("%load_ext cython")
    shell.run_cell("%load_ext kit")
    theirs = shell.run_cell("%%cython\\ndef f(double x):\\n    return undefined_name(x")
    ours = shell.run_cell("%%pyccel_kernel\\ndef f(x: float):\\n    return nowhere(x)")
print(theirs.success, ours.success)
"""
    assert told(code)[-2:] == ["True", "False"]
