"""The call that is being planned, as the fix of a refusal writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CallText"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """The text of the call that is being planned, each argument under its parameter's name.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    arguments : sequence of (str, bool)
        Names of the parameters that are not left at their default, and whether each is passed by
        keyword.
    final : frozenset of str
        Names of the parameters whose annotation says `Final`.
    """

    kernel: str
    arguments: Sequence[tuple[str, bool]]
    final: frozenset[str] = frozenset()

    def replacing(self, name: str, replacement: str) -> str:
        """The call with one argument replaced.

        Examples
        --------
        >>> call = CallText(kernel="f", arguments=[("x", False), ("n", True)])
        >>> call.replacing("x", "x_buffer")
        'f(x_buffer, n=n)'
        """
        texts: list[str] = []
        for one, by_keyword in self.arguments:
            text = replacement if one == name else one
            texts.append(f"{one}={text}" if by_keyword else text)
        return f"{self.kernel}({', '.join(texts)})"
