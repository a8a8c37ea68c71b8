"""The names under which a compiled wrapper takes keyword-only parameters.

Pyccel renames parameters that clash with a word of the target language or with each other
(``end`` becomes ``end_0001``), and its wrappers (2.2.3) take keyword-only parameters by keyword
only, under the new names. The order of parameters never changes, so everything else is passed by
position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Final

from kit.errors import KitError
from kit.signature import NO_DEFAULT, Signature

__all__ = ["keyword_names"]

# "invalid keyword argument" up to Python 3.12, "unexpected keyword argument" from 3.13 on.
_UNKNOWN: Final = re.compile(r"(?:invalid|unexpected) keyword argument")
_SUFFIXES: Final = ("", *(f"_{number:04d}" for number in range(1, 4)))


def keyword_names(
    function: Callable[..., object], signature: Signature, generated: Mapping[str, str]
) -> Mapping[str, str]:
    """Parameter name -> the wrapper's keyword, for each keyword-only parameter.

    Parameters
    ----------
    function : callable
        The compiled function; it is probed, with arguments that it must refuse, where the
        generated sources are not at hand.
    signature : Signature
        Of the function.
    generated : mapping of str to str
        File name -> text of the generated sources, the wrapper among them.

    Raises
    ------
    KitError
        If the names can neither be read nor found by probing.
    """
    if not any(one.keyword_only for one in signature.parameters):
        return {}
    listed = _listed_keywords(signature.name, generated)
    if listed is not None and len(listed) == len(signature.parameters):
        return {
            parameter.name: keyword
            for parameter, keyword in zip(signature.parameters, listed, strict=True)
            if parameter.keyword_only
        }
    return _probed_keywords(function, signature)


def _listed_keywords(name: str, generated: Mapping[str, str]) -> list[str] | None:
    """The wrapper's own list, from its C source: the method table names the wrapper function."""
    for file, text in generated.items():
        if not file.endswith("_wrapper.c"):
            continue
        entry = re.search(rf'\{{\s*"{re.escape(name)}",\s*\(PyCFunction\)(\w+),', text)
        if entry is None:
            continue
        body = re.search(
            rf"^(?:static )?PyObject\* {entry[1]}\(.*?^\s*static char \*kwlist\[\] = \{{(.*?)\}};",
            text,
            re.DOTALL | re.MULTILINE,
        )
        if body is not None:
            return re.findall(r'"(\w*)"', body[1])
    return None


def _probed_keywords(function: Callable[..., object], signature: Signature) -> dict[str, str]:
    """Ask the wrapper which names it takes; every call is refused before anything runs."""
    only = [one for one in signature.parameters if one.keyword_only]
    # Python stops at the first missing argument and names it, in the order of the parameters.
    required: list[str] = []
    for _ in only:
        missing = re.search(
            r"missing required argument '(\w+)'", _refusal(function, signature, required)
        )
        if missing is not None:
            required.append(missing[1])
    names = [one.name for one in only if one.default is NO_DEFAULT]
    found = dict(zip(names, required, strict=False))
    for name in (one.name for one in only if one.default is not NO_DEFAULT):
        candidates = (name + a + b for a, b in product(_SUFFIXES, repeat=2))
        accepted = [
            one
            for one in dict.fromkeys(candidates)
            if one not in required
            and not _UNKNOWN.search(_refusal(function, signature, [*required, one]))
        ]
        if len(accepted) == 1:
            found[name] = accepted[0]
    if len(set(found.values())) < len(only):
        raise KitError(
            f"{signature.name}: the keywords of the compiled function cannot be told apart; "
            "compile it with kit.pyccel_kernel, or give the parameters other names"
        )
    return found


def _refusal(function: Callable[..., object], signature: Signature, keywords: Sequence[str]) -> str:
    stranger = object()  # no parameter of any type takes it
    positional = sum(not one.keyword_only for one in signature.parameters)
    try:
        function(*[stranger] * positional, **dict.fromkeys(keywords, stranger))
    except TypeError as error:
        return str(error)
    return ""
