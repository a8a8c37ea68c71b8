"""Arguments of a cell's templates, out of what ``--template`` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.cuda.template_values import template_argument
from kit.cuda.text.cell_places import CellPlaces
from kit.cuda.text.found import FoundKernel, TemplateParameter
from kit.source.nearest import nearest

__all__ = ["check_template_names", "template_arguments"]

_HEADERS = {
    "cuda::std::complex": ("complex", "<cuda/std/complex>"),
    "__half": ("cuda_fp16", "<cuda_fp16.h>"),
    "__nv_bfloat16": ("cuda_bf16", "<cuda_bf16.h>"),
}
"""Type -> what an include that brings it has in its name, and the one to paste."""


def check_template_names(
    given: Mapping[str, str], kernels: Sequence[FoundKernel], places: CellPlaces
) -> None:
    """Whether every given argument is for a parameter of some template.

    Raises
    ------
    CellError
        One is not.
    """
    names = [each.name for one in kernels for each in one.template or ()]
    for name in given:
        if name in names:
            continue
        meant = nearest(name, names, at_least=0.5) or next(iter(names), None)
        raise places.error(
            f"no kernel of this cell has a template parameter {name}"
            + (f" ({', '.join(dict.fromkeys(names))})" if names else ""),
            None,
            fix=f"--template {meant}={given[name]}" if meant else "# leave --template away",
        )


def template_arguments(
    kernel: FoundKernel, given: Mapping[str, str], text: str, places: CellPlaces
) -> str:
    """``<double, 3>`` for a template, "" for any other kernel.

    Parameters
    ----------
    kernel : FoundKernel
        Which one.
    given : mapping of str to str
        Template parameter -> dtype name, number or C++.
    text : str
        The cell, which has to include what a dtype needs.
    places : CellPlaces
        Of the cell.

    Raises
    ------
    CellError
        An argument is missing or cannot be one.
    """
    if kernel.template is None:
        return ""
    values: list[str] = []
    for one in kernel.template:
        if one.is_pack:
            raise places.error(
                f"{kernel.name} is a template with a parameter pack, which kit does not fill",
                kernel.offset,
                fix="template<class T>  // one name for each argument",
            )
        if one.name not in given:
            _check_default(kernel, one, given, places)
            break
        values.append(_value(one, given[one.name], text, places))
    return f"<{', '.join(values)}>"


def _check_default(
    kernel: FoundKernel, missing: TemplateParameter, given: Mapping[str, str], places: CellPlaces
) -> None:
    """Arguments may end where the rest has defaults."""
    parameters = kernel.template or ()
    rest = parameters[parameters.index(missing) :]
    later = [one.name for one in rest if one.name in given]
    if all(one.default for one in rest) and not later:
        return
    needed = [i for i, one in enumerate(parameters) if not one.default or one.name in later]
    example = ",".join(
        f"{one.name}="
        f"{given.get(one.name) or one.default or ('float64' if one.kind == 'type' else '1')}"
        for one in parameters[: needed[-1] + 1]
        if one.name
    )
    raise places.error(
        f"{kernel.name} is a template, and {missing.name or 'a parameter'} has no argument",
        kernel.offset,
        fix=f"--template {example}",
    )


def _value(parameter: TemplateParameter, given: str, text: str, places: CellPlaces) -> str:
    value = given.strip()
    if parameter.kind == "type":
        value = template_argument(value)
    elif value in ("True", "False"):
        value = value.lower()
    opened = [value.count(one) for one in "([{"]
    if not value or set(value) & set(";\n\\#") or opened != [value.count(one) for one in ")]}"]:
        raise places.error(
            f"'{given}' cannot be an argument for the template parameter {parameter.name}",
            None,
            fix=f"--template {parameter.name}={'float64' if parameter.kind == 'type' else '1'}",
        )
    _check_header(value, given, text, places)
    return value


def _check_header(value: str, given: str, text: str, places: CellPlaces) -> None:
    """The compiler would complain in text that the user has not written."""
    needed = _HEADERS.get(value.partition("<")[0])
    if needed is None or value == given:
        return
    includes = [line for line in text.split("\n") if line.lstrip().startswith("#")]
    if not any(needed[0] in line for line in includes):
        raise places.error(
            f"{given} is {value} in CUDA C++, which the cell does not include",
            None,
            fix=f"#include {needed[1]}",
        )
