"""The macros by which a cell knows that it is compiled for a device.

Code under ``#if __CUDA_ARCH__ >= 700`` or ``#ifdef __CUDACC__`` has to be alive in a cell: where it
vanishes, outputs stay as they were, silently. NVIDIA's own headers must not see ``__CUDACC__``, or
they would take paths of the real compiler. So the cell's uses of it are renamed, in as many
characters: columns stay.

``__CUDA_ARCH__`` alone changes nothing in libcu++ (CCCL 13.3.5) but how it ends where it would
throw; it is defined for everything (include/kit_emulator/architecture.h), also for headers of the
user's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kit.cuda.text.tokens import split_tokens

__all__ = ["emulated_architecture", "emulated_macros", "name_device_macros"]

_USUAL: Final = 800
_MACROS: Final = {
    "KIT_EMULATION": "1",
    "__CUDACC__": "1",
    "__CUDACC_RTC__": "1",
    "__CUDACC_VER_MAJOR__": "12",
    "__CUDACC_VER_MINOR__": "9",
    "__cplusplus": "201703",
}
"""What conditions in a cell find; include/kit_emulator/architecture.h defines the same."""


def emulated_architecture(architectures: Sequence[str] | None) -> int:
    """The ``__CUDA_ARCH__`` of an emulated cell: one of those that NVRTC compiled it for.

    Types that hang on it then lie as the arguments are packed. Of several that is sm_80 or what
    comes next below, and else the lowest: what only newer GPUs have cannot be emulated.

    Examples
    --------
    >>> emulated_architecture(["sm_75", "sm_80", "sm_90"]), emulated_architecture(["sm_90a"])
    (800, 900)
    """
    known = [re.search(r"\d+", one) for one in architectures or ()]
    numbers = sorted(10 * int(one[0]) for one in known if one is not None)
    return max((one for one in numbers if one <= _USUAL), default=(numbers or [_USUAL])[0])


def emulated_macros(architectures: Sequence[str] | None) -> dict[str, str]:
    """What conditions in a cell find that is compiled for these."""
    return {**_MACROS, "__CUDA_ARCH__": str(emulated_architecture(architectures))}


_RENAMED: Final = {"__CUDACC__": "KIT_CUDACC", "__CUDACC_RTC__": "KIT_CUDACC_RTC"}


def name_device_macros(text: str) -> str:
    """The cell with names of its own for what only its own text may see.

    Parameters
    ----------
    text : str
        The cell.

    Returns
    -------
    str
        As long, line by line.

    Examples
    --------
    >>> name_device_macros('#ifdef __CUDACC__  // "__CUDACC__"')
    '#ifdef KIT_CUDACC  // "__CUDACC__"'
    """
    if "__CUDACC" not in text:
        return text
    return "".join(
        _RENAMED.get(one.text, one.text) if one.kind == "name" else one.text
        for one in split_tokens(text)
    )
