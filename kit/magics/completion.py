"""Tab completion of kit's magic lines, from the same tables that parse them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from kit.magics.cuda_text import parameter_names
from kit.magics.specs import MagicSpec, Option
from kit.magics.words import split_words

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext, SimpleMatcherResult

__all__ = ["complete_line", "make_matcher"]

_NAME_END = re.compile(r"[^\W\d]\w*$|$")
_HEADER = re.compile(r"^def[ \t]+[^\W\d]\w*[ \t]*\(.*?\)[^:\n]*:", re.MULTILINE | re.DOTALL)


def complete_line(
    spec: MagicSpec, before: str, *, cell: str = "", kernels: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """What may stand at the cursor.

    Parameters
    ----------
    spec : MagicSpec
        The magic.
    before : str
        The line between the magic's name and the cursor.
    cell : str
        The cell's text, for names of parameters.
    kernels : sequence of str
        Names that hold kernels.

    Returns
    -------
    tuple of str and list of str
        The piece in front of the cursor that each candidate replaces, and the candidates.
    """
    if spec.takes_expression:
        return _matching(before.lstrip(), kernels)  # past the "(" nothing matches: left to Python
    words = split_words(before)
    fragment = before[words[-1].start :] if words and words[-1].end == len(before) else ""
    done = [word.text for word in words[: -1 if fragment else None]]
    waiting = spec.find(done[-1]) if done else None
    if waiting is not None and waiting.metavar is not None:
        return _complete_value(waiting, fragment, cell)
    name, equals, value = fragment.partition("=")
    option = spec.find(name)
    if equals and option is not None:
        return _complete_value(option, value, cell)
    if fragment.startswith("-") or (spec.positional is None and not fragment):
        return _matching(fragment, _open_options(spec, done, fragment))
    if spec.positional is not None and not any(not one.startswith("-") for one in done):
        names = kernels if spec.positional.completes == "kernels" else spec.positional.choices
        return _matching(fragment, names)
    return fragment, []


def make_matcher(
    specs: Sequence[MagicSpec], kernel_names: Callable[[], Sequence[str]]
) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """The matcher that IPython's completer calls; it answers on kit's magic lines only.

    Parameters
    ----------
    specs : sequence of MagicSpec
        The magics.
    kernel_names : callable
        Gives the names that hold kernels.
    """
    from IPython.core import completer

    by_prefix = {spec.prefix: spec for spec in specs}

    def kit_magic_matcher(context: CompletionContext) -> SimpleMatcherResult:
        before = context.text_until_cursor
        prefix, _, rest = before.lstrip().partition(" ")
        spec = by_prefix.get(prefix)
        is_magic_line = spec is not None and not (
            spec.is_cell and "".join(context.full_text.split("\n")[: context.cursor_line]).strip()
        )
        if spec is None or not is_magic_line or before.lstrip() == prefix:
            return {"completions": []}
        fragment, found = complete_line(spec, rest, cell=context.full_text, kernels=kernel_names())
        return {
            "completions": [completer.SimpleCompletion(text=one, type="param") for one in found],
            "matched_fragment": fragment,
            "suppress": bool(found),
            "ordered": True,
        }

    mark = cast(Any, completer).context_matcher(identifier="kit_magic_matcher")
    return cast("Callable[[CompletionContext], SimpleMatcherResult]", mark(kit_magic_matcher))


def _complete_value(option: Option, fragment: str, cell: str) -> tuple[str, list[str]]:
    if option.completes is not None:
        start = _NAME_END.search(fragment)
        is_cuda = option.completes == "cuda parameters"
        names = parameter_names(cell) if is_cuda else _python_parameters(cell)
        return _matching(start.group() if start else "", names)
    if option.is_list:
        fragment = fragment.rpartition(",")[2]
    return _matching(fragment, option.choices or option.suggestions)


def _open_options(spec: MagicSpec, done: Sequence[str], fragment: str) -> list[str]:
    """Spellings of the options that may still be given, long ones unless a short one is begun."""
    given = {option.name for word in done if (option := spec.find(word.partition("=")[0]))}
    free = [
        one
        for one in spec.options
        if one.later is None and (one.repeatable or one.name not in given)
    ]
    if len(fragment) == 2 and not fragment.startswith("--"):
        return [name for one in free for name in one.spellings]
    return [f"--{one.name}" for one in free]


def _matching(fragment: str, known: Sequence[str]) -> tuple[str, list[str]]:
    return fragment, [one for one in known if one.startswith(fragment)]


def _python_parameters(cell: str) -> list[str]:
    """Parameters of the cell's functions; a body that is not finished yet does not matter."""
    names: dict[str, None] = {}
    for header in _HEADER.findall(cell):
        try:
            tree = ast.parse(f"{header} pass").body[0]
        except SyntaxError:
            continue
        if isinstance(tree, ast.FunctionDef):
            arguments = tree.args
            for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                names.setdefault(one.arg)
    return list(names)
