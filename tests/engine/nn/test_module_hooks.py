"""Hooks around a Module's forward and in its backward walk; its parts, by name and by place."""

from __future__ import annotations

from typing import Any

import pytest


def test_forward_hooks_see_named_arguments_and_come_in_order(torch: Any) -> None:
    calls: list[Any] = []
    layer = torch.nn.CosineSimilarity(dim=0)
    layer.register_forward_pre_hook(lambda _, args: calls.append(("second", len(args))))
    layer.register_forward_pre_hook(lambda *_: calls.append("first"), prepend=True)

    def after(_: Any, args: Any, kwargs: Any, out: Any) -> Any:
        calls.append((len(args), sorted(kwargs)))
        return out + 3

    layer.register_forward_hook(after, with_kwargs=True)
    assert layer(torch.ones(1), x2=torch.ones(1)).item() == 4
    assert calls == ["first", ("second", 1), (1, ["x2"])]


def test_backward_hooks_see_the_gradients_and_may_replace_them(torch: Any) -> None:
    calls: list[Any] = []
    layer = torch.nn.Linear(2, 1, bias=False, dtype=torch.float64)
    torch.nn.init.constant_(layer.weight, 3.0)

    def before(_: Any, grad_output: Any) -> Any:
        calls.append(("before", grad_output[0].tolist()))
        return (grad_output[0] * 10,)

    def after(module: Any, grad_input: Any, grad_output: Any) -> Any:
        calls.append((module is layer, grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] / 3,)

    layer.register_full_backward_pre_hook(before)
    handle = layer.register_full_backward_hook(after)
    x = torch.ones(1, 2, dtype=torch.float64, requires_grad=True)
    out = layer(x)
    assert "BackwardHookFunctionBackward" in repr(out)
    out.sum().backward()
    assert calls == [("before", [[1]]), (True, [[30, 30]], [[10]])]
    assert x.grad.tolist() == [[10, 10]]
    assert layer.weight.grad.tolist() == [[10, 10]]
    handle.remove()
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.tolist() == [[30, 30]]


def test_backward_hooks_are_called_where_no_input_needs_a_gradient(torch: Any) -> None:
    calls: list[Any] = []
    layer = torch.nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda _m, given, got: calls.append((given, got[0].tolist())))
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        layer(torch.ones(1, 2)).sum().backward()
    assert calls == [((None,), [[1]])]


def test_parts_are_found_by_their_qualified_names(torch: Any) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    assert net.get_parameter("0.weight") is net[0].weight
    assert net.get_buffer("1.running_mean") is net[1].running_mean
    with pytest.raises(AttributeError, match="`running_mean` is not an nn"):
        net.get_parameter("1.running_mean")
    with pytest.raises(AttributeError, match="Linear has no attribute `nope`"):
        net.get_parameter("0.nope")
    net.set_submodule("1", torch.nn.ReLU())
    assert repr(net[1]) == "ReLU()"


def test_loading_says_what_is_missing_before_what_is_unexpected(torch: Any) -> None:
    layer = torch.nn.Linear(2, 1)
    assert repr(layer.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"
    with pytest.raises(RuntimeError) as caught:
        layer.load_state_dict({"weight": torch.zeros(1, 2), "other": torch.zeros(1)})
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Linear:\n"
        '\tMissing key(s) in state_dict: "bias". \n'
        '\tUnexpected key(s) in state_dict: "other". '
    )


def test_lists_of_modules_change_as_lists_do(torch: Any) -> None:
    layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])
    layers.insert(0, torch.nn.Sigmoid())
    layers += [torch.nn.Identity()]
    assert [type(each).__name__ for each in layers] == ["Sigmoid", "ReLU", "Tanh", "Identity"]
    assert type(layers.pop(1)).__name__ == "ReLU"
    del layers[0]
    assert list(dict(layers.named_children())) == ["0", "1"]
    layers[0] = torch.nn.ELU()
    assert repr(layers[0]) == "ELU(alpha=1.0)"


def test_backward_hooks_are_not_called_in_a_second_derivative(torch: Any) -> None:
    calls: list[Any] = []
    loss = torch.nn.MSELoss()
    loss.register_full_backward_hook(lambda *_: calls.append(1))
    x = torch.ones(1, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(x, torch.zeros(1)), x, create_graph=True)
    assert calls == [1]
    torch.autograd.grad(gradient, x)
    assert calls == [1]


@pytest.mark.parametrize("kind", ["grad_input", "grad_output"])
def test_backward_hooks_return_as_many_gradients_as_they_get(torch: Any, kind: str) -> None:
    layer = torch.nn.Linear(1, 1)
    if kind == "grad_input":
        layer.register_full_backward_hook(lambda *_: (None, None))
    else:
        layer.register_full_backward_pre_hook(lambda *_: (None, None))
    out = layer(torch.ones(1, 1, requires_grad=True))
    with pytest.raises(RuntimeError, match=f"invalid number of {kind}, got 2, but expected 1"):
        out.sum().backward()


def test_backward_hooks_without_a_gradient_of_inputs_return_none(torch: Any) -> None:
    seen: list[Any] = []
    layer = torch.nn.Bilinear(1, 1, 1)
    layer.register_full_backward_hook(lambda _module, grads, _: seen.append(grads))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(torch.ones(1, 1), torch.ones(1, 1)).sum().backward()
    assert seen == [(None, None)]
    layer.register_full_backward_hook(lambda *_: (torch.ones(1), None))
    with (
        pytest.warns(UserWarning, match="no inputs require gradients"),
        pytest.raises(RuntimeError, match="where no input requires gradient should always return"),
    ):
        layer(torch.ones(1, 1), torch.ones(1, 1)).sum().backward()


def test_backward_hooks_of_both_kinds_do_not_mix(torch: Any) -> None:
    old, full = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    old.register_backward_hook(lambda *_: None)
    full.register_full_backward_hook(lambda *_: None)
    full.register_full_backward_hook(lambda *_: None)
    for register in (old.register_full_backward_hook, full.register_backward_hook):
        with pytest.raises(RuntimeError, match="both regular backward hooks and full backward"):
            register(lambda *_: None)
