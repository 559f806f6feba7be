"""`to` and its kin return the tensor itself where nothing changes, and let gradients through."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine


def test_to_returns_the_tensor_itself_where_nothing_changes(torch: Any) -> None:
    x = torch.ones(2)
    for same in (x.to(torch.float32), x.to("cpu"), x.to(x), x.float(), x.cpu(), x.type_as(x)):
        assert same is x


def test_to_copies_on_request(torch: Any) -> None:
    x = torch.ones(2)
    assert x.to(torch.float32, copy=True) is not x
    assert x.to("cpu", torch.float32, False, True) is not x


def test_integers_require_no_gradient(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert not x.long().requires_grad
    assert x.half().requires_grad


def test_a_gradient_comes_back_in_the_dtype_of_its_input(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.double().sum().backward()
    assert x.grad.dtype is torch.float32


def test_a_real_input_gets_the_real_part_of_a_complex_gradient(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.to(torch.complex64).backward(torch.tensor([1 + 2j, 3 - 4j]))
    assert x.grad.tolist() == [1, 3]


def test_warns_when_imaginary_parts_are_dropped(torch: Any) -> None:
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert engine.tensor([1 + 2j]).float().tolist() == [1]


def test_not_a_number_becomes_an_integer_without_a_warning() -> None:
    engine.tensor([engine.nan, engine.inf]).long()


def test_real_and_imag_are_views_that_gradients_pass(torch: Any) -> None:
    x = torch.tensor([1 + 2j, 3 - 4j], requires_grad=True)
    (x.real * 2 + x.imag * 3).sum().backward()
    assert x.grad.tolist() == [2 + 3j, 2 + 3j]
    y = torch.zeros(2, dtype=torch.complex64)
    y.imag.fill_(5)
    assert y.tolist() == [5j, 5j]


def test_cuda_without_cupy_says_what_to_install() -> None:
    try:
        import cupy  # noqa: F401
    except ImportError:
        with pytest.raises(
            RuntimeError, match=r"CuPy is not installed.*install gradtool\[cuda12\]"
        ):
            engine.zeros(2, device="cuda")
    else:
        pytest.skip("CuPy is installed")
