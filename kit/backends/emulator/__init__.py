"""CUDA C++ on the CPU: a cell's source, compiled by the C++ compiler that is here, and launched.

`obtain` gives a loaded cell. In C++ there are two parts: `include/`, which each cell is compiled
with (its kernels' loops over threads, what device code calls), and `runtime/`, a library that is
compiled once (the threads that run blocks, fibers, barriers, faults).
"""

from kit.backends.emulator.building import obtain

__all__ = ["obtain"]
