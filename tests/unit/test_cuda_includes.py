"""Which files a CUDA cell includes: rather one too many than one too few."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from kit.cuda import includes
from kit.cuda.includes import included_files, includes_of, leading_include
from kit.errors import BuildError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    for name, text in {
        "a.cuh": '#include "b.cuh"\n',
        "b.cuh": "// nothing\n",
        "inner/a.cuh": "// another\n",
        "inner/beside.cuh": '#include "a.cuh"\n#include <b.cuh>\n',
        "unused.cuh": "// nobody includes it\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def names(text: str, *folders: Path) -> set[str]:
    root = folders[0]
    return {
        str(Path(path).relative_to(root)) if Path(path).is_relative_to(root) else path
        for path in included_files(text, [str(one) for one in folders])
    }


@pytest.mark.parametrize(
    "text",
    [
        '#include "b.cuh"',
        "#include <b.cuh>",
        "  #  include<b.cuh> // why",
        "#/* a */include/* b */<b.cuh>",
        "/* a\n b */ #include <b.cuh>",
        "#inc\\\nlude \\\n <b.cuh>",
        "#include <b.cuh>\r\nint x;",
        "#inc\\\r\nlude <b.cuh>",
        "%:include <b.cuh>",
        "#if 0\n#include <b.cuh>\n#endif",
        "#if __has_include(<b.cuh>)\n#endif",
        '#if __has_include ( "b.cuh" )\n#endif',
        "#include_next <b.cuh>",
    ],
)
def test_every_way_to_include_a_file_is_seen(folder: Path, text: str) -> None:
    assert names(text, folder) == {"b.cuh"}


@pytest.mark.parametrize(
    "text", ["", "#define include 1", '"include <b.cuh>"', "#pragma once", "int b;  // b.cuh"]
)
def test_what_includes_nothing_reads_nothing(folder: Path, text: str) -> None:
    assert names(text, folder) == set()


def test_the_files_of_files_count_and_digests_are_of_the_content(folder: Path) -> None:
    found = included_files('#include "a.cuh"', [str(folder)])
    assert set(found) == {str(folder / "a.cuh"), str(folder / "b.cuh")}
    assert found[str(folder / "b.cuh")] == hashlib.sha256(b"// nothing\n").hexdigest()


def test_quotation_marks_look_beside_the_file_as_well_as_in_the_folders(folder: Path) -> None:
    # NVRTC takes the nearest one; the others count, too, because `#include_next` would take them.
    assert names("#include <inner/beside.cuh>", folder) == {
        "inner/beside.cuh",
        "inner/a.cuh",
        "a.cuh",
        "b.cuh",
    }


def test_files_that_include_each_other_end(folder: Path) -> None:
    (folder / "b.cuh").write_text('#include "a.cuh"\n')
    assert names('#include "a.cuh"', folder) == {"a.cuh", "b.cuh"}


def test_an_absolute_name_needs_no_folder(folder: Path) -> None:
    assert list(included_files(f'#include "{folder}/b.cuh"', ())) == [str(folder / "b.cuh")]


def test_a_missing_file_that_appears_later_makes_a_difference(folder: Path) -> None:
    text = "#if __has_include(<later.cuh>)\n#include <later.cuh>\n#endif\n"
    before = included_files(text, [str(folder)])
    (folder / "later.cuh").write_text("// now\n")
    assert included_files(text, [str(folder)]) != before


def test_a_header_that_a_macro_names_may_be_any_file_of_the_folders(folder: Path) -> None:
    text = '#define HEADER "b.cuh"\n#include HEADER\n'
    assert names(text, folder) == {
        "a.cuh",
        "b.cuh",
        "inner/a.cuh",
        "inner/beside.cuh",
        "unused.cuh",
    }


def test_folders_with_too_many_files_for_that_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(includes, "_MOST_FILES", 3)
    with pytest.raises(BuildError, match="a macro names a header"):
        included_files("#include HEADER", [str(folder)])
    assert names("#include <a.cuh>", folder) == {"a.cuh", "b.cuh"}


def test_lines_are_those_of_the_cell_also_behind_joined_ones() -> None:
    text = "\n#define A \\\n  1\n#include <a>\n"
    assert [(one.line, one.name) for one in includes_of(text)] == [(4, "a")]


def test_the_include_that_led_to_a_file_is_found(folder: Path) -> None:
    text = '\n#include "unused.cuh"\n#include HEADER\n#include "a.cuh"\n'
    folders = [str(folder)]
    assert leading_include(text, str(folder / "b.cuh"), folders) == 4
    assert leading_include(text, str(folder / "unused.cuh"), folders) == 2
    assert leading_include(text, str(folder / "inner/a.cuh"), folders) is None


def test_a_file_that_cannot_be_read_is_left_to_the_compiler(folder: Path) -> None:
    (folder / "b.cuh").unlink()
    (folder / "b.cuh").symlink_to(folder / "gone")
    assert names('#include "a.cuh"', folder) == {"a.cuh"}


def test_a_header_full_of_comments_is_read_at_once() -> None:
    """Of backtracking over comments, nobody would see the end."""
    comments = "/* a\n * b */ " * 2000 + "x\n"
    assert [one.name for one in includes_of(comments + "#include <a.h>\n")] == ["a.h"]
