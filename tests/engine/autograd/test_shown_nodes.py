"""What users see of nodes: their class, their text, what they saved; hooks on a full gradient."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


def test_a_node_is_of_a_class_of_its_name(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).exp()
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "ExpBackward0"
    assert repr(y.grad_fn).startswith("<ExpBackward0 object at 0x")
    (before, number), *_ = y.grad_fn.next_functions
    assert (type(before).__name__, number) == ("MulBackward0", 0)
    leaf = before.next_functions[0][0]
    assert (type(leaf).__name__, leaf.name()) == (
        "AccumulateGrad",
        "torch::autograd::AccumulateGrad",
    )
    assert y.grad_fn is y.grad_fn


def test_the_node_of_a_function_says_where_it_is_from(torch: Any) -> None:
    class Same(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

    y = Same.apply(torch.ones(2, requires_grad=True))
    assert repr(y.grad_fn).startswith("<torch.autograd.function.SameBackward object at 0x")


def test_a_written_view_shows_what_was_done_to_its_base(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 1
    y[0] = 3
    assert repr(y) == "tensor([3., 1.], grad_fn=<CopySlices>)"
    assert y.grad_fn.name() == "torch::autograd::CopySlices"


@pytest.mark.parametrize("has_tangent", [False, True])
@pytest.mark.parametrize(
    ("name", "node"),
    [("leaky_relu", "LeakyReluBackward1"), ("elu", "EluBackward1"), ("relu", "ReluBackward0")],
)
def test_an_activation_in_place_has_a_node_of_its_own(
    torch: Any, name: str, node: str, has_tangent: bool
) -> None:
    function = getattr(torch.nn.functional, name)
    with torch.autograd.forward_ad.dual_level():
        other = torch.ones(2)
        if has_tangent:
            other = torch.autograd.forward_ad.make_dual(other, torch.ones(2))
        y = torch.ones(2, requires_grad=True) + other
        function(y, inplace=True)
        assert y.grad_fn.name() == node


def test_a_threshold_in_place_has_a_node_of_its_own(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 1
    torch.nn.functional.threshold(y, 0.1, 0.2, inplace=True)
    assert y.grad_fn.name() == "ThresholdBackward1"


def test_saved_values_can_be_looked_at(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert torch.equal((x * 3).pow(2).grad_fn._saved_self, x * 3)
    assert x.pow(2).grad_fn._saved_exponent == 2
    y = x.exp()
    assert torch.equal(y.grad_fn._saved_result, y)
    product = x * x
    assert product.grad_fn._saved_self is product.grad_fn._saved_other
    with pytest.raises(AttributeError):
        y.grad_fn._saved_nothing  # noqa: B018 - asking is the point
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_result  # noqa: B018 - asking is the point


def test_a_hook_is_called_once_a_gradient_was_added(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    told = []
    handle = x.register_post_accumulate_grad_hook(lambda leaf: told.append(leaf.grad.tolist()))
    (x * x).sum().backward()
    (x * 3).sum().backward()
    handle.remove()
    x.sum().backward()
    assert told == [[2, 2], [5, 5]]
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="a tensor that doesn't require gradient"):
        torch.ones(2).register_post_accumulate_grad_hook(print)


def test_asking_a_result_for_its_gradient_warns(torch: Any) -> None:
    y: Any = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="attribute of a Tensor that is not a leaf"):
        assert y.grad is None
    y.retain_grad()
    y.sum().backward()
    assert torch.equal(y.grad, torch.ones(2))


def test_gradients_of_a_dict_keep_its_order(torch: Any) -> None:
    found = torch.func.grad(lambda d: (d["b"] * d["a"]).sum())(
        {"b": torch.ones(1), "a": torch.ones(1) * 2}
    )
    assert list(found) == ["b", "a"]


def test_a_diagonal_is_filled(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = (x * 2).fill_diagonal_(0)
    assert y.tolist() == [[0, 2, 2], [2, 0, 2]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 2, 2], [2, 0, 2]]
    assert torch.zeros(5, 2).fill_diagonal_(1, wrap=True)[:, 0].tolist() == [1, 0, 0, 1, 0]
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        torch.zeros(2).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="all dimensions of input must be of equal length"):
        torch.zeros(2, 2, 3).fill_diagonal_(1)


def test_a_node_is_only_made_by_an_operation(torch: Any) -> None:
    with pytest.raises(TypeError, match="Can't instantiate abstract class Node"):
        torch.autograd.graph.Node()


def test_walk_names_the_node_that_runs(torch: Any) -> None:
    current = import_module(f"{torch.__name__}._C")._current_autograd_node
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x.sin()
    y.register_hook(lambda _: seen.append(current()))
    y.grad_fn.register_hook(lambda *_: seen.append(current()))
    y.sum().backward()
    assert current() is None
    assert len(seen) == 2
    assert all(node is y.grad_fn for node in seen)


def test_nodes_show_the_parameters_of_their_operation(torch: Any) -> None:
    x = torch.tensor([[0.5, 0.25], [1.0, 2.0]], requires_grad=True)
    index = torch.tensor([0, 1])
    norm = torch.linalg.vector_norm
    shown = (
        (x.sum(1, keepdim=True), {"dim": (1,), "keepdim": True, "self_sym_sizes": (2, 2)}),
        (x.var(1), {"dim": (1,), "keepdim": False, "correction": 1}),
        (x.max(1)[0], {"dim": 1, "keepdim": False}),
        (norm(x, 3, dim=1), {"ord": 3, "dim": (1,), "keepdim": False}),
        (torch.stack([x, x]), {"dim": 0}),
        (x[1], {"dim": 0, "index": 1}),
        (x[:, 1:2], {"dim": 1, "start": 1, "end": 2, "step": 1}),
        (x.clamp(0.5, 0.75), {"min": 0.5, "max": 0.75}),
        (torch.nn.functional.leaky_relu(x, 0.5), {"negative_slope": 0.5}),
        (torch.nn.functional.hardshrink(x, 0.5), {"lambd": 0.5}),
        (torch.pdist(x, p=1), {"p": 1}),
        (x.diagonal(), {"offset": 0, "dim1": 0, "dim2": 1}),
        (torch.linalg.qr(x)[0], {"mode": "reduced"}),
        (x + x, {"alpha": 1}),
        (x.mm(x), {"self_sym_sizes": (2, 2), "mat2_sym_strides": (2, 1)}),
        (x.split(1)[0], {"dim": 0, "split_size": 1, "self_sym_sizes": (2, 2)}),
        (x.split([1, 1], dim=1)[0], {"dim": 1, "self_sym_sizes": (2, 2)}),
        (x.unbind(1)[0], {"dim": 1}),
        (x * torch.ones(2), {"self": None}),
    )
    for out, expected in shown:
        found = {name: getattr(out.grad_fn, f"_saved_{name}") for name in expected}
        assert found == expected
    taken = x[:, index].grad_fn
    kept = taken._saved_indices
    assert kept[0] is None
    assert kept[1].tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="None is forbidden"):
        taken._raw_saved_indices[0].register_hooks(lambda tensor: tensor, lambda tensor: tensor)
    assert x.sort()[0].grad_fn._saved_indices.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(AttributeError, match="has no attribute '_saved_other'"):
        _ = (x + x).grad_fn._saved_other


def test_what_nodes_save_has_torchs_names(torch: Any) -> None:
    x, y = (torch.tensor([2.0, 1.0], requires_grad=True) for _ in range(2))
    assert torch.dot(x, y).grad_fn._saved_tensor is y
    matrix = torch.eye(2, requires_grad=True)
    assert torch.equal(matrix.inverse().grad_fn._saved_inverse, torch.eye(2))
    by_number = (x * 2).grad_fn
    assert by_number._saved_other.dtype is torch.int64
    assert by_number._saved_self is None
    with pytest.raises(RuntimeError, match="None is forbidden"):
        by_number._raw_saved_self.register_hooks(lambda tensor: tensor, lambda tensor: tensor)


def test_results_of_one_operation_have_one_node(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    deviation, mean = torch.std_mean(x, 1)
    assert deviation.grad_fn is mean.grad_fn
    assert mean.grad_fn.name() == "StdMeanBackward0"
    assert (deviation.output_nr, mean.output_nr) == (0, 1)
    assert mean.grad_fn._saved_keepdim is False
    seen = []
    mean.grad_fn.register_prehook(lambda grads: seen.append([each is None for each in grads]))
    slope = torch.autograd.grad(deviation + mean, x, create_graph=True)[0]
    (second,) = torch.autograd.grad(slope[0, 0], x, retain_graph=True)
    assert second.abs().sum() > 0
    (only,) = torch.autograd.grad(mean, x)
    assert torch.allclose(only, torch.full((1, 3), 1 / 3, dtype=torch.float64))
    assert seen[0] == [False, False]
    assert seen[-1] == [True, False]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(deviation, x)


def test_gradients_of_recorded_gradients_have_names(torch: Any) -> None:
    x = torch.tensor([0.5, 0.25], requires_grad=True)
    functional = torch.nn.functional
    for function, name in (
        (torch.tanh, "TanhBackwardBackward0"),
        (torch.sigmoid, "SigmoidBackwardBackward0"),
        (lambda x: x.softmax(0), "SoftmaxBackwardDataBackward0"),
        (lambda x: x.log_softmax(0), "LogSoftmaxBackwardDataBackward0"),
        (functional.gelu, "GeluBackwardBackward0"),
        (functional.softplus, "SoftplusBackwardBackward0"),
        (torch.relu, "ThresholdBackwardBackward0"),
        (torch.sum, "ExpandBackward0"),
        (torch.sin, "MulBackward0"),
    ):
        y = function(x)
        cotangent = torch.ones_like(y).requires_grad_()
        (slope,) = torch.autograd.grad(y, x, cotangent, create_graph=True)
        assert slope.grad_fn.name() == name


def test_nodes_show_the_attributes_that_every_node_has(torch: Any) -> None:
    node = (torch.ones(2, requires_grad=True) * 2).grad_fn
    assert node.requires_grad
    shown = {"metadata", "name", "next_functions", "register_hook", "register_prehook"}
    assert shown <= set(dir(node))
    assert not {"plan", "saved", "shown"} & set(dir(node))
