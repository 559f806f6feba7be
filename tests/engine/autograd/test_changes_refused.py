"""What may not be changed in place or set: the errors are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_part_of_the_memory_read_cannot_be_written(torch: Any) -> None:
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[:3].add_(x[1:])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        torch.add(x[:3], x[1:], out=x[:3])
    assert x[:3].add_(x[:3]).tolist() == [0, 2, 4]
    z = torch.tensor([1 + 2j])
    for part in (z.imag, z.conj().imag, z.conj().real):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            part.copy_(z)
    assert z.conj().copy_(z).resolve_conj().tolist() == [1 + 2j]
    square = torch.ones((2, 2), dtype=torch.complex64)
    assert square.mH.add_(square).resolve_conj().tolist() == [[2, 2], [2, 2]]


def test_a_tensor_is_not_its_own_gradient_and_its_gradient_can_be_deleted(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="own grad"):
        x.grad = x
    x.sum().backward()
    del x.grad
    assert x.grad is None


@pytest.mark.parametrize("value", [True, False])
def test_recording_is_not_set_on_what_was_computed(torch: Any, value: bool) -> None:
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="flags of leaf variables"):
        x.requires_grad = value
    assert x.requires_grad_() is x


def test_data_that_can_have_no_gradient_is_refused(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="must be floating point or complex"):
        x.data = torch.ones(2, dtype=torch.int64)


def test_an_inference_tensor_is_not_changed_outside(torch: Any) -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    for change in (x.zero_, lambda: x.mul_(2), lambda: torch.add(x, 1, out=x)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            change()


def test_a_view_without_a_node_is_a_leaf_until_it_is_asked(torch: Any) -> None:
    def made() -> Any:
        base = torch.ones(2, 2)
        view = base[0]
        base.mul_(torch.tensor(2.0, requires_grad=True))
        return view

    for key in (slice(None), ..., [0, 1]):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            made()[key] = 2.0
    made()[:1] = 2.0  # a view of its own
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        made().mul_(2)
    view = made()
    assert view.grad_fn is not None
    assert view.mul_(2).tolist() == [4, 4]


def test_out_is_resized_and_cast_where_that_is_possible(torch: Any) -> None:
    x = torch.ones(2, 3)
    assert torch.add(x, x, out=torch.zeros(0)).shape == (2, 3)
    out = torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        torch.add(x, x, out=out)
    leaf = torch.ones(3, requires_grad=True)
    assert torch.eq(leaf, 1, out=torch.zeros(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [
        (slice(0, 2), (2, 3), "number of sizes provided"),
        (slice(0, 2), (3,), "expanded size of the tensor"),
        ([0, 1], (3,), "shape mismatch: value tensor"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    torch: Any, index: Any, value: tuple[int, ...], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.zeros(3)[index] = torch.zeros(value)


def test_a_view_is_changed_again_after_it_was_changed(torch: Any) -> None:
    p = torch.tensor(2.0, requires_grad=True)
    base = torch.ones(2)
    view = base[:1]
    view.mul_(p)
    view.mul_(2).add_(1)
    base.sum().backward()
    assert p.grad.item() == 2


def test_a_view_written_over_itself_keeps_its_gradient(torch: Any) -> None:
    p = torch.tensor(2.0, requires_grad=True)
    base = torch.ones(2) * p
    view = base[:1]
    view.copy_(view)
    view.mul_(2)
    base.sum().backward()
    assert p.grad.item() == 3
