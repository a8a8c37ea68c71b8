"""A refusal's fix in the caller's own words: what the call passes, as it is written there.

The plan knows parameters only; `smooth(x)` refused for `smooth(data["u"], out)` is mended by lines
about `data["u"]`. The source of the call is read only once it is refused.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Mapping, Set
from keyword import iskeyword
from pathlib import Path
from types import FrameType

from kit.errors import ArgumentRefused, argument_refused
from kit.signature import Signature

__all__ = ["in_words_of_caller", "reword_fix"]

_PACKAGE = str(Path(__file__).parents[1])
# What binds at least as tightly as an attribute: the rest needs parentheses in front of one.
_TIGHT = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Tuple)
_STRING = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""


def in_words_of_caller(
    refusal: ArgumentRefused, signature: Signature, views: Set[str] = frozenset()
) -> ArgumentRefused:
    """The same refusal with a fix about the caller's expressions, where they can be read.

    For `views`, parameters for which an `ArrayView` was passed, it is about their ndarrays.
    """
    texts = _passed_texts(_calling_frame(), signature)
    if views:
        texts = texts or {one.name: one.name for one in signature.parameters}
        texts = {name: text + ".ndarray" * (name in views) for name, text in texts.items()}
    fix = reword_fix(refusal.fix, refusal.kernel, refusal.argument, texts)
    if fix == refusal.fix:
        return refusal
    kind = TypeError if isinstance(refusal, TypeError) else ValueError
    return argument_refused(
        kind,
        refusal.kernel,
        refusal.argument,
        found=refusal.found,
        need=refusal.need,
        fix=fix,
    )


def reword_fix(fix: str, kernel: str, argument: str, texts: Mapping[str, str]) -> str:
    """Lines about parameters as lines about what was passed for them.

    Parameters
    ----------
    fix : str
        Lines that take each parameter to be a variable of the caller's.
    kernel, argument : str
        Which argument of which kernel they mend.
    texts : mapping of str to str
        Parameter -> the expression that was passed, for every argument of the call.

    Examples
    --------
    >>> texts = {"x": "data[0]", "out": "result"}
    >>> print(reword_fix("x = x.astype(np.float64)", "smooth", "x", texts))
    x = data[0].astype(np.float64)
    smooth(x, result)
    >>> print(reword_fix("x = x.astype(np.float64)", "smooth", "x", {"x": "u", "out": "v"}))
    u = u.astype(np.float64)
    """
    if argument not in texts:
        return fix
    is_variable = texts[argument].isidentifier() and not iskeyword(texts[argument])  # None, True
    lines: list[str] = []
    target = f"{argument} = "
    for line in fix.splitlines():
        if line.startswith("#"):  # about the annotation, which names the parameter
            lines.append(line)
        elif line.startswith(target) and not is_variable:
            lines.append(target + _replace(line.removeprefix(target), texts))
            rest = ", ".join(texts[name] if name != argument else name for name in texts)
            lines.append(f"{kernel}({rest})")
        else:
            lines.append(_replace(line, texts))
    return "\n".join(lines)


def _replace(line: str, texts: Mapping[str, str]) -> str:
    """Every variable of the line that is a parameter; keywords (`n=`) and strings stay.

    Examples
    --------
    >>> _replace('x["x"] = x_buffer  # x', {"x": "data"})
    'data["x"] = x_buffer  # x'
    """
    names = "|".join(map(re.escape, texts))
    return re.sub(
        rf"  # .*|{_STRING}|(?<![\w.])({names})(?![\w=])",
        lambda match: match[0] if match[1] is None else texts[match[1]],
        line,
    )


def _calling_frame() -> FrameType | None:
    """The nearest frame outside kit."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def _passed_texts(frame: FrameType | None, signature: Signature) -> dict[str, str]:
    """Parameter -> expression, for a call that is written out; empty for any other."""
    call = None if frame is None else _call_node(frame)
    if call is None:
        return {}
    texts: dict[str, str] = {}
    for parameter, node in zip(signature.parameters, call.args, strict=False):
        texts[parameter.name] = _text(node)
    for keyword in call.keywords:
        if keyword.arg is not None:
            texts[keyword.arg] = _text(keyword.value)
    return texts


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, _TIGHT) else f"({text})"


def _call_node(frame: FrameType) -> ast.Call | None:
    """The call that a frame is in the middle of, without star arguments; None if unreadable."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
    if len(lines) != last - first + 1:
        return None
    raw = [line.encode() for line in lines]  # columns count bytes
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][start:]
    try:
        node = ast.parse(b"(" + b"".join(raw) + b")", mode="eval").body
    except (SyntaxError, ValueError):  # the file has changed since
        return None
    if not isinstance(node, ast.Call):
        return None
    is_starred = any(isinstance(one, ast.Starred) for one in node.args)
    is_mapped = any(keyword.arg is None for keyword in node.keywords)
    return None if is_starred or is_mapped else node
