"""What a build prints: short, the same every time, and harmless whatever the names are."""

from __future__ import annotations

from kit.errors import CellError
from kit.magics.source_text import SourceText, choose_source
from kit.show.build_text import (
    cache_table,
    detail_lines,
    kernel_line,
    source_html,
    summary_lines,
)
from kit.show.cuda_text import ResourceRow, resource_lines, warning_lines
from kit.show.messages import error_text
from kit.show.sizes import bytes_text

HOSTILE = "x\x1b[31m\u202ey"


def details(*, stable: bool) -> list[str]:
    return detail_lines(
        reason="built",
        seconds={"pyccel": 0.2},
        compiler="GNU Fortran 13.2",
        flags=("-O3",),
        key="0123456789abcdef",
        artifact_bytes=2048,
        warnings=("unused z",),
        stable=stable,
    )


def test_a_kernel_line_says_what_is_written_and_returned() -> None:
    parameters = [("z", "in"), ("out", "inout"), ("tmp", "out"), ("n", "in")]
    line = kernel_line("f", parameters, language="c", returns="float")
    assert line == "f(z, out, tmp, n): c, writes out, overwrites tmp, returns float"
    assert kernel_line("g", [], language="fortran") == "g(): fortran, writes nothing"
    assert kernel_line("g", [], language="c", returns="None") == "g(): c, writes nothing"
    assert kernel_line("g", [], language="c", returns="'tuple[float, int]'") == (
        "g(): c, returns tuple[float, int]"
    )
    several = [("a", "inout"), ("b", "inout"), ("c", "inout")]
    assert kernel_line("h", several, language="c") == "h(a, b, c): c, writes a, b and c"


def test_a_summary_of_many_kernels_stays_short() -> None:
    lines = summary_lines([f"k{n}" for n in range(30)], [], [])
    assert len(lines) == 13
    assert lines[-1] == "... and 18 more kernels"


def test_a_summary_names_classes_and_what_is_gone() -> None:
    assert summary_lines(["f(): c"], ["Point"], ["g"]) == [
        "f(): c",
        "class Point",
        "g: unbound, the cell no longer defines it",
    ]


def test_stable_details_have_no_times_versions_or_keys() -> None:
    assert details(stable=True) == ["  flags: -O3", "  warning: unused z"]
    text = "\n".join(details(stable=False))
    for piece in ("built", "pyccel 0.20 s", "GNU Fortran 13.2", "2 KiB", "0123456789ab"):
        assert piece in text


def test_text_from_outside_is_cleaned_everywhere() -> None:
    texts = [
        kernel_line(HOSTILE, [(HOSTILE, "in")], language="c"),
        *summary_lines([], [HOSTILE], [HOSTILE]),
        cache_table([("0" * 64, HOSTILE, 1)]),
        error_text("E", HOSTILE, (HOSTILE,), colour=False),
        repr(SourceText(HOSTILE, "c")),
        *resource_lines([ResourceRow(HOSTILE, 1, 0, 0, None, 256)]),
        *warning_lines([HOSTILE]),
    ]
    for text in texts:
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_sizes_are_readable() -> None:
    assert [bytes_text(one) for one in (0, 1023, 1024, 10_240, 5 * 1024**2)] == [
        "0 B",
        "1023 B",
        "1 KiB",
        "10 KiB",
        "5 MiB",
    ]


def test_the_table_of_an_empty_store_says_so() -> None:
    assert cache_table([]) == "the store is empty"


def test_source_is_escaped_with_and_without_colours() -> None:
    hostile = "<script>alert(1)</script>"
    for page in (source_html(hostile), source_html(hostile, [("#123456", hostile)])):
        assert "<script>" not in page
        assert "&lt;script&gt;" in page


def test_highlighted_source_is_the_source() -> None:
    import html
    import re

    text = (
        "\n\nmodule m\n  ! <a comment> & more\n  integer :: i = 3\n  print *, 'text'\nend module m"
    )
    page = SourceText(text, "fortran")._repr_html_()
    assert html.unescape(re.sub(r"<[^>]*>", "", page)) == text
    assert "color:#" in page
    assert "<style" not in page
    assert repr(SourceText(text, "fortran")) == text


def test_the_translation_is_shown_without_its_binding_unless_asked() -> None:
    generated = {
        "m.f90": "module m",
        "bind_c_m.f90": "binding",
        "m_wrapper.c": "wrapper",
    }
    assert choose_source(generated, "fortran", everything=False) == "module m"
    everything = choose_source(generated, "fortran", everything=True)
    assert all(text in everything for text in generated.values())
    assert choose_source({"x_wrapper.c": "only"}, "fortran", everything=False) == "only"


def test_a_fix_in_words_is_shown_without_its_comment_sign() -> None:
    error = CellError("no", line=2, fix="# did you mean x?")
    assert str(error).endswith("\n  fix: did you mean x?")
    assert error.fix == "# did you mean x?"
    assert str(CellError("no", fix="a = 1\n# or b = 2")).endswith("  fix: a = 1\n       # or b = 2")


ROW = ResourceRow("sm_80", 40, 0, 0, 0.75, 256)


def test_architectures_on_which_a_kernel_takes_the_same_share_a_line() -> None:
    rows = [
        ROW,
        ROW._replace(architecture="sm_90", registers=38),
        ROW._replace(architecture="sm_120"),
    ]
    assert resource_lines(rows) == [
        "  sm_80, sm_120: 40 registers, no spills, occupancy 75% at 256 threads",
        "  sm_90: 38 registers, no spills, occupancy 75% at 256 threads",
    ]


def test_spills_and_shared_memory_are_told_where_there_are_some() -> None:
    row = ROW._replace(spilled_bytes=48, shared_bytes=2048, occupancy=None)
    assert resource_lines([row]) == ["  sm_80: 40 registers, 48 B spilled, 2 KiB shared"]


def test_a_cell_with_many_warnings_prints_the_first() -> None:
    lines = warning_lines([f"cell line {n}:\n  unused" for n in range(7)])
    assert lines[0] == "  warning: cell line 0: unused"
    assert lines[5:] == ["  ... and 2 more in %kit_log"]


def test_source_in_two_languages_is_highlighted_in_each() -> None:
    both = SourceText("module m", "fortran", SourceText("add.f64 %fd1, %fd2, %fd3;", "ptx"))
    assert repr(both) == "module m\n\nadd.f64 %fd1, %fd2, %fd3;"
    assert both._repr_html_().count("<pre") == 2
