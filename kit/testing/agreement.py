"""Story: a kernel runs on every target with the same arguments, and the results are compared.

generated values -> layouts of each array -> copies for each target -> run -> differences in ulp
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kit.kernel import PyccelKernel
from kit.terms import Target
from kit.testing.choices import array_choices, bound_arguments
from kit.testing.differences import Tolerance
from kit.testing.findings import Agreement, Findings
from kit.testing.runs import Case, combinations, find_runs, run_case

__all__ = ["assert_kernels_agree"]


def assert_kernels_agree(
    kernel: PyccelKernel,
    make_args: Callable[[np.random.Generator], Sequence[Any] | Mapping[str, Any]],
    *,
    targets: Sequence[Target] | None = None,
    reference: Callable[..., Any] | None = None,
    layouts: bool = True,
    ulp: float = 4,
    rtol: float = 0.0,
    atol: float = 0.0,
    seeds: Sequence[int] = (0, 1),
    launch: Mapping[str, Any] | None = None,
) -> Agreement:
    """Run a kernel on every target with the same arguments; AssertionError where results differ.

    Parameters
    ----------
    kernel : PyccelKernel
        Of a Pyccel or a CUDA cell, or a pair of both.
    make_args : callable
        Given a random generator, makes the arguments of a call: a sequence, or a mapping by name,
        with NumPy arrays or `kit.ArrayView`. What it makes is not written.
    targets : sequence of str, optional
        By default all that can run here: "python", "host", "emulator", and "device" where there is
        a GPU.
    reference : callable, optional
        Does with NumPy what the kernel does, writing the same arguments and returning the same. It
        is compared as one target more, and comes first.
    layouts : bool
        Whether the call is repeated with every layout (`kit.testing.layouts`) of each array that
        the kernel takes with any strides, one array at a time and all together. Of a CUDA kernel
        these are its ``ArrayND<T>``.
    ulp : float
        How many units in the last place results may differ; of integers, the difference itself.
    rtol, atol : float
        Or how far relative and absolute, as `numpy.isclose` has it.
    seeds : sequence of int
        Of the generators, one after the other.
    launch : mapping, optional
        Options of the launch for CUDA: ``{"n_threads": 100}``.

    Returns
    -------
    Agreement
        What was compared, with the largest difference that the tolerance let through.

    Raises
    ------
    AssertionError
        Results differ, or a kernel wrote between the elements of an array. It names what differs,
        by how many ulp, where, in which layout, and between which targets.
    KitError
        Nothing could be compared: only one target runs here, or the kernel gives nothing.

    Notes
    -----
    Every array is compared after the call, those that are only read too, and of "python", "host"
    and the reference what they return. Arguments that share elements get memory of their own,
    unless they are the same object.
    """
    __tracebackhide__ = True
    runs = find_runs(kernel, targets, reference, launch or {})
    found = Findings(kernel.__name__, tuple(runs), Tolerance(ulp, rtol, atol))
    for seed in seeds:
        given = make_args(np.random.default_rng(seed))
        arguments = bound_arguments(kernel, given)
        choices = array_choices(kernel, arguments)
        for chosen in combinations(choices, layouts=layouts):
            case = Case(given, arguments, choices, chosen, seed)
            results = {name: run_case(name, run, case) for name, run in runs.items()}
            found.compare(case, results)
    found.raise_differences()
    return found.agreement()
