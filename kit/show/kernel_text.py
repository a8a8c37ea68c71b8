"""A kernel as text: its repr, and a stub for type checkers; takes plain values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kit.errors import clean_text

__all__ = ["kernel_text", "stub_text"]

_STUB_HEAD: Final = (
    "from typing import Any\n\nimport numpy as np\nfrom numpy.typing import NDArray\n\n"
)


def kernel_text(
    name: str,
    parameters: Sequence[str],
    returns: str | None,
    facts: Mapping[str, str],
    *,
    kind: str = "PyccelKernel",
) -> str:
    """The repr of a kernel: its definition, then each fact that is not empty, in a line or more.

    Examples
    --------
    >>> print(kernel_text("f", ["x: 'float64[:]'"], None, {"language": "c", "outputs": ""}))
    <PyccelKernel f(x: 'float64[:]')
      language  c>
    """
    arrow = "" if returns is None else f" -> {returns}"
    lines = [f"{kind} {name}({', '.join(parameters)}){arrow}"]
    shown = {key: value for key, value in facts.items() if value}
    width = max((len(key) for key in shown), default=0)
    below = "\n" + " " * (width + 4)
    lines += [
        f"  {key.ljust(width)}  {value.replace(chr(10), below)}" for key, value in shown.items()
    ]
    return clean_text("<" + "\n".join(lines) + ">")


def stub_text(name: str, parameters: Sequence[str], returns: str, doc: str | None) -> str:
    """A function of a ``.pyi`` file.

    Parameters
    ----------
    name : str
        The function's name.
    parameters : sequence of str
        What stands between its brackets.
    returns : str
        The return annotation in Python's terms.
    doc : str or None
        Its documentation.
    """
    head = f"def {name}({', '.join(parameters)}) -> {returns}:"
    if not doc:
        return f"{_STUB_HEAD}{head} ...\n"
    quoted = doc.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'{_STUB_HEAD}{head}\n    """{quoted}\n    """\n'
