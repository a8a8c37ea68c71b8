"""What ``%kit_source`` shows of a kernel: Pyccel's translation, PTX, or the cell's own CUDA C++."""

from __future__ import annotations

import re
from typing import cast

from kit.cuda.signature import CudaSignature
from kit.kernel import PyccelKernel
from kit.kernel_cuda import CudaKernel
from kit.magics.source_text import SourceText, choose_source
from kit.paired_kernel import PairedKernel
from kit.terms import Language

__all__ = ["shown_source"]


def shown_source(kernel: PyccelKernel, *, everything: bool) -> SourceText | None:
    """The source of a kernel; None where there is none.

    Parameters
    ----------
    kernel : PyccelKernel
        Which one; of a pair both versions are shown, one below the other.
    everything : bool
        Also what binds the translation to Python, and the whole PTX of every architecture.
    """
    if isinstance(kernel, PairedKernel):
        below = shown_source(kernel.cuda, everything=everything)
        above = shown_source(kernel.pyccel, everything=everything)
        return below if above is None else SourceText(above.text, above.language, below)
    record = kernel.build
    if isinstance(kernel, CudaKernel):
        return _of_cuda(kernel, everything)
    if record is None or not record.generated:
        return None
    language = cast(Language, record.language)
    text = choose_source(record.generated, language, everything=everything)
    return SourceText(text, language)


def _of_cuda(kernel: CudaKernel, everything: bool) -> SourceText:
    """PTX where the build kept it, else the cell's text; its first line says which."""
    record = kernel.build
    kept = record.generated.items() if record is not None else ()
    files = {name: text for name, text in kept if name.endswith(".ptx")}
    if not files:
        heading = f"// {kernel.__name__} as in its cell: this build kept no PTX"
        return SourceText(f"{heading}\n{kernel.source}", "cuda")
    if everything:
        return SourceText("\n".join(f"// --- {name}\n{one}" for name, one in files.items()), "ptx")
    name, text = next(iter(files.items()))
    others = f"; --all shows {len(files)} files" if len(files) > 1 else ""
    entry = _entry(text, kernel.cuda_signature)
    return SourceText(f"// PTX of {kernel.__name__}, from {name}{others}\n{entry}", "ptx")


def _entry(ptx: str, signature: CudaSignature) -> str:
    """The kernel's own part of a PTX file, or all of it where there is none of that name."""
    pattern = rf"^[^\n]*\.entry\s+{re.escape(signature.lowered)}\s*\(.*?^\}}"
    found = re.search(pattern, ptx, re.MULTILINE | re.DOTALL)
    return ptx if found is None else found.group()
