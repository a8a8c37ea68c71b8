"""For tests of kernels: every layout of an array, every target of a kernel, compared."""

from kit.testing.agreement import assert_kernels_agree
from kit.testing.array_layout import ArrayLayout
from kit.testing.differences import Difference
from kit.testing.emulation import emulate
from kit.testing.every_layout import layouts
from kit.testing.findings import Agreement

__all__ = [
    "Agreement",
    "ArrayLayout",
    "Difference",
    "assert_kernels_agree",
    "emulate",
    "layouts",
]
