"""What a cell prints about its CUDA kernels."""

from __future__ import annotations

from kit.kernel_cuda import CudaKernel
from kit.show.build_text import kernel_line
from kit.show.cuda_text import ResourceRow, resource_lines, target_words
from kit.show.stability import is_stable_output
from kit.trace import BuildRecord

__all__ = ["summary_of_kernel"]


def summary_of_kernel(kernel: CudaKernel, record: BuildRecord) -> str:
    """How a kernel is called and what it writes, where it runs and why, what it takes of each GPU.

    With KIT_STABLE_OUTPUT only what the cell itself says: where a kernel runs depends on the
    machine, and registers on NVRTC's version.
    """
    signature = kernel.cuda_signature
    parameters = [(one.name, one.intent) for one in signature.parameters]
    line = kernel_line(signature.name, parameters, language="cuda")
    if is_stable_output():
        return line
    chosen = kernel.chosen
    rows = [
        ResourceRow(
            architecture=name,
            registers=one.registers,
            spilled_bytes=max(one.spill_store_bytes, one.spill_load_bytes),
            shared_bytes=one.shared_bytes,
            occupancy=one.occupancy,
            threads=one.block_threads,
        )
        for name, one in record.resources.get(signature.name, {}).items()
    ]
    first = f"{line}, {target_words(chosen.target, chosen.reason)}"
    return "\n".join([first, *resource_lines(rows)])
