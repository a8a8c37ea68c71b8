"""Kernels of many kinds that Pyccel 2.2.3 compiles, in fortran and in C; one cell in all."""

from __future__ import annotations

__all__ = ["CORPUS", "OPENMP"]

CORPUS = '''
"""Module docstrings are fine."""
import math
import cmath
import sys
import numpy as np
import numpy
from numpy import sqrt as root, zeros, int32
from numpy.linalg import norm
from math import pi
from typing import Final, TypeVar, TypeAlias
import typing as t
from pyccel.decorators import pure, elemental, inline, private, stack_array, allow_negative_index

__all__ = ['k_scalars', 'k_axpy']
# A comment about OpenMP: omp parallel is not used here, and # $ costs nothing in prose.
T = TypeVar('T', 'float64[:]', 'float32[:]')
E = TypeVar('E', int, float)
Real: TypeAlias = float
Vector: TypeAlias = 'float64[:]'
N = 4
SPACING = 0.5
FLAG = True
WEIGHTS = np.array([1.0, 2.0, 3.0])
COUNT: int = 3
LIMIT: Final[int] = 7
total = 0
for kk in range(3):
    total += kk
if FLAG:
    EXTRA = 2

class Counter:
    """Keeps a number and an array."""

    def __init__(self, data: 'float[:]', n: int = 2):
        self.data = data
        self.n = n

    def add(self, value: float):
        self.data[0] += value

    @property
    def double(self):
        return self.n * 2

def use_counter(c: Counter, d: 'Counter'):
    c.add(1.5)
    return c.n + d.double

def make_counter(x: 'float[:]'):
    c = Counter(x, 3)
    c.add(2.0)
    return c.n

def k_scalars(a: int, b: float, c: bool, d: complex, e: np.int32, f: 'float32', g: np.double):
    if c and a > 0 or not c:
        return a + b
    return b * 2

def k_axpy(x: 'float64[:]', y: 'float64[:]', a: float):
    y[:] = a * x[:] + y[:]

def k_stencil(u: 'float64[:,:]', out: 'float64[:,:]'):
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]

def k_fortran_order(a: 'float64[:,:](order=F)', b: "float64[:,:,:](order=F)"):
    a[0, 1] = b[0, 1, 0]

def k_final(x: 'Final[float64[:]]', y: Final['float64[:]'], z: t.Final['int64[:]']):
    return x[0] + y[0] + z[0]

def k_typevar(x: T, y: 'T'):
    y[0] = x[0]

def k_elements(x: 'E[:]', y: E):
    x[0] = y

def k_union(x: 'float[:] | int[:]', n: int | float):
    x[0] = 3
    return n

def k_alias(x: Vector, y: Real):
    x[0] = y

def k_unquoted(x: float[:], y: np.float64[:, :]):
    y[0, 0] = x[0]

def k_imported(x: 'int32[:]', y: int32):
    x[0] = y

def k_defaults(n: int = 3, x: float = -1.5, y: float = 1.0 / 3, b: bool = False, z: complex = 2j):
    return n * x + y

def k_optional(x: 'float[:]' = None, n: int = None):
    if x is None:
        return 0.0
    if n is not None:
        return x[n]
    return x[0]

def k_keyword_only(a: int, /, b: int, *, scale: float = 2.0, shift: float):
    return a * b * scale + shift

def k_tuple_argument(p: 'tuple[float, ...]'):
    s = 0.0
    for e in p:
        s += e
    return s + len(p)

def k_return_many(n: int):
    a = np.zeros(n)
    b = np.ones((n, 2), dtype=np.float32)
    return a, b, n

def k_return_annotated(n: int) -> 'float64[:]':
    return np.zeros(n)

def k_none() -> None:
    pass

def k_docstring_only(x: int):
    """Nothing else."""

def k_numpy(x: 'float[:]', y: 'float[:]'):
    y[:] = np.sqrt(x) + np.sin(x) * np.exp(x)
    a = np.sum(x) + numpy.sum(y)
    b = norm(x)
    c = np.linalg.norm(y)
    return a + b + c + root(4.0)

def k_math(x: float):
    return math.erf(x) + math.gamma(x) + math.floor(x) + math.pi + math.hypot(x, 1.0) + pi

def k_cmath(z: complex):
    return cmath.phase(z) + z.real + z.imag + abs(z) + (z * z.conjugate()).real + (-z).imag

def k_while(n: int):
    i = 0
    while i < n:
        i += 1
        if i == 3:
            continue
        if i > 5:
            break
    return i

def k_loops(x: 'float[:]', y: 'float[:]', m: 'float[:,:]'):
    s = 0.0
    for i, v in enumerate(x):
        s += i * v
    for a, b in zip(x, y):
        s += a * b
    for row in m:
        s += row[0]
    for k in range(10, 0, -2):
        s += k
    return s

def k_slices(x: 'float[:]', m: 'float[:,:]'):
    x[:3] = 0.5 * (x[3:6] + x[6:])
    m[0, :] = m[1, :]
    m[:, 0] += 1.0
    m[...] = 2.0
    return x[-1]

def k_views(x: 'float[:]', m: 'float[:,:]'):
    v = x[1:]
    v[0] = 1.0
    w = m.T
    w[0, 1] = 3.0
    r = m[0]
    r[1] = 4.0

def k_swap(x: 'float[:]'):
    x[0], x[1] = x[1], x[0]

def k_augmented(x: 'int[:]', n: int):
    x += 1
    x[0] -= 2
    x[0] *= 3
    n //= 2
    n %= 5
    n <<= 1
    n >>= 1
    n |= 4
    n &= 6
    return n ^ 1

def k_ternary(x: 'float[:]', c: bool):
    s = x[0] if c else x[1]
    return s

def k_comparison(a: int, b: int):
    return a < b <= 5 and a != b and not a == 3

def k_generator(n: int, x: 'float[:]'):
    s = sum(i * 2 for i in range(n))
    return s + max(x[i] for i in range(3))

def k_builtins(x: float, n: int, a: 'int[:]'):
    return abs(x) + min(x, 1.0) + max(x, 2.0) + round(x) + len(a) + int(x) + float(n) + bool(n)

def k_where(x: 'float[:]', y: 'float[:]'):
    y[:] = np.where(x > 0.0, x, 0.0)

def k_matmul(a: 'float[:,:]', b: 'float[:,:]', out: 'float[:,:]', x: 'float[:]'):
    np.matmul(a, b, out=out)
    return x @ x

def k_allocates(n: int):
    a = np.empty(n)
    b = np.full(n, 2.0)
    c = np.arange(n)
    d = np.linspace(0.0, 1.0, n)
    e = zeros((n, n), order='F')
    f = np.zeros_like(a)
    g = np.array([1.0, 2.0, 3.0])
    a[:] = 0.0
    return a[0] + b[0] + c[0] + d[0] + e[0, 0] + f[0] + g[0]

def k_nested(x: 'float[:]', n: int):
    def twice(i: int):
        return 2 * i
    def fill(z: 'float[:]'):
        z[0] = 1.0
    for i in range(n):
        x[i] = twice(i)
    fill(x)

def k_lambda(x: 'float[:]', n: int):
    square = lambda i: i * i
    for i in range(n):
        x[i] = square(i)

@pure
def k_pure(x: float) -> float:
    return x * 2.0

@elemental
def k_elemental(x: float):
    return x * 2.0

@inline
def k_inline(n: int):
    return n + 1

@private
def hidden(n: int):
    return n

@private
@inline
def untyped(n):
    return n + 2

@stack_array('a')
@allow_negative_index('b')
def k_decorated(b: 'float[:]', i: int):
    a = zeros(3)
    a[0] = b[i]
    return a[0]

def _helper(x: 'float[:]', i: int) -> float:
    return x[i] * SPACING

def _apply(f: '(float)(float)', x: float):
    return f(x)

def k_calls(x: 'float[:]'):
    s = _helper(x, 0) + hidden(1) + k_inline(2) + _apply(k_pure, 1.0)
    return s + N + WEIGHTS[1] + untyped(3)

def k_recursive(n: int) -> int:
    if n <= 1:
        return 1
    return n * k_recursive(n - 1)

def k_local_import(x: float):
    import math as mm
    from numpy import cos
    return mm.sqrt(x) + cos(x)

def k_annotated_locals(n: int):
    s: float = 0.0
    a: 'float[:]'
    a = np.zeros(n)
    return s + a[0]

def k_print(n: int, x: float):
    print("n =", n, x, sep=' ', end='\\n')
    print('percent', n % 3)

def k_assert(n: int):
    assert n > 0, "n must be positive"
    return n

def k_isinstance(n: int):
    if isinstance(n, int):
        return 1
    return 2

def end(double: int, print_: int):
    return double + print_

def k_case(A: float, a: float):
    return A - a

def sum_of(len: int, range: float):
    return len + range

def k_complex(z: 'complex[:]'):
    z[0] = complex(1.0, z[1].imag)
    return z.real[0]

def k_boolean(b: 'bool[:]', n: 'int8[:]', m: 'int16[:]', c: 'complex64[:]'):
    b[0] = n[0] > m[0]

def k_one_line(n: int): return n

def k_many_lines(
    n: int,  # a comment
    x: 'float[:]',
):
    return (
        n
        + x[0]
    )

if __name__ == "__main__":
    print(k_one_line(3))
'''

OPENMP = """
def f(x: 'float[:]'):
    s = 0.0
    #$ omp parallel for reduction(+:s)
    for i in range(x.shape[0]):
        s += x[i]
    return s

def g(x: 'float[:]'):
    #$ omp parallel
    #$ omp for
    for i in range(x.shape[0]):
        x[i] = 1.0
    #$ omp end parallel
"""
