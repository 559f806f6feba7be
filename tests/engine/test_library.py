"""``torch.library`` in Python: operators with their formulas, found by name in ``torch.ops``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.collect.torch_alias.alias import answer_torch_imports
from gradtool.engine import library
from gradtool.engine._placeholder import EngineLacksError, placeholder


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    before = dict(library.DEFINED)
    yield
    library.DEFINED.clear()
    library.DEFINED.update(before)


def scaled() -> Any:
    @library.custom_op("mine::scaled", mutates_args=())
    def scaled(x: torch.Tensor, factor: float = 3.0) -> torch.Tensor:
        return x * factor

    return scaled


def test_default_and_keyword_arguments_reach_the_formula() -> None:
    op, seen = scaled(), []

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        seen.append((inputs[1], output.shape))

    op.register_autograd(lambda ctx, g: (g * 7, None), setup_context=keep)
    x = torch.ones(2, requires_grad=True)
    assert op(x).tolist() == [3.0, 3.0]
    torch.autograd.backward(op(factor=2.0, x=x).sum())
    assert seen == [(3.0, (2,)), (2.0, (2,))]
    assert x.grad.tolist() == [7.0, 7.0]


def test_an_operator_is_found_by_its_name() -> None:
    op = scaled()
    assert torch.ops.mine.scaled is op
    library.register_autograd("mine::scaled", lambda ctx, g: (g, None))
    x = torch.ones(2, requires_grad=True)
    torch.autograd.backward(torch.ops.mine.scaled(x).sum())
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.ops.aten._cdist_forward(torch.ones(1)),
        lambda: library.register_autograd("theirs::op", lambda ctx, g: g),
    ],
)
def test_what_is_pytorchs_own_is_named(use: Any) -> None:
    with pytest.raises(EngineLacksError, match=r"torch\.ops\.\w+\.\w+ needs PyTorch"):
        use()


def test_pytorchs_operators_are_the_functions_of_their_names() -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.ops.aten.add.Tensor(x, x).tolist() == [2.0, 4.0]
    assert torch.ops.aten.mul_(x, 2) is x
    hidden = torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]])
    assert torch.ops.aten._safe_softmax(hidden, -1).tolist() == [[0.5, 0.5], [0.0, 0.0]]


def test_without_a_formula_backward_says_what_lacks() -> None:
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        torch.autograd.backward(scaled()(torch.ones(1, requires_grad=True)).sum())


@pytest.mark.parametrize("output", [lambda x: x, lambda x: x[1:]])
def test_an_output_may_not_be_an_input_or_a_view_of_one(output: Any) -> None:
    op = library.custom_op("mine::alias", output, mutates_args=())
    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        op(torch.ones(3))


def test_a_batching_rule_is_used() -> None:
    op = scaled()
    op.register_vmap(lambda info, in_dims, x, factor: (x * factor + info.batch_size, 0))
    assert torch.vmap(op)(torch.ones(4)).tolist() == [7.0] * 4


def test_an_operator_runs_on_its_devices_only() -> None:
    @library.custom_op("mine::halved", mutates_args=(), device_types="cuda")
    def halved(x: torch.Tensor) -> torch.Tensor:
        return x / 2

    with pytest.raises(NotImplementedError, match=r"'CPU' backend.* backends: \[CUDA\]"):
        halved(torch.ones(2))

    halved.register_kernel("cpu", lambda x: x * 0.5)
    assert halved(torch.ones(2)).tolist() == [0.5, 0.5]


def test_a_kernel_of_a_device_takes_the_place_of_the_function() -> None:
    op = scaled()
    library.register_kernel("mine::scaled", "cpu", lambda x, factor: x * 10)
    assert op(torch.ones(1)).tolist() == [10.0]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="namespace::op_name"):
        library.custom_op("scaled", mutates_args=())
    changing = library.custom_op("mine::add_", lambda x: None, mutates_args={"x"})
    with pytest.raises(RuntimeError, match="non-functional operator"):
        changing.register_autograd(lambda ctx, g: g)


def test_code_that_asks_how_it_was_built_gets_an_answer() -> None:
    assert "USE_OPENMP=ON" not in torch.__config__.show()
    assert "get_num_threads" in torch.__config__.parallel_info()


def test_methods_that_change_in_place_are_functions_too() -> None:
    x = torch.zeros(2)
    assert torch.cos_(x) is x
    assert x.tolist() == [1.0, 1.0]


REGISTERS = """
import torch

LIBRARY = torch.library.Library("mine", "DEF")
LIBRARY.define("scale(Tensor x, float by) -> Tensor")
torch.library.define("mine::other", "(Tensor x) -> Tensor")


@torch.library.impl(LIBRARY, "scale", "CPU")
def scale(x, by):
    return x * by


@torch.library.register_fake("mine::scale")
def _(x, by):
    return x


torch.library.register_autograd("mine::scale", lambda ctx, g: (g, None))
torch.library.impl_abstract("mine::nothing")(scale)
torch.library.register_kernel("mine::scale", "cuda")(scale)
"""


def test_definitions_at_import_register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "registers_at_import.py").write_text(REGISTERS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with answer_torch_imports():
        module = importlib.import_module("registers_at_import")
        assert module.scale(1, 2) == 2
        assert torch.ops.mine.scale(torch.ones(2), 3.0).tolist() == [3.0, 3.0]
        with pytest.raises(EngineLacksError, match=r"torch\.ops\.mine\.other"):
            torch.ops.mine.other(torch.ones(2))


DECLARED = """
import torch

torch.library.define("mine::shifted", "(Tensor x, float by=0.5, *, int[2] sizes=[1, 2]) -> Tensor")


@torch.library.impl("mine::shifted", ["CPU", "CUDA"])
def shifted(x, by=0.5, sizes=(1, 2)):
    return x + by * sum(sizes)


@torch.library.register_fake("mine::shifted")
def _(x, by=0.5, sizes=(1, 2)):
    return torch.empty_like(x)


made = torch.library.Library("theirs", "DEF")
made.define("doubled(Tensor x) -> Tensor")


@torch.library.impl(made, "doubled", "CompositeImplicitAutograd")
def doubled(x):
    return 2 * x


x = torch.arange(3.0)
found = [
    torch.ops.mine.shifted(x).tolist(),
    torch.ops.mine.shifted.default(x, 2, sizes=[3, 4]).tolist(),
    torch.ops.mine.shifted(by=1.0, x=x).tolist(),
    torch.ops.theirs.doubled(x).tolist(),
    torch.ops.theirs.doubled(x.requires_grad_()).requires_grad,
]
"""


def test_an_operator_that_a_schema_declares_runs_its_implementation() -> None:
    space: dict[str, Any] = {}
    with answer_torch_imports():
        exec(DECLARED, space)
    expected = [[1.5, 2.5, 3.5], [14.0, 15.0, 16.0], [3.0, 4.0, 5.0], [0.0, 2.0, 4.0], True]
    assert space["found"] == expected


@pytest.mark.torch
def test_a_declared_operator_gives_what_it_gives_in_pytorch() -> None:
    pytest.importorskip("torch")
    expected: dict[str, Any] = {}
    exec(DECLARED, expected)
    found: dict[str, Any] = {}
    with answer_torch_imports():
        exec(DECLARED, found)
    assert found["found"] == expected["found"]


def test_an_operator_without_an_implementation_is_named() -> None:
    library.define("mine::empty", "(Tensor x) -> Tensor")
    library.impl("mine::empty", "Meta", lambda x: x)
    with pytest.raises(EngineLacksError, match=r"torch\.ops\.mine\.empty"):
        torch.ops.mine.empty(torch.ones(1))


def test_an_operator_whose_schema_is_inferred_runs_its_implementation() -> None:
    mine = library.Library("inferred", "FRAGMENT")
    mine.define(placeholder("torch._library.infer_schema.infer_schema"))
    mine.impl("scaled", lambda x, by=2.0: x * by, "CompositeExplicitAutograd")
    assert torch.ops.inferred.scaled(torch.ones(2), by=3.0).tolist() == [3.0, 3.0]


def test_loading_a_compiled_library_is_inert() -> None:
    torch.ops.load_library("no_such_library.so")
    with pytest.raises(EngineLacksError, match=r"torch\.ops\.compiled\.norm"):
        torch.ops.compiled.norm(torch.ones(1))
