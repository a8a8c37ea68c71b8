"""PyccelKernel around a function that stands in for a compiled one."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import pydoc
import signal
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.errors import ArgumentRefused, CopyWarning, KitError, StaleKernelError
from kit.kernel import KernelBuild, PyccelKernel
from kit.source.extent_rules import ExtentRule
from kit.source.linear import Linear, Quantity
from kit.stale import StaleKernel
from kit.targets import use_target
from kit.terms import Policy
from kit.trace import BuildRecord
from tests.unit.signatures import read

SOURCE = "def scale(x: 'float64[:]', y: 'float64[:]', factor: 'float' = 2.0) -> 'int': ..."


def compiled(x: Any, y: Any, factor: float) -> int:
    """Stands in for compiled code: writes y."""
    y[:] = x * factor
    return len(x)


def in_python(x: Any, y: Any, factor: float = 2.0) -> str:
    y[:] = x * factor
    return "python"


def rebuild(unit: str, name: str, options: Mapping[str, Any]) -> PyccelKernel:
    """What a build injects; at module level, so that it pickles."""
    assert unit == "the unit"
    assert name == "scale"
    return make(policy=options["policy"])


def make(
    function: Callable[..., Any] = compiled, *, policy: Policy = "warn", identity: Any = ("a",)
) -> PyccelKernel:
    record = BuildRecord(
        kernels=("scale",),
        language="fortran",
        key="0123456789abcdef",
        hit=True,
        reason="store",
        log="said nothing",
    )
    build = KernelBuild(
        record=record,
        cell_source="the cell",
        unit="the unit",
        function_source="def scale",
        language="fortran",
        options={"policy": policy},
        load_python=lambda: in_python,
        rebuild=rebuild,
        identity=identity,
        doc="Scale x into y.",
    )
    return PyccelKernel(function, signature=read(SOURCE, ("y",)), policy=policy, build=build)


# ---- calls ----------------------------------------------------------------------------------


def test_result_and_outputs_come_back_on_the_fast_and_the_slow_path() -> None:
    kernel = make(policy="copy")
    for x, y in (
        (np.arange(3.0), np.zeros(3)),
        (np.arange(3.0)[::-1], np.zeros(3)[::-1]),
        (np.arange(3.0, dtype=">f8"), np.zeros(3, dtype=">f8")),
    ):
        assert kernel(x, y) == 3
        assert np.array_equal(y, 2 * x)
        assert kernel(x, factor=np.float32(0.5), y=y) == 3
        assert np.array_equal(y, 0.5 * x)


def test_scalars_are_converted_without_a_plan_and_refused_as_the_plan_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def echo(n: Any, a: Any, flag: Any, z: Any, text: Any) -> Any:
        return n, a, flag, z, text

    source = "def f(n: 'int', a: 'float32', flag: 'bool', z: 'complex', text: 'str') -> 'int': ..."
    kernel = PyccelKernel(echo, signature=read(source))
    right = (np.int8(3), 2, np.True_, np.float32(0.5), "abc")
    wrong = {0: 1.5, 1: 0.1, 2: 1, 3: complex(0, np.inf), 4: 3}
    for index, value in wrong.items():
        with pytest.raises(ArgumentRefused) as caught:
            kernel(*right[:index], value, *right[index + 1 :])
        assert caught.value.argument == kernel.signature.parameters[index].name

    def no_plan(values: Any) -> Any:
        raise AssertionError("planned")

    monkeypatch.setattr(kernel, "_plan", no_plan)
    for call in (kernel, kernel.host):
        result = call(*right)
        assert result == (3, 2, True, 0.5, "abc")
        assert [type(one) for one in result] == [int, np.float32, bool, complex, str]


def test_an_exception_of_the_kernel_leaves_copied_outputs_untouched() -> None:
    def fails(x: Any, y: Any, factor: float) -> None:
        y[:] = 99
        raise RuntimeError("late")

    y = np.zeros(3)[::-1]
    with pytest.raises(RuntimeError, match="late"):
        make(fails, policy="copy")(np.zeros(3), y)
    assert (y == 0).all()


def test_an_interrupt_is_raised_when_all_outputs_are_filled() -> None:
    def interrupted(x: Any, y: Any, z: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        y[:], z[:] = x, 2 * x
        signal.raise_signal(signal.SIGINT)

    source = "def f(x: 'float64[:]', y: 'float64[:]', z: 'float64[:]'): ..."
    kernel = PyccelKernel(interrupted, signature=read(source, ("y", "z")), policy="copy")
    x, y, z = np.arange(4.0), np.zeros(4)[::-1], np.zeros(4)[::-1]
    with pytest.raises(KeyboardInterrupt):
        kernel(x, y, z)
    assert y.tolist() == [0, 1, 2, 3]
    assert z.tolist() == [0, 2, 4, 6]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_copies_are_made_in_threads_that_cannot_be_interrupted() -> None:
    kernel = make(policy="copy")
    x, y = np.ones(4), np.zeros(4)[::-1]
    thread = threading.Thread(target=kernel, args=(x, y))
    thread.start()
    thread.join()
    assert y.tolist() == [2, 2, 2, 2]


def test_methods_of_a_subclass_decide_nothing() -> None:
    class Odd(np.ndarray[Any, Any]):
        def view(self, *args: Any) -> Any:  # type: ignore[override]
            raise AssertionError("asked")

        def copy(self, *args: Any) -> Any:  # type: ignore[override]
            return self

        @property
        def shape(self) -> Any:  # type: ignore[override]
            return (99,)

    kernel = make(lambda x, y, factor: y.__setitem__(slice(None), x * factor), policy="copy")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    for call in (kernel, kernel.python):
        memory = np.arange(4.0)
        odd = np.ndarray.view(memory, Odd)
        call(odd, memory[::-1])  # a snapshot, and a copy that is written back
        assert memory.tolist() == [6, 4, 2, 0]


def test_extents_are_those_of_the_memory_whatever_a_subclass_says() -> None:
    class Long(np.ndarray[Any, Any]):
        @property
        def shape(self) -> Any:  # type: ignore[override]
            return (99,)

    source = "def f(x: 'float64[:]', y: 'float64[:]'): ..."
    need = Linear.of(Quantity("x", 0)) - Linear.of(Quantity("y", 0))
    rule = ExtentRule(
        when=(), need=need, is_equal=True, argument="x", axis=0, text="y[:] = x[:]", line=1
    )
    signature = replace(read(source, ("y",)), rules=(rule,))
    kernel = PyccelKernel(lambda x, y: None, signature=signature, policy="copy")  # pyright: ignore[reportUnknownLambdaType]
    long = np.ndarray.view(np.zeros(2), Long)
    kernel(long, np.zeros(2))
    with pytest.raises(ArgumentRefused, match=r"x\.shape\[0\] is 2"):
        kernel(long, np.zeros(99))


def test_a_masked_number_is_refused_without_a_warning() -> None:
    arguments = (np.ones(2), np.zeros(2), np.ma.masked)
    with pytest.raises(ArgumentRefused) as caught:
        make()(*arguments)
    scope: dict[str, Any] = {"np": np}
    exec(caught.value.fix, scope)
    assert scope["factor"] == 0.0


def test_python_target_computes_with_elements_as_compiled_code_does() -> None:
    square = make(lambda x, y, factor: None)  # pyright: ignore[reportUnknownLambdaType]
    seen: list[type] = []
    square._python_function = lambda x, y, factor=2.0: seen.append(type(x))
    square.python(np.ma.array([1.0, 2.0]), np.zeros(2))
    assert seen == [np.ndarray]


def test_an_argument_that_a_warning_changes_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = np.ones(4), np.zeros(8)[::-2]

    def lock(*args: Any, **kwargs: Any) -> None:
        y.flags.writeable = False

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lock)
        with pytest.raises(ArgumentRefused, match="not writeable"):
            make()(x, y)
    assert not y.any()


def test_refusal_comes_before_anything_is_copied_or_run() -> None:
    runs: list[int] = []

    def never(*_: Any) -> None:
        runs.append(1)

    kernel = make(never)
    with pytest.raises(ArgumentRefused):  # and no CopyWarning for x, which would be the error
        kernel(np.zeros(3)[::-1], [0.0], 1.0)
    assert not runs


def test_copy_warning_is_counted_per_kernel_object() -> None:
    x, y = np.arange(3.0)[::-1], np.zeros(3)
    first, second = make(), make()
    for kernel in (first, second):
        with pytest.warns(CopyWarning, match=r"scale\(x\)") as caught:
            kernel(x, y)
        assert Path(caught[0].filename) == Path(__file__)
        kernel(x, y)


def test_kernel_can_be_called_from_many_threads() -> None:
    kernel = make(policy="copy")
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(200):
            x, y = np.full(5, float(number))[::-1], np.zeros(5)[::-1]
            kernel(x, y, 3)
            if not (y == 3 * number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(one,)) for one in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


# ---- targets --------------------------------------------------------------------------------


def test_target_is_chosen_per_call_per_block_and_put_back() -> None:
    kernel = make()
    x, y = np.arange(3.0), np.zeros(3)
    assert kernel.python(x, y) == "python"
    with use_target("python"):
        assert kernel(x, y) == "python"
        assert kernel.host(x, y) == 3
        with use_target("host"):
            assert kernel(x, y) == 3
        with use_target("emulator"):
            assert kernel(x, y) == 3
        assert kernel(x, y) == "python"
    assert kernel(x, y) == 3
    with use_target("device"), pytest.raises(KitError, match="no device build"):
        kernel(x, y)
    with pytest.raises(KitError, match="no target 'gpu'"), use_target("gpu"):  # type: ignore[arg-type]
        pass
    assert kernel(x, y) == 3


def test_choice_of_a_block_does_not_reach_other_threads() -> None:
    kernel = make()
    x, y = np.arange(3.0), np.zeros(3)
    seen: list[Any] = []
    with use_target("python"):
        thread = threading.Thread(target=lambda: seen.append(kernel(x, y)))
        thread.start()
        thread.join()
    assert seen == [3]


def test_python_target_refuses_and_converts_alike() -> None:
    kernel = make()
    with pytest.raises(ArgumentRefused):
        kernel.python(np.zeros(3, "int32"), np.zeros(3))
    y = np.zeros(3)
    kernel.python(np.arange(3.0)[::-1], y, True)  # no copy, and so no warning
    assert list(y) == [2, 1, 0]


def test_python_target_without_source_says_what_to_do() -> None:
    kernel = PyccelKernel(compiled, signature=read(SOURCE, ("y",)))
    assert kernel.targets == ("host",)
    with pytest.raises(KitError, match=r"kit\.pyccel_kernel"):
        kernel.python(np.zeros(3), np.zeros(3))


# ---- what it is -----------------------------------------------------------------------------


def test_kernel_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = make()
    assert kernel.__name__ == kernel.__qualname__ == "scale"
    assert kernel.__doc__ == "Scale x into y."
    assert kernel.outputs == ("y",)
    assert kernel.targets == ("python", "host")
    assert kernel.source == "def scale"
    assert kernel.log == "said nothing"
    assert kernel.build is not None
    assert kernel.build.hit
    info = kernel.cache_info()
    assert (info.hit, info.reason, info.key) == (True, "store", "0123456789abcdef")
    assert kernel.previous is None
    monkeypatch.delenv("KIT_STABLE_OUTPUT", raising=False)
    assert repr(kernel).splitlines() == [
        (
            "<PyccelKernel scale(x: 'float64[:]', y: 'float64[:]' [inout], factor: 'float' = 2.0)"
            " -> 'int'"
        ),
        "  language  fortran",
        "  writes    y",
        "  targets   python, host",
        "  policy    warn",
        "  build     0123456789ab (store)>",
    ]
    monkeypatch.setenv("KIT_STABLE_OUTPUT", "1")
    assert "0123" not in repr(kernel)


def test_kernel_serves_inspect_help_and_wraps() -> None:
    kernel = make()
    signature = inspect.signature(kernel)
    assert str(signature.parameters["x"].annotation) == "float64[:]"
    assert signature.parameters["factor"].default == 2.0
    assert callable(kernel)
    text = pydoc.plain(pydoc.render_doc(kernel))
    assert "PyccelKernel" in text

    @functools.wraps(kernel)
    def wrapper(*args: Any) -> Any:
        return kernel(*args)

    assert wrapper.__name__ == "scale"
    assert inspect.signature(wrapper) == signature
    assert wrapper(np.zeros(3), np.zeros(3)) == 3


def test_stub_is_python_that_names_the_types() -> None:
    stub = make().stub()
    compile(stub, "scale.pyi", "exec")
    assert (
        "def scale(x: NDArray[np.float64], y: NDArray[np.float64], factor: float = ...) -> Any:"
        in stub
    )
    assert "Scale x into y." in stub


def test_equality_hash_and_pickling_are_by_source_and_options() -> None:
    kernel = make()
    assert kernel == make()
    assert hash(kernel) == hash(make())
    assert kernel != make(identity=("b",))
    assert kernel != make(policy="copy")
    assert kernel != compiled
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert again is not kernel
    assert pickle.loads(pickle.dumps(make(policy="copy"))) == make(policy="copy")
    assert copy.copy(kernel) is kernel
    assert copy.deepcopy([kernel])[0] is kernel


def test_wrapped_function_pickles_by_reference() -> None:
    kernel = PyccelKernel(compiled, signature=read(SOURCE, ("y",)), policy="copy")
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert again.policy == "copy"
    assert again.outputs == ("y",)


# ---- wrapping any compiled function ---------------------------------------------------------


def test_signature_is_needed_and_the_error_shows_one() -> None:
    with pytest.raises(TypeError, match=r'signature="def compiled\(x: '):
        PyccelKernel(compiled)


def test_signature_of_dots_takes_every_array_as_written_unless_outputs_say_so() -> None:
    kernel = PyccelKernel(compiled, signature=SOURCE)
    assert kernel.outputs == ("x", "y")
    kernel = PyccelKernel(compiled, signature=SOURCE, outputs=["y"])
    assert kernel.outputs == ("y",)
    final = SOURCE.replace("x: 'float64[:]'", "x: 'Final[float64[:]]'")
    kernel = PyccelKernel(compiled, signature=f"from typing import Final\n{final}")
    assert kernel.outputs == ("y",)


def test_signature_with_a_body_says_what_is_written() -> None:
    source = SOURCE.replace("...", "\n    y[:] = x * factor\n    return 1\n")
    assert PyccelKernel(compiled, signature=source).outputs == ("y",)
    kernel = PyccelKernel(compiled, signature=source, overwrites=["y"])
    assert kernel.signature.parameters[1].intent == "out"
    assert kernel.outputs == ("y",)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"outputs": ["z"]}, "no parameter 'z'"),
        ({"outputs": ["factor"]}, "factor of scale is no array"),
        ({"outputs": ["x"], "overwrites": ["y"]}, "must be among outputs"),
        ({"policy": "maybe"}, "policy must be"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        PyccelKernel(compiled, signature=SOURCE, **options)


def test_device_comes_later() -> None:
    with pytest.raises(KitError, match="device="):
        PyccelKernel(compiled, signature=SOURCE, device=object())
    with pytest.raises(KitError, match="inside objects"):
        PyccelKernel(compiled, signature=SOURCE, object_modules=("model",))


# ---- stubs of failed builds -----------------------------------------------------------------


def test_stale_kernel_raises_and_keeps_the_build_before() -> None:
    kernel = make()
    stale = StaleKernel("scale", previous=kernel, reason="line 3: no such thing\nmore")
    assert stale.previous is kernel
    with pytest.raises(StaleKernelError, match="line 3: no such thing") as caught:
        stale(np.zeros(3))
    assert "scale.previous(...)" in str(caught.value)
    assert "more" not in str(caught.value)
    assert "StaleKernel" in repr(stale)
    assert "previous(" not in repr(StaleKernel("scale"))
