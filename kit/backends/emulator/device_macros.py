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

from typing import Final

from kit.cuda.text.tokens import split_tokens

__all__ = ["EMULATED_MACROS", "name_device_macros"]

EMULATED_MACROS: Final = {
    "KIT_EMULATION": "1",
    "__CUDA_ARCH__": "800",
    "__CUDACC__": "1",
    "__CUDACC_RTC__": "1",
    "__CUDACC_VER_MAJOR__": "12",
    "__CUDACC_VER_MINOR__": "9",
    "__cplusplus": "201703",
}
"""What conditions in a cell find; include/kit_emulator/architecture.h defines the same."""

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
