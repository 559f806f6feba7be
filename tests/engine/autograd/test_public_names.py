"""Classes and switches of torch.autograd that other tests use without naming."""

from __future__ import annotations

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
