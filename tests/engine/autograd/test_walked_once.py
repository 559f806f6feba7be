"""What is walked once only, what is saved for nobody, and what a view made elsewhere refuses."""

from __future__ import annotations

from typing import Any

import pytest

SECOND = "backward through the graph a second time"


def _written(torch: Any, how: str) -> Any:
    x = torch.ones(2, 2, requires_grad=True).clone()
    exec(how, {"x": x, "torch": torch})
    return x


@pytest.mark.parametrize(
    "how", ["x[0] = 2", "x[0, 0] = x[1, 1].detach()", "x[0].mul_(3)", "x[:, 1].zero_()"]
)
def test_a_part_that_was_written_is_walked_once(torch: Any, how: str) -> None:
    x = _written(torch, how)
    x.sum().backward(retain_graph=True)
    x.sum().backward()
    with pytest.raises(RuntimeError, match=SECOND):
        x.sum().backward()


def test_a_quotient_that_is_rounded_keeps_its_divisor(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    for mode in ("floor", "trunc"):
        y = torch.div(x, 2, rounding_mode=mode)
        y.backward()
        with pytest.raises(RuntimeError, match=SECOND):
            y.backward()


def test_the_only_element_of_a_scalar_is_found_once(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    for found in (x.kthvalue(1), x.median(0)):
        assert (found.values.item(), found.indices.item()) == (3.0, 0)
        found.values.backward()
        with pytest.raises(RuntimeError, match=SECOND):
            found.values.backward()


def test_what_only_a_view_from_outside_of_the_graph_needs_may_change(torch: Any) -> None:
    x, y = torch.ones(1, requires_grad=True), torch.ones(1)
    with torch.no_grad():
        view = x.view(1)
    product, power = y.mul(view), y.pow(view)
    y.add_(1)
    product.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        power.sum().backward()
    assert x.grad is None


def test_a_view_from_outside_of_the_graph_is_no_root(torch: Any) -> None:
    x = torch.ones((), requires_grad=True)
    with torch.no_grad():
        view = x.view(())
    assert view.requires_grad
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        view.backward()


def test_a_change_in_place_by_a_wider_dtype_has_the_node_of_the_operation(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float16, requires_grad=True) * 1
    wide = torch.ones(2, requires_grad=True)
    before = x.grad_fn
    x.mul_(wide)
    assert x.grad_fn.name() == "MulBackward0"
    assert x.grad_fn.next_functions[0][0] is before
    x.sum().backward()
    assert (wide.grad.dtype, wide.grad.tolist()) == (torch.float32, [1.0, 1.0])


def test_the_node_of_a_clamp_has_an_edge_for_each_bound(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for bounds in ({"max": x.detach()}, {"min": x.detach()}):
        assert len(x.clamp(**bounds).grad_fn.next_functions) == 3


def test_refused_marks_leave_no_change_counted(torch: Any) -> None:
    class Marked(torch.autograd.Function):  # type: ignore[misc,name-defined]  # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable((x,))
            return x.mul_(2)

    x = torch.ones(1)
    with pytest.raises(RuntimeError, match="mark_non_differentiable"):
        Marked.apply(x)
    assert x._version == 1


def test_no_batch_is_needed_to_add_a_vector_of_one_in_place(torch: Any) -> None:
    x = torch.zeros(2)
    torch.func.vmap(lambda each: each.add_(torch.ones(1)))(x)
    assert x.tolist() == [1.0, 1.0]
