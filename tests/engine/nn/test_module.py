"""A Module keeps its state, and does with it what torch's does."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine import nn


class Block(nn.Module):
    """A parameter, two buffers, a child and a plain attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.register_buffer("count", torch.tensor(3))
        self.register_buffer("scratch", torch.tensor([0.5]), persistent=False)
        self.inner = nn.Linear(2, 2, bias=False)
        self.note = "plain"

    def forward(self, x: Any) -> Any:
        return self.inner(x * self.scale)


def test_state_is_found_by_name() -> None:
    block = Block()
    assert [name for name, _ in block.named_parameters()] == ["scale", "inner.weight"]
    assert [name for name, _ in block.named_parameters(recurse=False)] == ["scale"]
    assert [name for name, _ in block.named_buffers("x")] == ["x.count", "x.scratch"]
    assert [name for name, _ in block.named_modules()] == ["", "inner"]
    assert list(block.children()) == [block.inner]
    assert list(block.state_dict()) == ["scale", "count", "inner.weight"]
    assert {"scale", "count", "inner", "note"} <= set(dir(block))
    assert block.note == "plain"


def test_a_parameter_that_is_shared_is_given_once() -> None:
    block = Block()
    block.tied = block.scale
    block.again = block.inner
    assert len(list(block.parameters())) == 2
    assert len(list(block.named_parameters(remove_duplicate=False))) == 4
    assert list(block.named_children()) == [("inner", block.inner)]


def test_assignment_moves_a_name_between_kinds() -> None:
    block = Block()
    block.note = nn.Parameter(torch.ones(1))
    assert "note" in dict(block.named_parameters())
    block.note = nn.Identity()
    assert "note" not in dict(block.named_parameters())
    assert "note" in dict(block.named_children())
    block.count = torch.tensor(5)
    assert block.state_dict()["count"].item() == 5
    block.scale = None
    assert block.scale is None
    assert "scale" not in block.state_dict()
    del block.inner
    assert not hasattr(block, "inner")
    del block.note


def test_misuse_raises_what_torch_raises() -> None:
    block = Block()
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'scale'"):
        block.scale = torch.ones(2)
    with pytest.raises(TypeError, match="cannot assign 'int' as module 'inner'"):
        block.inner = 3
    with pytest.raises(KeyError, match="attribute 'forward' already exists"):
        block.register_buffer("forward", torch.ones(1))
    with pytest.raises(KeyError, match="be empty or contain"):
        block.add_module("a.b", nn.Identity())
    with pytest.raises(TypeError, match="object to parameter 'p'"):
        block.register_parameter("p", torch.ones(1))  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'nope'"):
        block.nope  # noqa: B018 - the access is what is tested
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        nn.Module()(1)


def test_state_before_init_is_refused() -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Parameter(torch.ones(1))

    class EarlyBuffer(nn.Module):
        def __init__(self) -> None:
            self.register_buffer("b", None)

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Early\.__init__"):
        Early()
    with pytest.raises(AttributeError, match="cannot assign buffer before"):
        EarlyBuffer()


def test_hooks_may_replace_arguments_and_output_until_removed() -> None:
    identity = nn.Identity()
    before = identity.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    after = identity.register_forward_hook(lambda module, args, out: out * 10)
    identity.register_forward_hook(lambda module, args, out: None)
    assert identity(1) == 20
    before.remove()
    assert identity(1) == 10
    after.remove()
    assert identity(1) == 1


def test_train_and_eval_reach_every_module() -> None:
    block = Block()
    assert block.training
    assert block.eval() is block
    assert not block.inner.training
    block.train()
    assert block.inner.training


def test_conversion_changes_data_grads_and_floating_buffers_only() -> None:
    block = Block()
    scale = block.scale
    block(torch.ones(1, 2)).sum().backward()
    assert block.double() is block
    assert block.scale is scale
    assert scale.dtype is scale.grad.dtype is block.scratch.dtype is torch.float64
    assert block.count.dtype is torch.int64
    block.to("cpu", torch.float32)
    assert scale.dtype is torch.float32
    assert block.float().half().scale.dtype is torch.float16
    assert block.cpu().count.device == torch.device("cpu")


def test_casts_by_name_leave_complex_parameters_as_they_are() -> None:
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(2, dtype=torch.complex64))
    assert module.double().weight.dtype is torch.complex64
    assert module.to(torch.complex128).weight.dtype is torch.complex128


def test_gradients_are_dropped_or_zeroed() -> None:
    block = Block()
    block(torch.ones(1, 2)).sum().backward()
    block.zero_grad(set_to_none=False)
    assert block.scale.grad.tolist() == [0.0, 0.0]
    block.zero_grad()
    assert block.scale.grad is None
    block.requires_grad_(False)
    assert not block(torch.ones(1, 2)).requires_grad


def test_apply_visits_children_first() -> None:
    seen: list[str] = []
    Block().apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "Block"]


def test_state_dict_round_trip_copies_values() -> None:
    first, second = Block(), Block()
    state = first.state_dict(prefix="")
    assert not state["scale"].requires_grad
    assert first.state_dict(keep_vars=True)["scale"] is first.scale
    keys = second.load_state_dict(copy.deepcopy(state))
    assert keys == ([], [])
    assert torch.equal(second.inner.weight, first.inner.weight)
    assert second.scale is not first.scale


def test_state_that_does_not_fit_is_refused() -> None:
    block = Block()
    state = block.state_dict()
    del state["scale"]
    state["new"] = torch.ones(1)
    missing, unexpected = block.load_state_dict(state, strict=False)
    assert (missing, unexpected) == (["scale"], ["new"])
    with pytest.raises(RuntimeError, match="in loading state_dict for Block") as raised:
        block.load_state_dict(state)
    assert 'Missing key(s) in state_dict: "scale"' in str(raised.value)
    assert 'Unexpected key(s) in state_dict: "new"' in str(raised.value)
    state["scale"] = torch.ones(3)
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        block.load_state_dict(state, strict=False)


def test_containers() -> None:
    class Double(nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x

    stack = nn.Sequential(nn.Identity(), Double())
    stack.append(Double())
    assert stack(1) == 4
    assert (len(stack), len(stack[1:]), type(stack[-1])) == (3, 2, Double)
    items = nn.ModuleList([nn.Linear(1, 2), nn.Linear(2, 1)])
    assert list(items.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert isinstance(items[:1], nn.ModuleList)
    assert [type(each) for each in items] == [nn.Linear, nn.Linear]


def test_parameter_is_a_leaf_over_the_memory_it_is_given() -> None:
    data = torch.ones(2)
    parameter = nn.Parameter(data)
    assert isinstance(parameter, torch.Tensor)
    assert parameter.is_leaf
    assert parameter.requires_grad
    data[0] = 5.0
    assert parameter.tolist() == [5.0, 1.0]
    assert type(parameter * 1) is torch.Tensor
    assert not nn.Parameter(torch.tensor([1]), requires_grad=False).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(torch.tensor([1]))
    with pytest.raises(TypeError, match="must be a Tensor"):
        nn.Parameter([1.0])  # type: ignore[arg-type]
    assert repr(parameter) == "Parameter containing:\n" + repr(
        torch.Tensor.detach(parameter)
    ).replace(")", ", requires_grad=True)")


def test_parameter_and_module_survive_copying_and_pickling() -> None:
    block = Block()
    for again in (copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        assert isinstance(again.scale, nn.Parameter)
        assert again.scale is not block.scale
        assert torch.equal(again.inner.weight, block.inner.weight)


def make(torch: ModuleType) -> Any:
    inner = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Identity())
    return torch.nn.ModuleList([inner, torch.nn.Linear(3, 1, bias=False)])


@pytest.mark.torch
def test_repr_and_names_are_torchs() -> None:
    real = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = make(torch), make(real)
    assert repr(ours[0]) == repr(theirs[0])
    assert repr(ours[1]) == repr(theirs[1])
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [name for name, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
