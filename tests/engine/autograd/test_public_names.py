"""Classes and switches of torch.autograd that other tests use without naming."""

from __future__ import annotations

import importlib
import warnings

import pytest


def identity(torch):
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, torch.autograd.function.FunctionCtx)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    return Identity


def test_classes_of_a_function(torch):
    function = torch.autograd.function
    Identity = identity(torch)
    assert isinstance(Identity, function.FunctionMeta)
    node = Identity.apply(torch.ones(1, requires_grad=True)).grad_fn
    assert isinstance(node, function.BackwardCFunction)
    assert issubclass(Identity._backward_cls, function.BackwardCFunction)


def test_named_tuples(torch):
    edge = torch.autograd.graph.get_gradient_edge(torch.ones(1, requires_grad=True) * 2)
    assert isinstance(edge, torch.autograd.graph.GradientEdge)
    with torch.autograd.forward_ad.dual_level():
        unpacked = torch.autograd.forward_ad.unpack_dual(torch.ones(1))
        assert isinstance(unpacked, torch.autograd.forward_ad.UnpackedDualTensor)


def test_modes_by_their_module(torch):
    with torch.autograd.grad_mode.no_grad():
        assert not torch.is_grad_enabled()


def test_anomaly_mode_as_a_switch(torch):
    x = torch.zeros(1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(True):
            y = (x.sqrt() * 0).sum()
            with pytest.raises(RuntimeError, match="nan values"):
                y.backward()
    with torch.autograd.set_detect_anomaly(False):
        (x.sqrt() * 0).sum().backward()


def test_inference_mode(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.inference_mode():
        y = x * 2
    assert not y.requires_grad
    assert y.is_inference()
    with pytest.raises(RuntimeError, match=r"[Ii]nference tensors"):
        (y * x).sum().backward()


def test_a_function_that_works_in_place(torch):
    class AddOne(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    AddOne.apply(x * 3).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_function_of_nested_values_says_what_is_to_be_written(torch):
    nested = torch.autograd.NestedIOFunction
    assert nested is torch.autograd.function.NestedIOFunction
    assert issubclass(nested, torch.autograd.Function)
    for name in ("forward_extended", "backward_extended"):
        with pytest.raises(NotImplementedError):
            getattr(nested, name)(None)


def test_what_computed_a_tensor_is_a_node(torch):
    y = torch.ones(1, requires_grad=True) * 2
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert not isinstance(y, torch.autograd.graph.Node)


def test_second_derivatives_are_checked(torch):
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda each: each.exp() * each, (x,))


def test_anomaly_mode_can_be_asked_for(torch):
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    torch.set_anomaly_enabled(True)
    try:
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, True)
    finally:
        torch.set_anomaly_enabled(False)
    assert not torch.is_anomaly_enabled()


def test_changes_of_inference_tensors_are_not_counted(torch):
    with torch.inference_mode():
        x = torch.ones(2)
    torch.autograd.graph.increment_version(x)


def test_core_says_if_tangents_are_computed(torch):
    core = importlib.import_module(f"{torch.__name__}._C")
    assert core._is_fwd_grad_enabled()
    core._set_fwd_grad_enabled(False)
    try:
        assert not core._is_fwd_grad_enabled()
    finally:
        core._set_fwd_grad_enabled(True)
    assert core._is_multithreading_enabled()
