"""How many axes of its launch a kernel looks at: 2 where it reads blockIdx.y, 3 for blockIdx.z.

A launch that nobody describes has so many axes. With fewer, the kernel would leave elements out,
and with more, it would do them several times.
"""

from __future__ import annotations

from collections.abc import Sequence

from kit.cuda.text.tokens import Token, split_tokens

__all__ = ["count_launch_axes"]

_AXES = {"x": 1, "y": 2, "z": 3}
_PLACES = ("threadIdx", "blockIdx")
# Of <kit/index.cuh>.
_GLOBAL = {"global_x": 1, "global_y": 2, "global_z": 3}
_LOOP = "grid_stride"


def count_launch_axes(kernel: str, cell: str) -> int:
    """The highest axis that a kernel, or what it uses of its cell, asks for its place on.

    Parameters
    ----------
    kernel : str
        Text of the kernel.
    cell : str
        Text of its cell, whose functions and macros it may use by their names.

    Returns
    -------
    int
        1 to 3. What files that the cell includes do is not seen, but for kit's own.

    Examples
    --------
    >>> helper = "__device__ int row() { return blockIdx.y; }"
    >>> count_launch_axes("__global__ void f(int* x) { x[row()] = 1; }", helper)
    2
    >>> count_launch_axes("__global__ void f(int* x) { x[threadIdx.x] = 1; }", helper)
    1
    """
    bodies = _bodies(_code(cell))
    seen: set[str] = set()
    left = [_code(kernel)]
    axes = 1
    while left:
        tokens = left.pop()
        axes = max(axes, _axes_of(tokens))
        for name in {one.text for one in tokens if one.kind == "name"} - seen:
            seen.add(name)
            left.extend(bodies.get(name, ()))
    return axes


def _code(text: str) -> list[Token]:
    """Tokens that mean something, and the ends of lines, which end macros."""
    return [one for one in split_tokens(text) if not one.is_blank or one.kind == "newline"]


def _axes_of(tokens: Sequence[Token]) -> int:
    code = [one.text for one in tokens if one.kind != "newline"]
    axes = 1
    for index, text in enumerate(code):
        if text in _PLACES and code[index + 1 : index + 2] == ["."]:
            axes = max(axes, _AXES.get("".join(code[index + 2 : index + 3]), 1))
        elif text in _GLOBAL:
            axes = max(axes, _GLOBAL[text])
        elif text == _LOOP and code[index + 1 : index + 2] == ["("]:
            axes = max(axes, min(3, _count_arguments(code[index + 1 :])))
    return axes


def _count_arguments(code: Sequence[str]) -> int:
    """Of a call whose bracket opens first."""
    depth, count = 0, 1
    for text in code:
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            break
        count += depth == 1 and text == ","
    return count


def _bodies(tokens: Sequence[Token]) -> dict[str, list[list[Token]]]:
    """Name -> what stands for it, of each function and each macro; overloads together.

    ``name(...) ... {...}`` is enough of a function: `if` and `for` look alike, and are no names
    that anybody could use.
    """
    found: dict[str, list[list[Token]]] = {}
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        if token.text == "define" and index and tokens[index - 1].text == "#":
            _add_macro(tokens, index + 1, found)
        elif index + 1 < len(tokens) and tokens[index + 1].text == "(":
            _add_function(tokens, index, found)
    return found


def _add_macro(tokens: Sequence[Token], index: int, found: dict[str, list[list[Token]]]) -> None:
    end = index
    while end < len(tokens) and tokens[end].kind != "newline":
        end += 1
    if index < end:
        found.setdefault(tokens[index].text, []).append(list(tokens[index + 1 : end]))


def _add_function(tokens: Sequence[Token], index: int, found: dict[str, list[list[Token]]]) -> None:
    end = _after_brackets(tokens, index + 1)
    # `const`, `noexcept`, `-> T` may stand between; whatever ends a statement says: a call.
    while end < len(tokens) and tokens[end].text not in ("{", ";", ")", ",", "}"):
        end += 1
    if end < len(tokens) and tokens[end].text == "{":
        body = list(tokens[end : _after_brackets(tokens, end)])
        found.setdefault(tokens[index].text, []).append(body)


def _after_brackets(tokens: Sequence[Token], index: int) -> int:
    """Index after the bracket that closes the one at `index`."""
    depth = 0
    for at in range(index, len(tokens)):
        text = tokens[at].text
        if tokens[at].kind == "mark":
            depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            return at + 1
    return len(tokens)
