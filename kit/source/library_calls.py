"""What builtins, NumPy and methods of arrays do with the storage of what they are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from kit.source.storage import NOTHING, Origins, drop_axes
from kit.source.vocabulary import MODULES

__all__ = [
    "Effect",
    "attribute_shares",
    "builtin_shares",
    "is_array_method",
    "library_effect",
    "list_effect",
    "method_effect",
    "stranger_effect",
]

# A view whose number of axes is not followed; no array has as many.
_UNKNOWN_RANK: Final = -64
_NO_VIEW: Final = frozenset({"shape", "size", "dtype", "ndim", "nbytes", "itemsize", "strides"})
_SAME_RANK_VIEW: Final = frozenset({"T", "real", "imag", "conj", "conjugate", "transpose"})
_VIEWS: Final = frozenset(
    {"reshape", "ravel", "squeeze", "view", "swapaxes", "diagonal", "flat", "asarray"}
    | {"ascontiguousarray", "asfortranarray", "expand_dims", "broadcast_to", "flip", "moveaxis"}
)
_PURE_METHODS: Final = frozenset(
    {"sum", "min", "max", "copy", "mean", "std", "var", "prod", "any", "all", "dot", "argmin"}
    | {"argmax", "astype", "flatten", "tolist", "item", "cumsum", "round", "trace", "nonzero"}
)
_ARRAY_METHODS: Final = _PURE_METHODS | _SAME_RANK_VIEW | _VIEWS | {"fill", "sort", "put", "conj"}
_PURE_NUMPY: Final = frozenset(
    {"mean", "std", "var", "dot", "inner", "outer", "maximum", "minimum", "clip", "power", "any"}
    | {"all", "argmin", "argmax", "cumsum", "round", "ceil", "log10", "log2", "log1p", "hypot"}
    | {"add", "subtract", "multiply", "negative", "square", "median", "diff", "average"}
)
_BINARY_NUMPY: Final = frozenset(
    {"arctan2", "cross", "divide", "matmul", "mod", "true_divide", "vecdot", "add", "subtract"}
    | {"multiply", "power", "maximum", "minimum", "dot", "hypot", "linspace", "full", "full_like"}
    | {"array", "arange", "zeros", "ones", "empty", "sum", "min", "max", "amin", "amax", "prod"}
)
_LIST_READS: Final = frozenset(
    {"union", "intersection", "difference", "symmetric_difference", "isdisjoint", "issubset"}
    | {"issuperset", "count", "index"}
)
# Not `append`: of a list in a list, the inner one is written by way of the outer one.
_TAKES_ELEMENTS: Final = frozenset(
    {"extend", "update", "intersection_update", "difference_update", "symmetric_difference_update"}
)
_ELEMENTS: Final = frozenset({"zip", "enumerate"})
_SAME: Final = frozenset({"list", "tuple", "set", "dict", "min", "max"})


class Effect(NamedTuple):
    """What a call does: the storage that its result may share, and what it may write."""

    shares: Origins = NOTHING
    writes: Origins = NOTHING


def attribute_shares(name: str, origins: Origins) -> Origins:
    """What `x.name` may share storage with."""
    if name in _NO_VIEW:
        return NOTHING
    return origins if name in _SAME_RANK_VIEW else drop_axes(origins, _UNKNOWN_RANK)


def builtin_shares(name: str, positional: Sequence[Origins]) -> Origins:
    """What the result of a builtin function may share storage with; it writes nothing."""
    shared = _every(positional)
    if name in _ELEMENTS:
        return drop_axes(shared, -1)
    if name in _SAME:
        is_element = len(positional) == 1 and name in {"min", "max"}
        return drop_axes(shared, 1) if is_element else shared
    return NOTHING


def library_effect(
    origin: str, positional: Sequence[Origins], keywords: Mapping[str, Origins]
) -> Effect:
    """What `numpy.linalg.norm(...)` and the like do; `origin` is the full name."""
    module, _, name = origin.rpartition(".")
    out = keywords.get("out", NOTHING)
    first = positional[0] if positional else NOTHING
    if module == "numpy" and name in _SAME_RANK_VIEW:
        return Effect(shares=first, writes=out)
    if module == "numpy" and name in _VIEWS:
        return Effect(shares=drop_axes(first, _UNKNOWN_RANK), writes=out)
    if name not in MODULES.get(module, ()) and not (module == "numpy" and name in _PURE_NUMPY):
        return stranger_effect(positional, keywords)
    if module == "numpy" and name != "where":
        # np.sqrt(x, y) and np.multiply(x, y, z) write their last argument.
        out += _every(positional[2 if name in _BINARY_NUMPY else 1 :])
    is_view = name == "array" and "copy" in keywords
    return Effect(shares=first if is_view else NOTHING, writes=out)


def method_effect(
    name: str, receiver: Origins, positional: Sequence[Origins], keywords: Mapping[str, Origins]
) -> Effect:
    """What `x.name(...)` does with `x` and with its arguments."""
    # Classes may have methods of these names, too, which write what they are given.
    writes = stranger_effect(positional, keywords).writes
    if name in _PURE_METHODS:
        return Effect(writes=writes)
    if name in _SAME_RANK_VIEW:
        return Effect(shares=receiver, writes=writes)
    if name in _VIEWS:
        return Effect(shares=drop_axes(receiver, _UNKNOWN_RANK), writes=writes)
    return Effect(writes=writes + receiver)


def list_effect(name: str, effect: Effect, plain: Collection[str], receiver: Origins) -> Effect:
    """The effect of `x.name(...)` where `plain` are lists, sets and tuples of numbers.

    Some methods only read the lists that they are given, and some of them the object, too.
    """
    if name not in _TAKES_ELEMENTS | _LIST_READS:
        return effect
    written = tuple(one for one in effect.writes if one[0] not in plain or one[1])
    return effect._replace(writes=written + (receiver if name in _TAKES_ELEMENTS else NOTHING))


def is_array_method(name: str) -> bool:
    """Whether `".sum"` and the like are methods of arrays, which keep nothing."""
    return name[:1] == "." and name[1:] in _ARRAY_METHODS


def stranger_effect(positional: Sequence[Origins], keywords: Mapping[str, Origins]) -> Effect:
    """What a function of unknown body may do: write whatever it is given."""
    return Effect(writes=_every(positional) + _every(list(keywords.values())))


def _every(several: Sequence[Origins]) -> Origins:
    return tuple(origin for one in several for origin in one)
