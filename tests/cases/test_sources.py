"""Cases from the configuration and ``sample_inputs``, and mistakes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool import Case, Function
from gradtool.cases.sources import ResolvedCase, resolve_cases
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Location


class Scale(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any = None, alpha: float = 1.0, *rest: Any) -> Any:
        return x * alpha

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, None, None


def checkable(target: Any = Scale, name: str = "Scale") -> Checkable:
    return Checkable(name, target, Path(__file__), Location(path="test_cases.py", line=1))


def configured(*cases: CaseConfig, **settings: Any) -> list[ResolvedCase]:
    return resolve_cases(checkable(), Settings(**settings), cases)


def one(*args: Any, **settings: Any) -> ResolvedCase:
    (case,) = configured(CaseConfig(args=args), **settings)
    return case


def sampled(yielded: Any, **settings: Any) -> list[ResolvedCase]:
    target = type("Sampled", (Scale,), {"sample_inputs": staticmethod(lambda: yielded)})
    return resolve_cases(checkable(target), Settings(**settings))


def test_arguments_are_shown_one_a_line() -> None:
    case = one(
        {"shape": [20, 3]},
        {"shape": [], "dtype": "float32", "requires_grad": False},
        0.5,
        {"shape": [2], "dtype": "int64"},
        [{"shape": [1]}, 3],
        "x" * 100,
        None,
    )
    assert case.arguments == (
        "x: float64[20, 3]",
        "weight: float32[] (no gradient)",
        "alpha: 0.5",
        "rest[0]: int64[2]",
        "rest[1]: [float64[1], 3]",
        f"rest[2]: '{'x' * 56}...",
        "rest[3]: None",
    )


def test_keyword_arguments_take_their_places_with_defaults_between() -> None:
    (case,) = configured(CaseConfig(args=({"shape": [2]},), kwargs={"alpha": 0.5}))
    assert case.args[1:] == (None, 0.5)
    assert case.kwargs == {}
    assert case.arguments == ("x: float64[2]", "weight: None", "alpha: 0.5")


def test_an_unknown_keyword_argument_is_reported() -> None:
    with pytest.raises(
        NoCase, match=r"forward cannot be called with these arguments: .*'alhpa'"
    ) as raised:
        configured(CaseConfig(args=({"shape": [2]},), kwargs={"alhpa": 0.5}))
    assert raised.value.message.endswith("(did you mean 'alpha'?)")
    assert raised.value.part == "cases[0]"


def test_random_tensors_are_what_their_bounds_say() -> None:
    uniform = one({"shape": [1000], "low": -1, "high": 3}).args[0].detach().numpy()
    assert -1 <= uniform.min() < -0.9
    assert 2.9 < uniform.max() < 3
    constant = one({"shape": [5], "low": 0.5, "high": 0.5}).args[0].detach().numpy()
    assert (constant == 0.5).all()
    integers = one({"shape": [1000], "dtype": "int64", "low": 2, "high": 5}).args[0].numpy()
    assert set(integers.tolist()) == {2, 3, 4}
    assert set(one({"shape": [100], "dtype": "uint8"}).args[0].tolist()) == {0, 1}
    assert set(one({"shape": [100], "dtype": "bool"}).args[0].tolist()) == {False, True}


def test_complex_tensors_have_both_parts() -> None:
    tensor = one({"shape": [50], "dtype": "complex128"}).args[0]
    assert tensor.requires_grad
    assert np.abs(tensor.detach().numpy().imag).min() >= 0.1


@pytest.mark.parametrize(
    ("values", "dtype", "shown"),
    [
        ([[1.0, 2.0]], None, "float64[1, 2]"),
        ([1, 2], None, "int64[2]"),
        ([True], None, "bool[1]"),
        (3.5, None, "float64[]"),
        ([1, 2], "float32", "float32[2]"),
        ([], None, "float64[0]"),
    ],
)
def test_values_are_read_as_torch_reads_them(values: Any, dtype: str | None, shown: str) -> None:
    spec = {"values": values} if dtype is None else {"values": values, "dtype": dtype}
    case = one(spec)
    assert case.arguments == (f"x: {shown}",)
    assert case.args[0].tolist() == values


def test_a_literal_is_passed_as_it_is() -> None:
    assert one({"literal": {"shape": [2]}}).args == ({"shape": [2]},)
    nested = one({"a": {"shape": [2]}, "b": 1}).args[0]
    assert nested["a"].shape == (2,)


def test_changing_one_argument_leaves_the_others() -> None:
    first = one({"shape": [3]}, {"shape": [4]})
    second = one({"shape": [2, 2]}, {"shape": [4]})
    assert first.args[1].tolist() == second.args[1].tolist()
    assert first.args[0].tolist() != first.args[1].tolist()[:3]


def test_the_run_decides_the_dtype_of_what_names_none_and_a_flag_of_all() -> None:
    specs = {"shape": [1]}, {"shape": [1], "dtype": "float64"}, {"shape": [1], "dtype": "int32"}
    by_default = one(*specs, dtype="float32")
    assert [arg.rpartition(" ")[2] for arg in by_default.arguments] == [
        "float32[1]",
        "float64[1]",
        "int32[1]",
    ]
    forced = one(*specs, dtype="float32", forced_dtype="float32")
    assert forced.arguments[1] == "weight: float32[1]"
    assert forced.arguments[2] == "alpha: int32[1]"


def test_cases_without_a_name_are_numbered() -> None:
    cases = configured(CaseConfig(), CaseConfig(name="mine"), CaseConfig())
    assert [case.name for case in cases] == ["case1", "mine", "case3"]
    assert {case.source for case in cases} == {"config"}


def test_a_tolerance_of_a_flag_beats_that_of_a_case_which_beats_the_default() -> None:
    case = CaseConfig(atol=0.1)
    assert configured(case, atol=0.2, rtol=0.3)[0].atol == 0.1
    assert configured(case, atol=0.2, rtol=0.3)[0].rtol == 0.3
    assert configured(case, flag_atol=0.0, atol=0.2)[0].atol == 0.0


def test_a_tensor_larger_than_memory_is_reported() -> None:
    with pytest.raises(NoCase, match=r"the tensors of case 'case1' cannot be created: "):
        one({"shape": [10**6, 10**6, 10**6, 10**6]})


def test_samples_may_be_tuples_lists_tensors_and_cases() -> None:
    x = torch.ones(2, dtype=torch.float64)
    cases = sampled([(x, None), [x], x, Case((x,), {"alpha": 2.0}, name="twice", atol=0.5)])
    assert [case.name for case in cases] == ["sample1", "sample2", "sample3", "twice"]
    assert cases[3].args[2] == 2.0
    assert cases[3].atol == 0.5
    assert {case.source for case in cases} == {"sample_inputs"}


def test_all_tensors_require_gradients_if_none_does() -> None:
    x, y = torch.ones(2), torch.ones(2, dtype=torch.int64)
    (case,) = sampled([(x, x, y)])
    assert [arg.requires_grad for arg in case.args] == [True, True, False]
    (case,) = sampled([(x, torch.ones(2, requires_grad=True))])
    assert [arg.requires_grad for arg in case.args] == [False, True]
    assert not x.requires_grad


def test_a_flag_decides_the_dtype_of_samples_too() -> None:
    (case,) = sampled([(torch.ones(2), torch.ones(2, dtype=torch.int64))], forced_dtype="float64")
    assert case.arguments == ("x: float64[2]", "weight: int64[2]")


def test_samples_draw_the_same_numbers_every_time() -> None:
    class Random(Scale):
        @staticmethod
        def sample_inputs() -> Iterator[tuple[Any, ...]]:
            yield torch.randn(3), np.random.rand()

    first, second = (resolve_cases(checkable(Random), Settings())[0].args for _ in range(2))
    assert first[0].tolist() == second[0].tolist()
    assert first[1] == second[1]


def test_a_returned_tuple_of_arguments_is_one_case() -> None:
    x, weight = torch.randn(3), torch.randn(3)
    (case,) = sampled((x, weight, 2.0))
    assert case.arguments == ("x: float32[3]", "weight: float32[3]", "alpha: 2.0")
    assert len(sampled(((x,), (x, weight)))) == 2
    assert len(sampled([x, weight])) == 2


@pytest.mark.parametrize("as_given", [lambda x: x, lambda x: Case((x,))])
def test_a_returned_tensor_or_case_is_one_case(as_given: Callable[[Any], Any]) -> None:
    (case,) = sampled(as_given(torch.randn(3, 2)))
    assert case.arguments[0] == "x: float32[3, 2]"


@pytest.mark.parametrize(
    ("yielded", "message"),
    [
        ([], "sample_inputs yields no case"),
        ([3], "sample_inputs yields an object of type int instead of a tuple of arguments"),
        (5, "sample_inputs raised TypeError: 'int' object is not iterable"),
        (
            [Case(name="a"), Case(name="a")],
            "sample_inputs has two cases named 'a': give each its own name",
        ),
        (((0,) for _ in range(10**9)), "sample_inputs yields more than 1000 cases"),
        ((1 / 0 for _ in range(1)), "sample_inputs raised ZeroDivisionError: division by zero"),
    ],
)
def test_invalid_samples_are_reported(yielded: Any, message: str) -> None:
    with pytest.raises(NoCase) as none:
        sampled(yielded)
    assert none.value.message == message


@pytest.mark.parametrize("name", ["backward", "apply"])
def test_samples_that_replace_what_is_checked_are_refused(name: str) -> None:
    class Replaced(Scale):
        @staticmethod
        def sample_inputs() -> Iterator[tuple[Any, ...]]:
            setattr(Replaced, name, staticmethod(lambda *args: args))
            yield (torch.ones(2),)

    with pytest.raises(NoCase, match=f"sample_inputs replaced {name}"):
        resolve_cases(checkable(Replaced), Settings())


def test_samples_that_change_anything_else_are_taken() -> None:
    class Counted(Scale):
        count = 0

        @staticmethod
        def sample_inputs() -> Iterator[tuple[Any, ...]]:
            Counted.count += 1
            yield (torch.ones(2),)

    assert len(resolve_cases(checkable(Counted), Settings())) == 1


def test_samples_that_are_no_static_method_are_explained() -> None:
    class Forgotten(Scale):
        def sample_inputs(self) -> Any:
            return []

    with pytest.raises(NoCase) as none:
        resolve_cases(checkable(Forgotten), Settings())
    assert none.value.hint is not None
    assert "@staticmethod" in none.value.hint


def test_samples_that_end_the_process_are_no_case_that_is_missing() -> None:
    class Exits(Scale):
        @staticmethod
        def sample_inputs() -> Any:
            raise SystemExit(2)

    with pytest.raises(SystemExit):
        resolve_cases(checkable(Exits), Settings())


def test_a_plain_callable_keeps_its_keyword_arguments() -> None:
    def function(x: Any, *, alpha: Any) -> Any:
        return x * alpha

    case = CaseConfig(args=({"shape": [2]},), kwargs={"alpha": {"shape": [2]}})
    (resolved,) = resolve_cases(checkable(function, "function"), Settings(), [case])
    assert resolved.arguments == ("x: float64[2]", "alpha: float64[2]")


def test_a_case_takes_a_tuple_of_arguments() -> None:
    with pytest.raises(TypeError, match="not an object of type Tensor: write"):
        Case(torch.ones(2))  # type: ignore[arg-type]  # the mistake under test
