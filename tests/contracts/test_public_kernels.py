"""Kernels as scientists write them are accepted, and compute what Python computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kit import pyccel_kernel
from kit.decorate import KernelNamespace
from kit.terms import Language
from tests.contracts.public_kernels import KERNELS


@pytest.fixture(scope="module")
def compiled() -> Callable[[Language], KernelNamespace]:
    """All of them as one cell, compiled once for each language."""
    made: dict[Language, KernelNamespace] = {}
    cell = "\n".join(one.cell for one in KERNELS.values())

    def get(language: Language) -> KernelNamespace:
        if language not in made:
            made[language] = pyccel_kernel(cell, language=language)
        return made[language]

    return get


def _reversed(array: Any) -> Any:
    """The same values, with every axis stepping backward."""
    turn = tuple(slice(None, None, -1) for _ in array.shape)
    return array[turn].copy()[turn]


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(_same, found, expected))
    if expected is None:
        return found is None
    return np.allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("language", ["fortran", "c"])
def test_a_public_kernel_computes_what_python_computes(
    name: str, language: Language, compiled: Callable[[Language], KernelNamespace]
) -> None:
    public = KERNELS[name]
    kernel = compiled(language)[public.function]
    before, expected = public.arguments(), public.arguments()
    result = kernel.python(*expected)
    names = [one.name for one in kernel.signature.parameters]
    changed = {
        one
        for one, old, new in zip(names, before, expected, strict=False)
        if isinstance(old, np.ndarray) and not np.array_equal(old, new)
    }
    assert changed <= set(kernel.outputs)
    for lay in (lambda array: array, np.asfortranarray, _reversed):
        arguments = [lay(one) if isinstance(one, np.ndarray) else one for one in public.arguments()]
        for one, value in zip(names, arguments, strict=False):
            if isinstance(value, np.ndarray) and one not in kernel.outputs:
                value.flags.writeable = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of copies
            assert _same(kernel(*arguments), result)
        assert _same(tuple(arguments), expected)
