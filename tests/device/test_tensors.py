"""Tensors on CUDA: where they go, what mixes, what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch

APART = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)

pytestmark = pytest.mark.usefixtures("cupy")


def there(*shape: int) -> Any:
    return torch.ones(*shape, device="cuda")


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: x + y,
        lambda x, y: y * x,
        lambda x, y: x.double() + y,
        lambda x, y: torch.matmul(x, y),
        lambda x, y: torch.cat([x, y]),
        lambda x, y: torch.stack([y, x]),
        lambda x, y: torch.where(x > 0, x, y),
        lambda x, y: x.add_(y),
        lambda x, y: torch.allclose(x, y),
        lambda x, y: torch.nn.functional.mse_loss(x, y),
        lambda x, y: torch.func.vmap(lambda row: row * y)(torch.ones(2, 3, device="cuda")),
    ],
)
def test_tensors_of_two_devices_do_not_mix(call: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError) as refused:
        call(there(3), torch.ones(3))
    assert str(refused.value) == APART


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: x + y,
        lambda x, y: y - x,
        lambda x, y: x.double() * y,
        lambda x, y: torch.where(x > 0, x, y),
    ],
)
def test_numbers_of_the_cpu_mix_and_get_their_gradient_there(call: Callable[..., Any]) -> None:
    number = torch.tensor(2.0, requires_grad=True)
    out = call(there(3), number)
    assert out.device == torch.device("cuda", 0)
    out.sum().backward()
    on_cpu = torch.tensor(2.0, requires_grad=True)
    call(torch.ones(3), on_cpu).sum().backward()
    assert number.grad.device.type == "cpu"
    assert number.grad.item() == on_cpu.grad.item()


def test_gradients_accumulate_on_the_device() -> None:
    x = torch.ones(3, device="cuda", requires_grad=True)
    x.exp().sum().backward()
    x.exp().sum().backward()
    assert x.grad.device == x.device
    np.testing.assert_allclose(x.grad.cpu().numpy(), 2 * np.exp(np.ones(3)), rtol=1e-6)


def test_a_gradient_of_another_device_is_refused() -> None:
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match="assigned grad has data located on a different device"):
        x.grad = there(3)


def test_gradients_come_back_across_devices() -> None:
    x = torch.ones(3, requires_grad=True)
    (x.cuda() * 3).cpu().sum().backward()
    assert x.grad.tolist() == [3, 3, 3]
    assert not x.grad.is_cuda


def test_moving() -> None:
    x = torch.arange(3.0)
    assert str(x.cuda().device) == "cuda:0"
    assert str(x.to("cuda:1").device) == "cuda:1"
    assert x.cuda().to("cuda:1").cpu().tolist() == [0, 1, 2]
    assert x.cpu() is x
    moved = x.cuda()
    assert moved.cuda() is moved
    assert moved.to("cuda", non_blocking=True) is moved
    assert x.to(there(1).double()).dtype is torch.float64


def test_copies_from_the_device_that_do_not_block_land_in_page_locked_memory() -> None:
    back = there(3).to("cpu", non_blocking=True)
    assert back.is_pinned()
    assert back.tolist() == [1, 1, 1]
    assert not there(3).cpu().is_pinned()


def test_pinning() -> None:
    x = torch.arange(3.0, requires_grad=True)
    held = x.pin_memory()
    assert held.is_pinned()
    assert not x.is_pinned()
    assert held.pin_memory() is held
    held.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    assert torch.ones(2, pin_memory=True).is_pinned()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        there(3).pin_memory()


def test_what_is_copied_into_comes_from_anywhere() -> None:
    x = there(3)
    x.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert x.tolist() == [1, 2, 3]
    x[:2] = torch.tensor([5.0, 6.0])
    x[2] = torch.tensor(7.0)
    assert x.tolist() == [5, 6, 7]
    here = torch.zeros(3)
    here.copy_(x)
    assert here.tolist() == [5, 6, 7]


def test_positions_of_the_cpu_index_the_device_and_are_checked() -> None:
    x = torch.arange(3.0, device="cuda")
    assert x[torch.tensor([2, 0])].tolist() == [2, 0]
    for index in (torch.tensor([0, 5]), torch.tensor([0, 5], device="cuda"), [0, -4]):
        with pytest.raises(IndexError, match="out of bounds for dimension 0 with size 3"):
            x[index]
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.gather(0, torch.tensor([7], device="cuda"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "complex64"])
def test_repeated_positions_add_up_in_dtypes_that_a_device_does_not_add_atomically(
    dtype: str,
) -> None:
    kind = getattr(torch, dtype)
    x = torch.full((3,), 4, dtype=kind, device="cuda")
    index = torch.tensor([0, 2, 2], device="cuda")
    found = x.index_add(0, index, torch.tensor([3, 1, 1], dtype=kind, device="cuda"))
    assert found.cpu().tolist() == torch.tensor([7, 4, 6], dtype=kind).tolist()


def test_numpy_wants_it_copied_first() -> None:
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy\."):
        there(3).numpy()
    assert there(3).numpy(force=True).tolist() == [1, 1, 1]


def test_printing_and_copying_keep_the_device() -> None:
    assert repr(there(2)) == "tensor([1., 1.], device='cuda:0')"
    assert copy.deepcopy(there(2)).device == there(2).device
    assert there(2).type() == "torch.cuda.FloatTensor"


def test_a_batched_tensor_of_the_cpu_is_not_on_cuda() -> None:
    seen = []
    torch.func.vmap(lambda row: seen.append(row.is_cuda) or row)(torch.ones(2, 3))
    torch.func.vmap(lambda row: seen.append(row.is_cuda) or row)(there(2, 3))
    assert seen == [False, True]


def test_a_device_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"invalid device ordinal: 'cuda:5' of 2"):
        torch.zeros(2, device="cuda:5")


def test_without_a_device_the_reason_is_told(cupy: Any) -> None:
    cupy.cuda.runtime.devices = 0
    with pytest.raises(RuntimeError, match="cudaErrorNoDevice"):
        torch.cuda.init()
    assert torch.ones(2).pin_memory().is_pinned() is False
    assert not torch.cuda.is_available()


def test_each_kind_of_device_has_a_generator_of_its_own() -> None:
    torch.manual_seed(3)
    first = torch.randn(4, device="cuda").tolist()
    assert torch.randn(4).tolist() == first
    torch.cuda.manual_seed(3)
    here = torch.randn(4)
    assert torch.randn(4, device="cuda").tolist() == first
    assert here.tolist() != first
