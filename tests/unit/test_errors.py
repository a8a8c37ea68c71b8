"""The error tree: what every error carries survives a process border."""

from __future__ import annotations

import pickle
from functools import partial

import pytest

import kit
from kit import errors
from kit.cache import ArtifactUnusable
from kit.errors import (
    ArgumentRefused,
    BuildError,
    CacheError,
    CellError,
    KitError,
    KitWarning,
    LaunchError,
    StaleKernelError,
    argument_refused,
)

ERRORS = [
    KitError("plain"),
    CellError(
        "no annotation",
        line=3,
        column=7,
        source_line="def f(a):",
        fix="def f(a: 'float64[:]'):",
        cell="heat",
    ),
    BuildError("no gfortran", line=2, log="sh: gfortran: not found", others=("and more",)),
    LaunchError("trap", kernel="k", kind="trap", block=(1, 0, 0), thread=(2, 0, 0), line=4),
    CacheError("0777", need="0755", fix="chmod go-w x"),
    ArtifactUnusable("gone", need="there", fix="%kit_cache clear"),
    StaleKernelError("f failed"),
    argument_refused(TypeError, "f", "a", found="int32", need="float64", fix="a = a.astype(float)"),
    argument_refused(ValueError, "f", "a", found="stride 0", need="own", fix="a = a.copy()"),
]


def _concrete(cls: type[KitError]) -> set[type[KitError]]:
    below = {found for sub in cls.__subclasses__() for found in _concrete(sub)}
    return below | ({cls} if cls.__module__.startswith("kit.errors") else set())


def test_every_class_of_the_tree_is_in_the_list() -> None:
    abstract = {ArgumentRefused, errors._LocatedError}
    assert _concrete(KitError) - abstract <= {type(error) for error in ERRORS}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_text_attributes_and_notes(error: KitError) -> None:
    error.add_note("seen in a worker")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.args == error.args
    assert vars(copy) == vars(error)
    assert copy.__notes__ == error.__notes__


def test_a_copied_refusal_is_still_a_type_error_or_a_value_error() -> None:
    for kind in (TypeError, ValueError):
        error = argument_refused(kind, "f", "a", found="x", need="y", fix="z")
        assert isinstance(pickle.loads(pickle.dumps(error)), kind)


def test_a_launch_error_says_of_its_place_what_is_known() -> None:
    error = partial(LaunchError, "no", kernel="k", kind="signal")
    known = error(block=(1, 0, 0), thread=(2, 3, 0), line=4, source_line="x")
    assert str(known) == "k, block (1, 0, 0), thread (2, 3, 0): cell line 4: no\n  x"
    assert str(error(block=(1, 0, 0))) == "k, block (1, 0, 0): no"
    assert str(error()) == "k: no"


def test_a_warning_survives_pickling() -> None:
    assert str(pickle.loads(pickle.dumps(KitWarning("once")))) == "once"


def test_the_caret_stands_below_its_character_where_hidden_ones_come_before() -> None:
    line = 'a = "\u202e\u061c" + b'
    error = kit.CellError("no", line=2, column=line.index("b") + 1, source_line=line)
    _, shown, caret = str(error).split("\n")
    assert shown == '  a = "" + b'
    assert shown[caret.index("^")] == "b"


def test_a_name_with_line_breaks_does_not_forge_lines_of_a_refusal() -> None:
    hostile = type("X\n  fix:   import os\u2028", (), {})()

    def nothing(x: object) -> None: ...

    kernel = kit.PyccelKernel(nothing, signature="def nothing(x: 'float64[:]'): ...", outputs=())
    with pytest.raises(kit.ArgumentRefused) as caught:
        kernel(hostile)
    assert [one[:8].strip() for one in str(caught.value).split("\n")[1:4]] == [
        "found:",
        "need:",
        "fix:",
    ]
    assert len(str(kernel.plan(hostile)).split("\n")) == 6
