# ruff: noqa: E501  (as pasted)
"""Kernels in the style of public repositories, each as one would paste it, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

__all__ = ["KERNELS", "Public"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """A cell, the function that is called, fresh arguments, and what it writes.

    Parameters
    ----------
    cell : str
        As pasted.
    function : str
        The kernel.
    arguments : callable
        Makes them.
    """

    cell: str
    function: str
    arguments: Callable[[], tuple[Any, ...]]


def _reals(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(shape)


KERNELS: Final[dict[str, Public]] = {
    "bellman_ford": Public(
        cell="""
def bellman_ford(v_num: 'int', e_num: 'int', source: 'int', e: 'int[:,:]', e_weight: 'float[:]', v_weight: 'float[:]', predecessor: 'int[:]'):
    r8_big = 1.0E+14
    v_weight[:] = r8_big
    v_weight[source] = 0.0
    predecessor[:] = -1
    for i in range(1, v_num):
        for j in range(e_num):
            u = e[1][j]
            v = e[0][j]
            t = v_weight[u] + e_weight[j]
            if t < v_weight[v]:
                v_weight[v] = t
                predecessor[v] = u
    for j in range(e_num):
        u = e[1][j]
        v = e[0][j]
        if v_weight[u] + e_weight[j] < v_weight[v]:
            print('Error')
            return 1
    return 0
""",
        function="bellman_ford",
        arguments=lambda: (
            6,
            10,
            0,
            np.array([[1, 4, 1, 2, 4, 2, 5, 3, 5, 0], [0, 1, 2, 4, 0, 5, 0, 2, 3, 1]]),
            np.array([-3.0, 6, -4, -1, 4, -2, 2, 8, -3, 3]) + 4,
            np.zeros(6),
            np.zeros(6, int),
        ),
    ),
    "floyd_warshall": Public(
        cell="""
def floyd(n: 'int', d: 'float[:,:]'):
    for k in range(n):
        for j in range(n):
            for i in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
""",
        function="floyd",
        arguments=lambda: (7, _reals(7, 7)),
    ),
    "gauss_elim_slices": Public(
        cell="""
import numpy as np
def gauss_s(a: 'float[:,:]', b: 'float[:]'):
    n = b.size
    x = np.zeros(n)
    for i in range(n):
        for j in range(i + 1, n):
            m = a[j, i] / a[i, i]
            a[j, i:] = a[j, i:] - m * a[i, i:]
            b[j] = b[j] - m * b[i]
    x[n - 1] = b[n - 1] / a[n - 1, n - 1]
    for i in range(n - 2, -1, -1):
        s = np.sum(a[i, i + 1:] * x[i + 1:])
        x[i] = (b[i] - s) / a[i, i]
    return x
""",
        function="gauss_s",
        arguments=lambda: (_reals(6, 6) + 6 * np.eye(6), _reals(6)),
    ),
    "lin_convection_slice": Public(
        cell="""
def conv(u: 'float[:]', un: 'float[:]', nt: 'int', dt: 'float', dx: 'float', c: 'float'):
    fact = c * dt / dx
    for n in range(nt):
        un[:] = u[:]
        u[1:] = un[1:] - fact * (un[1:] - un[:-1])
""",
        function="conv",
        arguments=lambda: (_reals(30), np.zeros(30), 10, 0.01, 0.1, 1.0),
    ),
    "heat_hist_prev": Public(
        cell="""
def heat_hist(u: 'float[:,:]', a: float):
    nt = u.shape[0]
    for n in range(1, nt):
        u[n, 1:-1] = u[n-1, 1:-1] + a * (u[n-1, 2:] - 2.0 * u[n-1, 1:-1] + u[n-1, :-2])
""",
        function="heat_hist",
        arguments=lambda: (_reals(6, 20), 0.2),
    ),
    "wave_hist": Public(
        cell="""
def wave(u: 'float[:,:]', c: float):
    nt, nx = u.shape
    for t in range(2, nt):
        u[t, 1:nx-1] = 2.0*u[t-1, 1:nx-1] - u[t-2, 1:nx-1] + c*(u[t-1, 2:nx] - 2.0*u[t-1, 1:nx-1] + u[t-1, 0:nx-2])
""",
        function="wave",
        arguments=lambda: (_reals(6, 20), 0.2),
    ),
    "cavity": Public(
        cell="""
import numpy as np
def build_up_b(rho: float, dt: float, dx: float, dy: float, u: 'float[:,:]', v: 'float[:,:]', b: 'float[:,:]'):
    b[1:-1, 1:-1] = (rho * (1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx))**2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))**2))
def pressure_poisson(p: 'float[:,:]', dx: float, dy: float, b: 'float[:,:]', nit: int):
    pn = np.empty_like(p)
    for q in range(nit):
        pn[:, :] = p
        p[1:-1, 1:-1] = (((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
def cavity_flow(nt: int, u: 'float[:,:]', v: 'float[:,:]', dt: float, dx: float, dy: float, p: 'float[:,:]', rho: float, nu: float, nit: int):
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros_like(u)
    for n in range(nt):
        un[:, :] = u[:, :]
        vn[:, :] = v[:, :]
        build_up_b(rho, dt, dx, dy, u, v, b)
        pressure_poisson(p, dx, dy, b, nit)
        u[1:-1, 1:-1] = (un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2]) - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2]) + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])))
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
        u[0, :] = 0
        u[:, 0] = 0
        u[-1, :] = 1
""",
        function="cavity_flow",
        arguments=lambda: (
            4,
            np.zeros((11, 12)),
            np.zeros((11, 12)),
            0.001,
            0.2,
            0.2,
            np.zeros((11, 12)),
            1.0,
            0.1,
            5,
        ),
    ),
    "md": Public(
        cell="""
import numpy as np
def compute_forces(p_num: int, d_num: int, pos: 'float[:,:](order=F)', force: 'float[:,:](order=F)', mass: float):
    potential = 0.0
    rij = np.zeros(d_num)
    force[:, :] = 0.0
    for i in range(p_num):
        for j in range(p_num):
            if i != j:
                d = 0.0
                for k in range(d_num):
                    rij[k] = pos[k, i] - pos[k, j]
                    d += rij[k]**2
                d = np.sqrt(d)
                d2 = min(d, np.pi / 2.0)
                potential += 0.5 * np.sin(d2)**2
                for k in range(d_num):
                    force[k, i] -= rij[k] * np.sin(2.0 * d2) / d
    return potential
def update(p_num: int, d_num: int, pos: 'float[:,:](order=F)', vel: 'float[:,:](order=F)', f: 'float[:,:](order=F)', acc: 'float[:,:](order=F)', mass: float, dt: float):
    rmass = 1.0 / mass
    for j in range(p_num):
        for i in range(d_num):
            pos[i, j] = pos[i, j] + vel[i, j] * dt + 0.5 * acc[i, j] * dt * dt
            vel[i, j] = vel[i, j] + 0.5 * dt * (f[i, j] * rmass + acc[i, j])
            acc[i, j] = f[i, j] * rmass
def md(p_num: int, d_num: int, pos: 'float[:,:](order=F)', vel: 'float[:,:](order=F)', acc: 'float[:,:](order=F)', steps: int, dt: float):
    force = np.zeros((d_num, p_num), order='F')
    pot = 0.0
    for step in range(steps):
        pot = compute_forces(p_num, d_num, pos, force, 1.0)
        update(p_num, d_num, pos, vel, force, acc, 1.0, dt)
    return pot
""",
        function="md",
        arguments=lambda: (
            5,
            3,
            np.asfortranarray(_reals(3, 5)),
            np.asfortranarray(_reals(3, 5, seed=1)),
            np.zeros((3, 5), order="F"),
            4,
            0.01,
        ),
    ),
    "rk4_step": Public(
        cell="""
import numpy as np
def lorenz(s: 'float[:]', out: 'float[:]', sigma: float, rho: float, beta: float):
    out[0] = sigma * (s[1] - s[0])
    out[1] = s[0] * (rho - s[2]) - s[1]
    out[2] = s[0] * s[1] - beta * s[2]
def rk4(s: 'float[:]', traj: 'float[:,:]', dt: float, sigma: float = 10.0, rho: float = 28.0, beta: float = 8.0 / 3.0):
    k1 = np.empty(3)
    k2 = np.empty(3)
    k3 = np.empty(3)
    k4 = np.empty(3)
    tmp = np.empty(3)
    for i in range(traj.shape[0]):
        lorenz(s, k1, sigma, rho, beta)
        tmp[:] = s + 0.5 * dt * k1
        lorenz(tmp, k2, sigma, rho, beta)
        tmp[:] = s + 0.5 * dt * k2
        lorenz(tmp, k3, sigma, rho, beta)
        tmp[:] = s + dt * k3
        lorenz(tmp, k4, sigma, rho, beta)
        s += dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        traj[i, :] = s
""",
        function="rk4",
        arguments=lambda: (np.array([1.0, 1, 1]), np.zeros((15, 3)), 0.01),
    ),
    "mandelbrot": Public(
        cell="""
def mandel(xmin: float, xmax: float, ymin: float, ymax: float, img: 'int32[:,:]', maxit: int):
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            c = complex(xmin + j * (xmax - xmin) / w, ymin + i * (ymax - ymin) / h)
            z = 0j
            k = 0
            while k < maxit and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                k += 1
            img[i, j] = k
""",
        function="mandel",
        arguments=lambda: (-2.0, 1.0, -1.0, 1.0, np.zeros((9, 11), np.int32), 30),
    ),
    "julia": Public(
        cell="""
import numpy as np
def julia(zs: 'complex128[:]', out: 'int64[:]', c: complex, maxit: int):
    for i in range(zs.shape[0]):
        n = 0
        z = zs[i]
        while np.abs(z) < 2 and n < maxit:
            z = z**2 + c
            n += 1
        out[i] = n
""",
        function="julia",
        arguments=lambda: (
            _reals(12) * 2 - 1 + 1j * _reals(12, seed=3),
            np.zeros(12, int),
            -0.4 + 0.6j,
            50,
        ),
    ),
    "dft": Public(
        cell="""
import numpy as np
def dft(x: 'complex128[:]', y: 'complex128[:]'):
    n = len(x)
    for k in range(n):
        s = 0j
        for t in range(n):
            s += x[t] * np.exp(-2j * np.pi * k * t / n)
        y[k] = s
""",
        function="dft",
        arguments=lambda: (_reals(8) + 1j * _reals(8, seed=1), np.zeros(8, complex)),
    ),
    "sieve_slice": Public(
        cell="""
import numpy as np
def sieve2(p: 'bool[:]'):
    n = p.size
    p[:] = True
    p[:2] = False
    for i in range(2, int(np.sqrt(n)) + 1):
        if p[i]:
            p[i*i::i] = False
    return np.sum(p)
""",
        function="sieve2",
        arguments=lambda: (np.zeros(50, bool),),
    ),
    "matmul_blocked": Public(
        cell="""
def mmb(a: 'float[:,:]', b: 'float[:,:](order=F)', c: 'float[:,:]', bs: int):
    n = a.shape[0]
    c[:, :] = 0.0
    for ii in range(0, n, bs):
        for jj in range(0, n, bs):
            for kk in range(0, n, bs):
                for i in range(ii, min(ii + bs, n)):
                    for j in range(jj, min(jj + bs, n)):
                        s = 0.0
                        for k in range(kk, min(kk + bs, n)):
                            s += a[i, k] * b[k, j]
                        c[i, j] += s
""",
        function="mmb",
        arguments=lambda: (
            _reals(7, 7),
            np.asfortranarray(_reals(7, 7, seed=1)),
            np.zeros((7, 7)),
            3,
        ),
    ),
    "lu_pivot": Public(
        cell="""
import numpy as np
def lup(a: 'float[:,:]', piv: 'int[:]'):
    n = a.shape[0]
    sign = 1
    for i in range(n):
        piv[i] = i
    for k in range(n):
        p = k
        big = abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > big:
                big = abs(a[i, k])
                p = i
        if big == 0.0:
            return 0
        if p != k:
            for j in range(n):
                t = a[k, j]
                a[k, j] = a[p, j]
                a[p, j] = t
            piv[k], piv[p] = piv[p], piv[k]
            sign = -sign
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
    return sign
""",
        function="lup",
        arguments=lambda: (_reals(5, 5), np.zeros(5, int)),
    ),
    "cg_inplace": Public(
        cell="""
from typing import Final
from numpy import zeros, sqrt
def dot(a: 'Final[float[:]]', b: 'Final[float[:]]') -> float:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s
def matvec(A: 'Final[float[:,:]]', x: 'Final[float[:]]', y: 'float[:]'):
    for i in range(A.shape[0]):
        y[i] = dot(A[i, :], x)
def cg2(A: 'Final[float[:,:]]', b: 'Final[float[:]]', x: 'float[:]', tol: float, maxit: int):
    n = b.shape[0]
    r = zeros(n)
    p = zeros(n)
    Ap = zeros(n)
    matvec(A, x, Ap)
    r[:] = b - Ap
    p[:] = r
    rs = dot(r, r)
    for k in range(maxit):
        matvec(A, p, Ap)
        alpha = rs / dot(p, Ap)
        x[:] = x + alpha * p
        r[:] = r - alpha * Ap
        rn = dot(r, r)
        if sqrt(rn) < tol:
            return k + 1
        p[:] = r + rn / rs * p
        rs = rn
    return maxit
""",
        function="cg2",
        arguments=lambda: (np.eye(6) * 7 + 1, _reals(6), np.zeros(6), 1e-10, 50),
    ),
    "thomas": Public(
        cell="""
import numpy as np
def thomas(a: 'float[:]', b: 'float[:]', c: 'float[:]', d: 'float[:]'):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    x = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i-1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i-1]) / m
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i+1]
    return x
""",
        function="thomas",
        arguments=lambda: (_reals(7), _reals(7) + 4, _reals(7, seed=2), _reals(7, seed=3)),
    ),
    "basis_funs": Public(
        cell="""
import numpy as np
from typing import Final
from pyccel.decorators import pure, stack_array
@pure
def find_span(knots: 'Final[float[:]]', degree: int, x: float):
    low = degree
    high = knots.shape[0] - 1 - degree
    if x <= knots[low]:
        return low
    if x >= knots[high]:
        return high - 1
    span = (low + high) // 2
    while x < knots[span] or x >= knots[span + 1]:
        if x < knots[span]:
            high = span
        else:
            low = span
        span = (low + high) // 2
    return span
@pure
@stack_array('left', 'right')
def basis_funs(knots: 'Final[float[:]]', degree: int, x: float, span: int, values: 'float[:]'):
    left = np.empty(degree, dtype=float)
    right = np.empty(degree, dtype=float)
    values[0] = 1.0
    for j in range(0, degree):
        left[j] = x - knots[span - j]
        right[j] = knots[span + 1 + j] - x
        saved = 0.0
        for r in range(0, j + 1):
            temp = values[r] / (right[r] + left[j - r])
            values[r] = saved + right[r] * temp
            saved = left[j - r] * temp
        values[j + 1] = saved
@stack_array('b1')
def eval_spline(x: 'Final[float[:]]', knots: 'Final[float[:]]', degree: int, coeffs: 'Final[float[:]]', y: 'float[:]'):
    b1 = np.empty(degree + 1, dtype=float)
    for i in range(x.shape[0]):
        span = find_span(knots, degree, x[i])
        basis_funs(knots, degree, x[i], span, b1)
        y[i] = 0.0
        for j in range(degree + 1):
            y[i] += coeffs[span - degree + j] * b1[j]
""",
        function="eval_spline",
        arguments=lambda: (
            np.linspace(0, 1, 9),
            np.array([0, 0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1, 1.0]),
            3,
            _reals(7),
            np.zeros(9),
        ),
    ),
    "push_boris": Public(
        cell="""
from typing import Final
from numpy import empty, zeros, shape, sqrt, cos, sin
def cross(a: 'Final[float[:]]', b: 'Final[float[:]]', r: 'float[:]'):
    r[0] = a[1] * b[2] - a[2] * b[1]
    r[1] = a[2] * b[0] - a[0] * b[2]
    r[2] = a[0] * b[1] - a[1] * b[0]
def matvec3(a: 'Final[float[:,:]]', b: 'Final[float[:]]', c: 'float[:]'):
    c[:] = 0.0
    for i in range(3):
        for j in range(3):
            c[i] += a[i, j] * b[j]
def push_vxb(dt: float, stage: int, markers: 'float[:,:]', n_markers_tot: int, kind_map: int, params: 'float[:]', p: 'int[:]', Np: 'int[:]',
             t1: 'float[:]', t2: 'float[:]', t3: 'float[:]', starts: 'int[:]', b1: 'float[:,:,:]', b2: 'float[:,:,:]', b3: 'float[:,:,:]',
             cx: 'float[:,:,:]', cy: 'float[:,:,:]', cz: 'float[:,:,:]', a: 'float[:]', b: 'float[:]', c: 'float[:]'):
    df = empty((3, 3), dtype=float)
    bb = empty(3, dtype=float)
    v = empty(3, dtype=float)
    vxb = zeros(3, dtype=float)
    n_markers = shape(markers)[0]
    for ip in range(n_markers):
        if markers[ip, 0] == -1.0:
            continue
        eta1 = markers[ip, 0]
        eta2 = markers[ip, 1]
        eta3 = markers[ip, 2]
        v[:] = markers[ip, 3:6]
        df[:, :] = 0.0
        df[0, 0] = params[0]
        df[1, 1] = params[1] * cos(eta1)
        df[2, 2] = params[2]
        bb[0] = b1[starts[0], 0, 0] * eta1
        bb[1] = b2[0, starts[1], 0] * eta2
        bb[2] = b3[0, 0, starts[2]] * eta3
        matvec3(df, bb, a)
        cross(v, a, vxb)
        markers[ip, 3:6] = v + dt * vxb
        markers[ip, 0:3] = markers[ip, 0:3] + dt * v
        if stage == 1:
            markers[ip, 6] = sqrt(v[0]**2 + v[1]**2 + v[2]**2)
""",
        function="push_vxb",
        arguments=lambda: (
            0.1,
            1,
            _reals(5, 7),
            5,
            0,
            _reals(3),
            np.ones(3, int),
            np.full(3, 4),
            _reals(3),
            _reals(3),
            _reals(3),
            np.zeros(3, int),
            _reals(2, 2, 2),
            _reals(2, 2, 2),
            _reals(2, 2, 2),
            _reals(2, 2, 2),
            _reals(2, 2, 2),
            _reals(2, 2, 2),
            np.zeros(3),
            np.zeros(3),
            np.zeros(3),
        ),
    ),
    "accum6d": Public(
        cell="""
from numpy import shape
def fill_mat(m: 'float[:,:,:,:,:,:]', vec: 'float[:,:,:]', pn: 'int[:]', b1: 'float[:]', b2: 'float[:]', b3: 'float[:]', i1: int, i2: int, i3: int, w: float):
    for il1 in range(pn[0] + 1):
        bi1 = b1[il1] * w
        for il2 in range(pn[1] + 1):
            bi2 = bi1 * b2[il2]
            for il3 in range(pn[2] + 1):
                bi3 = bi2 * b3[il3]
                vec[i1 + il1, i2 + il2, i3 + il3] += bi3
                for jl1 in range(pn[0] + 1):
                    for jl2 in range(pn[1] + 1):
                        for jl3 in range(pn[2] + 1):
                            m[i1 + il1, i2 + il2, i3 + il3, pn[0] + jl1 - il1, pn[1] + jl2 - il2, pn[2] + jl3 - il3] += bi3 * b1[jl1] * b2[jl2] * b3[jl3]
def accumulate(m: 'float[:,:,:,:,:,:]', vec: 'float[:,:,:]', pn: 'int[:]', markers: 'float[:,:]', bb: 'float[:]'):
    for ip in range(shape(markers)[0]):
        fill_mat(m, vec, pn, bb, bb, bb, ip, 0, 0, markers[ip, 3])
    m[:, :, :, :, :, :] = m / 2.0
""",
        function="accumulate",
        arguments=lambda: (
            np.zeros((4, 3, 3, 3, 3, 3)),
            np.zeros((4, 3, 3)),
            np.array([1, 1, 1]),
            _reals(3, 4),
            _reals(2),
        ),
    ),
    "mass_assembly": Public(
        cell="""
from typing import Final
def kernel_mass(np1: int, nq1: int, w1: 'Final[float[:,:]]', bs: 'Final[float[:,:,:,:]]', spans: 'Final[int[:]]', mat: 'float[:,:]', mat_fun: 'Final[float[:,:]]'):
    ne1 = spans.shape[0]
    mat[:, :] = 0.0
    for ie1 in range(ne1):
        for il1 in range(np1 + 1):
            i1 = spans[ie1] - np1 + il1
            for jl1 in range(np1 + 1):
                j1 = np1 + jl1 - il1
                value = 0.0
                for q1 in range(nq1):
                    value += w1[ie1, q1] * mat_fun[ie1, q1] * bs[ie1, il1, 0, q1] * bs[ie1, jl1, 0, q1]
                mat[i1, j1] += value
""",
        function="kernel_mass",
        arguments=lambda: (
            2,
            3,
            _reals(4, 3),
            _reals(4, 3, 1, 3),
            np.array([2, 3, 4, 5]),
            np.zeros((6, 5)),
            _reals(4, 3),
        ),
    ),
    "catalan_sum": Public(
        cell="""
import numpy as np
def euler(c: 'float[:]', w: 'float[:]'):
    n = c.size
    for k in range(1, n):
        c[k] = np.sum(c[:k] * w[:k])
""",
        function="euler",
        arguments=lambda: (_reals(6), _reals(6, seed=2)),
    ),
    "gen_sum_after_loop": Public(
        cell="""
def gsum2(x: 'float[:]'):
    for i in range(x.shape[0]):
        x[i] = x[i] + 1.0
    s = sum(x[i] for i in range(x.shape[0]))
    return s
""",
        function="gsum2",
        arguments=lambda: (_reals(9),),
    ),
    "pascal": Public(
        cell="""
def pascal(c: 'int[:,:]'):
    n = c.shape[0]
    c[:, :] = 0
    c[:, 0] = 1
    for i in range(1, n):
        c[i, 1:i+1] = c[i-1, 0:i] + c[i-1, 1:i+1]
""",
        function="pascal",
        arguments=lambda: (np.zeros((6, 6), int),),
    ),
    "redblack_stride": Public(
        cell="""
def rb(u: 'float[:]', f: 'float[:]'):
    n = u.size
    u[1:n-1:2] = 0.5 * (u[0:n-2:2] + u[2:n:2] - f[1:n-1:2])
""",
        function="rb",
        arguments=lambda: (_reals(9), _reals(9, seed=1)),
    ),
    "class_acc": Public(
        cell="""
import numpy as np
class Acc:
    def __init__(self, n: int):
        self.total = 0.0
        self.n = n
    def push(self, v: float):
        self.total += v
    def mean(self) -> float:
        return self.total / self.n
def class_acc(x: 'float[:]'):
    a = Acc(x.size)
    for i in range(x.size):
        a.push(x[i])
    return a.mean()
""",
        function="class_acc",
        arguments=lambda: (_reals(6),),
    ),
    "planes3": Public(
        cell="""
def planes3(f: 'float[:,:,:]', k0: int):
    f[k0, 1:-1, 1:-1] = f[k0 - 1, :-2, 1:-1] + f[k0 + 1, 2:, 1:-1] + f[k0 - 1, 1:-1, 2:]
""",
        function="planes3",
        arguments=lambda: (_reals(4, 5, 6), 2),
    ),
    "complex_arith": Public(
        cell="""
def ca(z: 'complex[:]', w: 'complex[:]', out: 'complex[:]', r: 'float[:]'):
    for i in range(z.size):
        out[i] = z[i] * w[i].conjugate() + 2j * z[i] / (w[i] + 1)
        r[i] = (z[i] * z[i].conjugate()).real + abs(w[i]) + w[i].imag
""",
        function="ca",
        arguments=lambda: (
            _reals(5) + 1j * _reals(5, seed=1),
            _reals(5, seed=2) + 1j,
            np.zeros(5, complex),
            np.zeros(5),
        ),
    ),
    "even_odd": Public(
        cell="""
def evenodd(x: 'float[:]'):
    x[0::2] = x[1::2] + 1.0
""",
        function="evenodd",
        arguments=lambda: (_reals(8),),
    ),
}
