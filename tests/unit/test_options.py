"""The option tables of the magics: parsing, errors, help."""

from __future__ import annotations

import pytest

from kit.errors import CellError
from kit.magics.options import parse_line
from kit.magics.request import parse_request
from kit.magics.specs import MagicSpec, Option, Positional
from kit.magics.words import split_words

SPEC = MagicSpec(
    name="make",
    is_cell=True,
    summary="Make something.",
    options=(
        Option(name="language", short="l", metavar="L", choices=("fortran", "c"), help="which"),
        Option(name="outputs", short="o", metavar="A,B", repeatable=True, help="written"),
        Option(name="flags", metavar='"..."', help="flags"),
        Option(name="openmp", help="pragmas"),
        Option(name="quiet", short="q", default="no", help="silent"),
        Option(name="debug", help="checks", later="leave it out"),
    ),
    example="%%make -l c",
)
ACTION = MagicSpec(
    name="do",
    is_cell=False,
    summary="Do.",
    positional=Positional(metavar="ACTION", choices=("list", "clear")),
    example="%do list",
)


def refusal(line: str, spec: MagicSpec = SPEC) -> CellError:
    with pytest.raises(CellError) as caught:
        parse_line(spec, line)
    return caught.value


@pytest.mark.parametrize("line", ["--language c", "--language=c", "-l c", "-lc", "-l=c", "-l 'c'"])
def test_every_way_to_write_a_value_means_the_same(line: str) -> None:
    assert parse_line(SPEC, line).text("language") == "c"


def test_quotes_group_and_disappear() -> None:
    parsed = parse_line(SPEC, '--flags "-O2 -g" -q')
    assert parsed.text("flags") == "-O2 -g"
    assert parsed.has("quiet")


def test_a_value_may_begin_with_a_dash_unless_it_is_an_option() -> None:
    assert parse_line(SPEC, "--flags -O0").text("flags") == "-O0"
    assert parse_line(SPEC, "--flags=-O0").text("flags") == "-O0"
    assert parse_line(SPEC, '--flags "-q"').text("flags") == "-q"
    assert "needs a value" in refusal("--flags -q").message


def test_an_empty_value_is_a_value() -> None:
    assert parse_line(SPEC, '--flags ""').text("flags") == ""
    assert parse_line(SPEC, "--flags=").text("flags") == ""


def test_a_repeatable_option_keeps_all_values_in_order() -> None:
    parsed = parse_line(SPEC, "-o a --outputs b,c")
    assert [word.text for word in parsed.options["outputs"]] == ["a", "b,c"]


def test_nothing_given_is_nothing_parsed() -> None:
    parsed = parse_line(SPEC, "   ")
    assert dict(parsed.options) == {}
    assert parsed.text("language") is None


@pytest.mark.parametrize(
    ("line", "column", "near"),
    [
        ("--lang c", 8, "--language"),
        ("-q --langage c", 11, "--language"),
        ("--opemp", 8, "--openmp"),
        ("--Quiet", 8, "--quiet"),
        ("-language c", 8, "--language"),
    ],
)
def test_an_unknown_option_names_its_place_and_the_nearest(
    line: str, column: int, near: str
) -> None:
    error = refusal(line)
    assert (error.line, error.column) == (1, column)
    assert error.source_line == f"%%make {line}"
    assert error.fix is not None
    assert near in error.fix


def test_an_option_like_nothing_known_points_to_the_help() -> None:
    assert refusal("--zzz").fix == "%%make? lists the options"
    assert refusal("--").fix == "%%make? lists the options"


@pytest.mark.parametrize("line", ["-l pascal", "--language=pascal", "-lpascal"])
def test_a_wrong_value_names_the_allowed_ones(line: str) -> None:
    error = refusal(line)
    assert "fortran or c" in error.message
    assert error.source_line is not None
    assert error.column is not None
    assert error.source_line[error.column - 1 :].startswith("pascal")


def test_a_misspelt_value_is_corrected() -> None:
    assert refusal("-l fortan").fix == "--language fortran"


def test_an_option_given_twice_is_refused_at_the_second() -> None:
    error = refusal("-q -q")
    assert error.column == 11
    assert "twice" in error.message


def test_a_switch_with_a_value_is_refused() -> None:
    assert refusal("--openmp=yes").fix == "write --openmp alone"


def test_a_missing_value_is_refused_with_an_example() -> None:
    error = refusal("-l")
    assert error.fix == "-l fortran"
    assert refusal("--language --openmp").message == "--language needs a value"


@pytest.mark.parametrize("line", ['--flags "-O2', "--flags '-O2", 'a"b'])
def test_an_open_quote_is_refused_and_not_guessed(line: str) -> None:
    assert "never closed" in refusal(line).message


def test_a_bare_word_suggests_the_option_it_stands_for() -> None:
    assert refusal("fortran").fix == "--language fortran"
    assert refusal("language=c").fix == "--language c"
    assert refusal("openmp").fix == "--openmp"
    assert "%%make?" in (refusal("something").fix or "")


def test_an_option_of_a_later_version_says_so_and_what_to_do() -> None:
    error = refusal("--debug")
    assert "--debug comes with a later version" in error.message
    assert error.fix == "leave it out"


def test_a_line_magic_takes_one_of_its_words() -> None:
    assert parse_line(ACTION, " list ").words[0].text == "list"
    assert refusal("lst", ACTION).fix == "%do list"
    assert refusal("", ACTION).message == "%do needs list|clear"
    assert refusal("list clear", ACTION).column == len("%do list ") + 1
    assert refusal("list", SPEC).line == 1
    assert refusal("lst", ACTION).line is None  # which line of the cell, a line magic cannot know


def test_hidden_characters_of_the_line_do_not_reach_the_message() -> None:
    assert "\x1b" not in str(refusal("\x1b[31mred"))
    assert "\u202e" not in str(refusal("--\u202eeslaf"))


def test_help_lists_every_option_with_default_and_example() -> None:
    text = SPEC.help_text()
    for option in SPEC.options:
        assert option.usage in text
        assert option.help in text
    assert "(default: no)" in text
    assert "[comes with a later version]" in text
    assert text.rstrip().endswith("%%make -l c")
    assert "%do list|clear" in ACTION.help_text()


def test_words_know_their_place() -> None:
    line = "  -l c  --flags 'x y'"
    for word in split_words(line):
        assert word.text in line[word.start : word.end]
    assert [(word.text, word.quoted) for word in split_words(line)][-1] == ("x y", True)


def test_flags_are_split_as_by_a_shell() -> None:
    flags = parse_request("--flags '-O2 -DNAME=\"a b\"'").options.flags
    assert flags == ("-O2", "-DNAME=a b")


def test_an_open_quote_inside_the_flags_is_refused_at_its_place() -> None:
    with pytest.raises(CellError, match="quote inside --flags") as refused:
        parse_request("""--flags '-DNAME="a b'""")
    assert refused.value.line == 1
    assert refused.value.column == len("%%pyccel_kernel --flags ") + 1
