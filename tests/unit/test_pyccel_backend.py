"""Units become artifacts: values, flags, diagnostics, the user's own modules."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.machinery
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kit.backends import commands, compiler_facts, diagnostics, workers
from kit.backends.files_read import FilesRead
from kit.backends.imports import bring_user_modules
from kit.backends.protocol import CompileReply, CompileRequest, Diagnostic
from kit.backends.pyccel import compile_unit
from kit.backends.source import character_column, without_keyword_only
from kit.errors import BuildError
from kit.terms import Language

AXPY = """\
def axpy(a: float, x: 'float64[:]', y: 'float64[:]'):
    \"\"\"Add a times x to y.\"\"\"
    for i in range(len(x)):
        y[i] = y[i] + a * x[i]
"""

_numbers = itertools.count()


@pytest.fixture(scope="module", autouse=True)
def end_worker() -> Iterator[None]:
    yield
    workers.shut_down()


def build(
    source: str, scratch: Path, language: Language = "fortran", **options: Any
) -> CompileReply:
    scratch.mkdir(exist_ok=True)
    request = CompileRequest(
        source=source,
        module_name=f"kit_test_{os.getpid()}_{next(_numbers)}",
        language=language,
        scratch=str(scratch),
        **options,
    )
    return compile_unit(request)


def load(reply: CompileReply) -> ModuleType:
    assert reply.ok, reply.log
    assert reply.artifact is not None
    name = Path(reply.artifact).name.split(".")[0]
    loader = importlib.machinery.ExtensionFileLoader(name, reply.artifact)
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    return importlib.util.module_from_spec(spec)


# ---- artifacts --------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["fortran", "c"])
def test_a_unit_becomes_a_function_with_kits_flags_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Language
) -> None:
    empty = tmp_path / "cwd"
    empty.mkdir()
    monkeypatch.chdir(empty)
    reply = build(AXPY, tmp_path / "scratch", language)
    x, y = np.arange(5.0), np.ones(5)
    module = load(reply)
    module.axpy(2.0, x, y)
    assert np.array_equal(y, 2.0 * np.arange(5.0) + 1.0)
    assert module.axpy.__doc__ == "Add a times x to y."
    assert not list(empty.iterdir())
    unit = next(line for line in reply.log.splitlines() if line.startswith("$") and " -O3" in line)
    assert "-fno-math-errno -fno-trapping-math" in unit
    assert "-funroll-loops" not in reply.log
    assert str(tmp_path) not in reply.log
    suffix = ".f90" if language == "fortran" else ".c"
    assert any(name.endswith(suffix) and "axpy" in text for name, text in reply.generated.items())
    assert {"parsing", "translating", "compiling", "linking", "total"} <= reply.seconds.keys()
    assert not reply.files
    assert not reply.diagnostics


def test_a_kernel_that_needs_nothing_of_the_fortran_library_does_not_load_it(
    tmp_path: Path,
) -> None:
    reply = build(AXPY, tmp_path / "scratch")
    assert reply.artifact is not None
    needed = subprocess.run(
        ["readelf", "-d", reply.artifact], capture_output=True, text=True, check=True
    )
    libraries = [line for line in needed.stdout.splitlines() if "NEEDED" in line]
    assert not [line for line in libraries if "gfortran" in line or "python" in line]
    assert "RUNPATH" not in needed.stdout
    assert "site-packages" not in needed.stdout


def test_flags_replace_the_defaults_and_openmp_is_compiled_in(tmp_path: Path) -> None:
    source = """\
def fill(x: 'float64[:]'):
    #$ omp parallel for
    for i in range(len(x)):
        x[i] = 2.0 * i
"""
    reply = build(source, tmp_path / "scratch", "c", flags=("-O1", '-DNAME="a b"'), openmp=True)
    x = np.zeros(9)
    load(reply).fill(x)
    assert np.array_equal(x, 2.0 * np.arange(9))
    assert "-march=native" not in reply.log
    assert "-O3" not in reply.log
    assert """-O1 '-DNAME="a b"'""" in reply.log
    assert "-lgomp" in reply.log


def test_compilers_keep_their_temporary_files_in_the_store(tmp_path: Path) -> None:
    reply = build(AXPY, tmp_path / "scratch", flags=("-v",))  # names them
    assert reply.artifact is not None
    assert f"-o {tmp_path}/scratch/cc" in reply.log
    assert f"-o {tempfile.gettempdir()}/cc" not in reply.log


def test_debug_checks_bounds(tmp_path: Path) -> None:
    reply = build(AXPY, tmp_path / "scratch", debug=True)
    assert reply.ok
    assert "-fcheck=bounds" in reply.log
    assert "-DNDEBUG -O" not in reply.log


def test_keyword_only_parameters_can_be_passed_by_position(tmp_path: Path) -> None:
    source = "def f(x: 'float64[:]', *, end: int, b: float = 2.0):\n    x[0] = end * b\n"
    x = np.zeros(1)
    load(build(source, tmp_path / "scratch")).f(x, 3, 5.0)
    assert x[0] == 15.0


def test_lists_need_neither_pkg_config_nor_cmake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("gcc", "gfortran", "as", "ld"):
        found = next(Path(d, name) for d in os.environ["PATH"].split(":") if Path(d, name).exists())
        (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    source = "def f(n: int) -> float:\n    a = [1.0]\n    a.append(2.0 * n)\n    return a[1]\n"
    for language in ("c", "fortran"):
        assert load(build(source, tmp_path / language, language)).f(4) == 8.0


# ---- the user's own modules --------------------------------------------------------------------


def test_modules_beside_the_notebook_are_linked_in_and_reported_by_content(tmp_path: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "outer.py").write_text(
        "from inner import half\nSCALE = 3.0\n\ndef scaled(x: float) -> float:\n"
        "    return SCALE * half(x)\n"
    )
    (user / "inner.py").write_text("def half(x: float) -> float:\n    return x / 2.0\n")
    digests = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in user.iterdir()}
    source = "from outer import scaled\n\ndef f(x: float) -> float:\n    return scaled(x)\n"
    reply = build(source, tmp_path / "scratch", search_path=(str(tmp_path), str(user)))
    assert reply.files == digests
    assert sorted(path.name for path in user.iterdir()) == ["inner.py", "outer.py"]
    for path in [*user.iterdir(), *(tmp_path / "scratch").glob("[io]*er.*")]:
        path.unlink()
    assert load(reply).f(4.0) == 6.0


@pytest.mark.parametrize("language", ["fortran", "c"])
@pytest.mark.parametrize(
    "comment",
    [
        "# ends in \\",
        "# \\frac{a}{b} \\\\ ",
        "# data/*.txt",
        "# data/*.txt */ /*",
        '"""data/*.txt and */"""',
        'r"""a \\\n    b \\\n    """; y += 0.0',
        "# \u00e9 /* \\",
    ],
)
def test_no_comment_swallows_the_next_statement(
    comment: str, language: Language, tmp_path: Path
) -> None:
    text = f"    {comment}\n"
    source = f"def f(x: float) -> float:\n{text}    y = 5.0\n{text}    y = x\n{text}    return y\n"
    source = source.replace(f"{text}    y = 5.0\n", "    y = 5.0\n") if "y +=" in text else source
    assert load(build(source, tmp_path, language)).f(2.0) == 2.0


def test_comments_of_a_users_module_are_harmless_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def g(x: float) -> float:\n    y = 5.0\n    # ends in \\\n    y = x\n    return y\n"
    )
    source = "from mine import g\ndef f(x: float) -> float:\n    return g(x)\n"
    reply = build(source, tmp_path / "scratch", search_path=(str(tmp_path),))
    assert load(reply).f(2.0) == 2.0


def test_an_error_in_a_users_module_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("\ndef g(x: float) -> float:\n    return x + missing\n")
    source = "from broken import g\n\ndef f(x: float) -> float:\n    return g(x)\n"
    reply = build(source, tmp_path / "scratch", search_path=(str(tmp_path),))
    assert not reply.ok
    assert reply.diagnostics[0].message == "broken.py line 3: Undefined variable"
    assert reply.diagnostics[0].line is None
    # What the failed build read counts too: a corrected file is a new build.
    assert str(tmp_path / "broken.py") in reply.files


def test_modules_in_directories_that_are_not_watched_are_reported_too(tmp_path: Path) -> None:
    user = tmp_path / "scratch" / "user"
    user.mkdir(parents=True)
    (user / "near.py").write_text("def g(x: float) -> float:\n    return x\n")
    source = "from near import g\n\ndef f(x: float) -> float:\n    return g(x)\n"
    reply = build(source, tmp_path / "scratch", search_path=(str(user),))
    assert list(reply.files) == [str(user / "near.py")]


def test_what_was_used_counts_not_what_is_there_later(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("old")
    with FilesRead() as files:
        files.note(file, file.read_bytes())
        file.read_text()
    file.write_text("new")
    assert files.digests() == {str(file): hashlib.sha256(b"old").hexdigest()}


def test_modules_that_import_each_other_end_the_search(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("import a\nimport numpy\n")
    scratch = tmp_path / "scratch"
    modules = bring_user_modules("import a", [str(tmp_path)], scratch, lambda name: name == "numpy")
    assert [module.name for module in modules] == ["b", "a"]


# ---- diagnostics -------------------------------------------------------------------------------


def first(reply: CompileReply) -> Diagnostic:
    assert not reply.ok
    assert reply.artifact is None
    return reply.diagnostics[0]


def test_an_undefined_name_is_shown_at_its_character(tmp_path: Path) -> None:
    line = "    é = 1.0; x[0] = é + zz"
    told = first(build(f"\ndef f(x: 'float64[:]'):\n{line}\n", tmp_path / "scratch"))
    assert (told.line, told.column, told.symbol) == (3, line.index("é + zz") + 1, "zz")
    assert (told.stage, told.severity) == ("semantic", "fatal")
    assert "\x1b" not in told.message


def test_a_failed_unit_leaves_the_next_one_working(tmp_path: Path) -> None:
    first(build("def f(x):\n    return x\n", tmp_path / "one"))
    assert build(AXPY, tmp_path / "two").ok


def test_python_syntax_errors_have_line_and_column(tmp_path: Path) -> None:
    told = first(build("\ndef f(x: float):\n    x = = 1\n", tmp_path / "scratch"))
    assert (told.line, told.column, told.stage) == (3, 9, "syntax")


def test_an_import_that_is_not_found_is_shown_at_its_line(tmp_path: Path) -> None:
    told = first(
        build("import numpy\nimport nosuch\n\ndef f(x: float):\n    return x\n", tmp_path / "s")
    )
    assert (told.line, told.symbol) == (2, "nosuch")


def test_a_pragma_with_a_typing_error_says_what_was_expected(tmp_path: Path) -> None:
    told = first(build("def f(n: int):\n    #$ omp paralel\n    return n\n", tmp_path / "scratch"))
    assert told.line == 2
    assert "pragma cannot be read" in told.message
    assert "parallel" in told.message


def test_what_gfortran_refuses_is_traced_to_the_units_line(tmp_path: Path) -> None:
    source = """\
from typing import Final

def f(x: 'Final[float64[:]]', y: 'float64[:]'):
    y[0] = 2.0
    x[1] = y[0] * 3.0
"""
    told = first(build(source, tmp_path / "scratch"))
    assert told.line == 5
    assert "INTENT(IN)" in told.message
    assert ".f90 line" in told.message


@pytest.mark.parametrize("language", ["fortran", "c"])
def test_a_name_that_only_a_pragma_knows_is_traced_to_the_pragma(
    language: Language, tmp_path: Path
) -> None:
    source = (
        "def f(x: 'float64[:]'):\n"
        "    #$ omp parallel for reduction(+:nosuch)\n"
        "    for i in range(x.shape[0]):\n"
        "        x[i] = i\n"
    )
    told = first(build(source, tmp_path / "scratch", language, openmp=True))
    assert "nosuch" in told.message
    assert told.line == 2


def test_a_generated_line_that_fits_two_lines_of_the_unit_is_traced_to_none() -> None:
    output = "/s/m.f90:2:3:\n\n    2 |  x(0) = y(0)\n      |  1\nError: no good at (1)\n"
    generated = {"m.f90": "subroutine f(x, y)\nx(0_i64) = y(0_i64)\n"}
    source = "def f(x, y):\n    x[0] = y[0]\n    x[0] = y[0]\n"
    told = diagnostics.from_compiler(output, generated=generated, source=source)
    assert [one.line for one in told] == [None]
    assert "m.f90 line 2: x(0_i64) = y(0_i64)" in told[0].message
    unique = diagnostics.from_compiler(output, generated=generated, source=source[:-16])
    assert [one.line for one in unique] == [2]


def test_a_linkers_complaint_is_not_lost() -> None:
    output = "/usr/bin/ld: a.o: in function `f':\na.c:(.text+0x1): undefined reference to `g'\n"
    told = diagnostics.from_compiler(output, generated={}, source="")
    assert "undefined reference to `g'" in told[0].message


def test_a_crash_of_pyccel_is_called_pyccels_with_the_last_line_it_worked_on() -> None:
    import ast

    def visit(expr: ast.AST) -> None:
        raise KeyError("nothing here")

    with pytest.raises(KeyError) as caught:
        visit(ast.parse("\n\nx = 1").body[0])
    told = diagnostics.from_crash(caught.value, stage="semantic", source="\n\nx = 1\n")
    assert told.line == 3
    assert "fault of Pyccel" in told.message
    assert "KeyError: 'nothing here'" in told.message


# ---- pieces ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(*, a): pass", "def f(   a): pass"),
        ("def f(a=2 * 3, *, b=1): pass", "def f(a=2 * 3,    b=1): pass"),
        ("def f(\n    a,\n    *,\n    b,\n): pass", "def f(\n    a,\n      \n    b,\n): pass"),
        ("def f(a, *, # c *, d\n b): pass", "def f(a,    # c *, d\n b): pass"),
        ("def f(é, *, b): pass", "def f(é,    b): pass"),
        ("def f(a=1, *, b): pass", "def f(a=1, *, b): pass"),  # would not parse: left alone
        ("def f(*a, b): pass", "def f(*a, b): pass"),
        ("def f(a): pass", "def f(a): pass"),
        # A form feed ends no line: counted as one, the product above would lose its star.
        ("#\x0c\nb = 2 * 3\ndef f(*, a): pass", "#\x0c\nb = 2 * 3\ndef f(   a): pass"),
        ("not python (", "not python ("),
    ],
)
def test_the_star_is_blanked_without_moving_anything(source: str, expected: str) -> None:
    assert without_keyword_only(source) == expected


def test_columns_count_characters_not_bytes() -> None:
    assert character_column("é = zz", 5) == 5
    assert character_column("", 0) == 1


def test_start_up_code_of_fast_math_is_never_linked(tmp_path: Path) -> None:
    flags = ("-ffast-math", "-flto", "-L/opt/lib", "-lfoo")
    settings = commands.CommandSettings(
        scratch=tmp_path, unit_flags={"c": flags, "fortran": flags}, run_path=("/opt/gcc/lib",)
    )
    runner = commands.Commands(
        settings=settings, on_stage=lambda stage: None, log=lambda text: None
    )
    line = runner._link_line(["gcc", "-shared", "a.o", "-Wl,-rpath", "/python/lib", "-o", "a.so"])
    runner.close()
    assert "-ffast-math" not in line
    assert line.count("-lfoo") == 1
    assert {"-flto", "-L/opt/lib"} <= set(line)
    assert "/python/lib" not in line
    assert line[-1] == "-Wl,-rpath,/opt/gcc/lib"
    assert "-Wl,--disable-new-dtags" in line


def test_only_run_time_libraries_that_the_loader_would_not_find_are_put_on_the_path(
    tmp_path: Path,
) -> None:
    library = tmp_path / "env" / "lib" / "libgfortran.so.5"
    library.parent.mkdir(parents=True)
    library.touch()
    # As in a conda environment: a link, seen from the compiler's own directory.
    (tmp_path / "libgfortran.so").symlink_to(library)
    answers = {"gfortran": tmp_path / "libgfortran.so", "gcc": "/usr/lib/libgcc_s.so.1"}
    compilers: dict[str, str] = {}
    for name, answer in answers.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {answer}\n")
        program.chmod(0o755)
        compilers["fortran" if name == "gfortran" else "c"] = str(program)
    assert compiler_facts.find_run_path(compilers) == (str(library.parent),)
    (tmp_path / "gfortran").write_text("#!/bin/sh\necho libgfortran.so\n")  # it has none
    assert compiler_facts.find_run_path(compilers) == ()


# ---- protocol ----------------------------------------------------------------------------------

REPLY = CompileReply(
    ok=True,
    diagnostics=(Diagnostic(severity="warning", stage="semantic", message="m", line=1, column=2),),
    log="log",
    artifact="/s/a.so",
    generated={"a.f90": "text"},
    files={"/a.py": "00"},
    seconds={"total": 1.5},
)


def test_requests_and_replies_survive_json() -> None:
    request = CompileRequest(
        source="é", module_name="m", language="c", flags=("-O2",), scratch="/s", search_path=("/a",)
    )
    assert CompileRequest.from_json(json.loads(json.dumps(request.to_json()))) == request
    assert CompileReply.from_json(json.loads(json.dumps(REPLY.to_json()))) == REPLY


@pytest.mark.parametrize(
    "changes",
    [
        {"ok": 1},
        {"ok": False},
        {"artifact": None},
        {"artifact": 5},
        {"log": None},
        {"extra": 1},
        {"diagnostics": {}},
        {"diagnostics": [{}]},
        {"diagnostics": [dataclasses.asdict(REPLY.diagnostics[0]) | {"severity": "hint"}]},
        {"diagnostics": [dataclasses.asdict(REPLY.diagnostics[0]) | {"line": 0}]},
        {"diagnostics": [dataclasses.asdict(REPLY.diagnostics[0]) | {"line": True}]},
        {"generated": {"a": 1}},
        {"files": []},
        {"seconds": {"total": "1"}},
        {"seconds": {"total": True}},
    ],
    ids=repr,
)
def test_a_malformed_reply_is_a_build_error(changes: dict[str, object]) -> None:
    with pytest.raises(BuildError, match="protocol"):
        CompileReply.from_json(REPLY.to_json() | changes)


@pytest.mark.parametrize("value", [None, [], "reply", {}, {"ok": True}])
def test_what_is_no_reply_at_all_is_a_build_error(value: object) -> None:
    with pytest.raises(BuildError, match="protocol"):
        CompileReply.from_json(value)


def test_the_notebook_process_never_imports_pyccel(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from kit.backends.pyccel import compile_unit\n"
        "from kit.backends.protocol import CompileRequest\n"
        f"request = CompileRequest(source={AXPY!r}, module_name='kit_m', language='c', "
        f"scratch={str(tmp_path)!r})\n"
        "assert compile_unit(request).ok\n"
        "assert 'pyccel' not in sys.modules and 'sympy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
