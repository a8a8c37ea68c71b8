"""A fix is about what the caller wrote, and works where it is pasted."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import kit
from kit.boundary.caller import reword_fix

SIGNATURE = "def scale(x: 'float64[:]', out: 'float64[:]', factor: float = 1.0): ..."


def compiled(x: Any, out: Any, factor: float) -> None:
    out[:] = factor * x


KERNEL = kit.PyccelKernel(compiled, signature=SIGNATURE, outputs=("out",))


def refuse(source: str, **names: Any) -> tuple[str, dict[str, Any]]:
    """The fix that a line of code gets, and the names that the line sees."""
    scope = {"np": np, "scale": KERNEL, **names}
    file = f"<caller {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    with pytest.raises(kit.ArgumentRefused) as caught:
        exec(compile(source, file, "exec"), scope)
    return caught.value.fix.partition("\n#")[0], scope


def test_a_variable_of_another_name_is_mended_under_its_name() -> None:
    fix, scope = refuse("scale(height, result)", height=np.arange(3), result=np.zeros(3))
    assert fix == "height = height.astype(np.float64)"
    exec(fix + "\nscale(height, result)", scope)
    assert scope["result"].tolist() == [0, 1, 2]


def test_an_expression_is_converted_and_passed_in_its_place() -> None:
    data = {"u": np.arange(3), "v": np.zeros(3)}
    fix, scope = refuse("scale(data['u'], data['v'], factor=2.0)", data=data)
    assert fix == "x = data['u'].astype(np.float64)\nscale(x, data['v'], 2.0)"
    exec(fix, scope)
    assert data["v"].tolist() == [0, 2, 4]


def test_a_field_that_is_called_like_a_parameter_keeps_its_name() -> None:
    points = np.zeros(3, dtype=[("out", "f8"), ("y", "f8")])
    fix, scope = refuse("scale(u, points)", u=np.arange(3.0), points=points)
    exec(fix, scope)
    assert points["out"].tolist() == [0, 1, 2]


def test_an_output_that_is_an_expression_keeps_its_result() -> None:
    table = np.zeros((3, 2), dtype="f4")
    fix, scope = refuse("scale(u, table[:, 1], 3.0)", u=np.arange(3.0), table=table)
    exec(fix, scope)
    assert table[:, 1].tolist() == [0, 3, 6]


@pytest.mark.parametrize("word", ["None", "True", "np.nan"])
def test_a_word_of_python_is_no_variable(word: str) -> None:
    fix, scope = refuse(f"scale({word}, out)", np=np, out=np.zeros(1))
    exec(fix.partition("#")[0], scope)
    assert "x = " in fix


def test_operators_are_put_in_parentheses() -> None:
    fix, scope = refuse("scale(a - b, out)", a=np.arange(3), b=np.ones(3, int), out=np.zeros(3))
    assert fix.startswith("x = (a - b).astype(np.float64)")
    exec(fix, scope)
    assert scope["out"].tolist() == [-1, 0, 1]


def test_a_call_over_several_lines_is_read() -> None:
    fix, _ = refuse("scale(\n    grün,\n    result,\n)", grün=[1.0], result=np.zeros(1))
    assert fix == "grün = np.array(grün, dtype=np.float64)"


@pytest.mark.parametrize("call", ["scale(*both)", "scale(**named)", "call()"])
def test_a_call_that_does_not_say_what_it_passes_is_mended_by_parameter(call: str) -> None:
    x, out = np.arange(3), np.zeros(3)
    fix, _ = refuse(call, both=(x, out), named={"x": x, "out": out}, call=lambda: KERNEL(*(x, out)))
    assert fix == "x = x.astype(np.float64)"


def test_code_without_source_is_mended_by_parameter() -> None:
    scope: dict[str, Any] = {"scale": KERNEL, "u": np.arange(3), "out": np.zeros(3)}
    with pytest.raises(kit.ArgumentRefused, match=r"x = x\.astype"):
        exec("scale(u, out)", scope)


def test_every_way_to_call_is_read() -> None:
    for method in ("host", "__call__"):
        fix, _ = refuse(f"scale.{method}(u, out)", u=np.arange(3), out=np.zeros(3))
        assert fix == "u = u.astype(np.float64)"


def test_keywords_comments_and_other_names_stay() -> None:
    fix = "x_buffer = x.copy()\nf(x_buffer, n=n)  # x as before\n# or annotate x: 'int32[:]'"
    assert reword_fix(fix, "f", "x", {"x": "u", "n": "count"}) == (
        "x_buffer = u.copy()\nf(x_buffer, n=count)  # x as before\n# or annotate x: 'int32[:]'"
    )
