"""Views: which may be changed in place, and where each is in the graph after a change."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest

LEAF = "leaf Variable that requires grad"
NO_GRAD = "A view was created in no_grad mode and is being modified inplace"
INFERENCE = "A view was created in inference mode and is being modified inplace in normal mode"
SEVERAL = r"Output 1 of Unbind is a view and is being modified inplace\. This view is the output of"
CUSTOM = r"Output 0 of Identity is a view and is being modified inplace\. This view was created"


def recorded(torch: Any) -> Any:
    return torch.arange(6.0).reshape(2, 3).requires_grad_().clone()


def identity(torch: Any) -> Any:
    class Identity(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    return Identity.apply


def made_without_recording(torch: Any, x: Any) -> Any:
    with torch.no_grad():
        return x[0]


def made_in_inference_mode(torch: Any, x: Any) -> Any:
    with torch.inference_mode():
        return x[0]


FORBIDDEN = [
    pytest.param(made_without_recording, NO_GRAD, id="no_grad"),
    pytest.param(made_in_inference_mode, INFERENCE, id="inference"),
    pytest.param(lambda _, x: x.unbind()[1], SEVERAL, id="several"),
    pytest.param(lambda torch, x: identity(torch)(x), CUSTOM, id="custom"),
    pytest.param(lambda _, x: x.unbind()[1][1:], "Output 0 of Slice is a view", id="of several"),
]


@pytest.mark.parametrize(("view", "message"), FORBIDDEN)
def test_a_change_that_cannot_be_followed_is_refused(
    torch: Any, view: Callable[..., Any], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        view(torch, recorded(torch)).add_(1)


@pytest.mark.parametrize(("view", "message"), FORBIDDEN)
def test_such_a_view_of_a_constant_takes_constants_only(
    torch: Any, view: Callable[..., Any], message: str
) -> None:
    seen = view(torch, recorded(torch).detach())
    seen.add_(1)
    with pytest.raises(RuntimeError, match=r"view .* is being modified inplace"):
        seen.mul_(torch.ones((), requires_grad=True))


@pytest.mark.parametrize(("view", "message"), FORBIDDEN)
def test_such_a_view_is_lost_once_its_base_changed(
    torch: Any, view: Callable[..., Any], message: str
) -> None:
    x = recorded(torch)
    seen = view(torch, x)
    x.mul_(2)
    for use in (lambda: seen * 2, lambda: seen.grad_fn, lambda: seen.is_leaf):
        with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
            use()
    assert seen.requires_grad
    assert "grad_fn=<Invalid>" in repr(seen)


def test_a_view_made_without_recording_requires_what_its_base_does(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    seen = made_without_recording(torch, x)
    assert seen.requires_grad
    assert seen.is_leaf
    y = (seen * x.sum()) * 3
    y.backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert seen.grad is None


def test_a_leaf_passes_on_that_it_requires_a_gradient(torch: Any) -> None:
    x = torch.ones(2)
    seen = x[0]
    x.requires_grad_()
    assert seen.requires_grad
    with pytest.raises(RuntimeError, match=LEAF):
        seen.add_(1)
    x.requires_grad_(False)
    assert not seen.requires_grad


def test_a_view_that_is_a_leaf_keeps_its_gradient(torch: Any) -> None:
    seen = torch.ones(2)[0].requires_grad_()
    (seen * 2).backward()
    assert seen.grad.item() == 2.0


@pytest.mark.parametrize("recording", [True, False])
def test_a_view_is_derived_from_its_base_after_a_change(torch: Any, recording: bool) -> None:
    x = recorded(torch)
    seen = x[0][1:]
    assert type(seen.grad_fn).__name__ == "SliceBackward0"
    with torch.set_grad_enabled(recording):
        x.detach().add_(1)
    assert type(seen.grad_fn).__name__ == "AsStridedBackward0"
    assert seen.grad_fn.next_functions[0][0] is x.grad_fn
    assert seen.grad_fn is seen.grad_fn
    (g,) = torch.autograd.grad(seen.sum(), x)
    assert g.tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


def test_parts_of_complex_numbers_are_taken_again(torch: Any) -> None:
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True).clone()
    pairs = torch.view_as_real(z)
    pairs.mul_(3)
    assert type(pairs.grad_fn).__name__ == "ViewAsRealBackward0"
    (g,) = torch.autograd.grad(pairs[0].sum(), z)
    assert g.tolist() == [1 + 1j, 0]


def test_hooks_of_a_view_are_for_what_it_was(torch: Any) -> None:
    x = recorded(torch)
    seen = x[0]
    calls: list[str] = []
    x.register_hook(lambda g: calls.append("base"))
    seen.register_hook(lambda g: calls.append("view"))
    seen.mul_(2)
    seen.sum().backward()
    assert calls == ["base"]


@pytest.mark.parametrize("change", [lambda x, _: x.mul_(2), lambda _, seen: seen.mul_(2)])
def test_a_retained_gradient_is_of_what_the_tensor_is_now(
    torch: Any, change: Callable[[Any, Any], Any]
) -> None:
    x = recorded(torch)
    seen = x[0]
    x.retain_grad()
    seen.retain_grad()
    change(x, seen)
    (seen * 3).sum().backward()
    assert x.grad.tolist() == [[3.0] * 3, [0.0] * 3]
    assert seen.grad.tolist() == [3.0] * 3


def test_an_infinite_gradient_stays_outside_of_an_overwritten_view(torch: Any) -> None:
    x = recorded(torch)
    leaf = x * 1
    leaf[0].zero_()
    (g,) = torch.autograd.grad(leaf, x, torch.full((2, 3), float("inf")))
    assert g.tolist() == [[0.0] * 3, [float("inf")] * 3]


# ---- outputs of one node --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("take", "name"),
    [
        (lambda _, x: x.unbind(1), "UnbindBackward0"),
        (lambda _, x: list(x), "UnbindBackward0"),
        (lambda _, x: x.split(2, 1), "SplitBackward0"),
        (lambda _, x: x.chunk(2), "SplitBackward0"),
        (lambda _, x: x.split([1, 2], 1), "SplitWithSizesBackward0"),
        (lambda torch, x: torch.unsafe_split(x, 1), "UnsafeSplitBackward0"),
    ],
)
def test_parts_are_outputs_of_one_node(torch: Any, take: Any, name: str) -> None:
    x = recorded(torch)
    parts = take(torch, x)
    node = parts[0].grad_fn
    assert type(node).__name__ == name
    assert [each.output_nr for each in parts] == list(range(len(parts)))
    assert all(each.grad_fn is node for each in parts)
    seen: list[Any] = []
    node.register_hook(lambda gi, go: seen.append([g is None for g in go]))
    (g,) = torch.autograd.grad((parts[-1] ** 2).sum(), x, create_graph=True)
    assert seen == [[True] * (len(parts) - 1) + [False]]
    assert torch.autograd.grad(g.sum(), x)[0].sum() == 2 * parts[-1].numel()


def test_parts_of_equal_rank_are_apart(torch: Any) -> None:
    x = recorded(torch)
    first, second = torch.tensor_split(x, 2)
    assert (first.output_nr, second.output_nr) == (0, 0)
    second.mul_(2)
    assert type(first.grad_fn).__name__ == "AsStridedBackward0"


def test_unsafe_parts_share_memory_but_no_version(torch: Any) -> None:
    x = torch.zeros(4)
    first, second = torch.unsafe_chunk(x, 2)
    first.add_(1)
    assert x.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert (x._version, first._version, second._version) == (0, 1, 0)
    assert not first._is_view()


# ---- shapes changed in place ----------------------------------------------------------------

RESHAPES = [
    (lambda x: x.t_(), "TBackward1"),
    (lambda x: x.transpose_(0, 1), "TransposeBackward1"),
    (lambda x: x.swapaxes_(0, 1), "TransposeBackward1"),
    (lambda x: x.unsqueeze_(0), "UnsqueezeBackward1"),
    (lambda x: x.squeeze_(), "SqueezeBackward3"),
    (lambda x: x.squeeze_(0), "SqueezeBackward4"),
]


@pytest.mark.parametrize(("reshape", "name"), RESHAPES)
@pytest.mark.parametrize("of_base", [True, False])
def test_a_reshaped_tensor_stays_what_it_was(
    torch: Any, reshape: Any, name: str, of_base: bool
) -> None:
    x = recorded(torch)
    base = x.clone()
    part = base[:, 1]
    seen = base if of_base else base[:]
    reshape(seen)
    assert type(seen.grad_fn).__name__ == name
    assert (seen._base is base) == (not of_base)
    assert seen._version == part._version == 1
    assert type(part.grad_fn).__name__ == "AsStridedBackward0"
    seen.mul_(torch.arange(1.0, seen.numel() + 1).reshape(seen.shape))
    (g,) = torch.autograd.grad(base.sum() + 100 * part.sum(), x)
    expected = torch.ones(2, 3)
    changed = reshape(expected[:])
    changed.mul_(torch.arange(1.0, changed.numel() + 1).reshape(changed.shape))
    expected[:, 1] *= 101
    assert g.tolist() == expected.tolist()


def test_a_view_stays_one_wherever_it_is_moved_to(torch: Any) -> None:
    x = recorded(torch)
    base = x.clone()
    seen = base[0]
    seen.as_strided_((2,), (2,), 1)
    assert type(seen.grad_fn).__name__ == "AsStridedBackward1"
    seen.mul_(5)
    (g,) = torch.autograd.grad(base.sum(), x)
    assert g.tolist() == [[1.0, 5.0, 1.0], [5.0, 1.0, 1.0]]


def test_a_view_of_parts_forgets_its_turn(torch: Any) -> None:
    x = torch.ones(2, 2, dtype=torch.complex64, requires_grad=True)
    pairs = torch.view_as_real(x.clone())
    pairs.transpose_(0, 1).add_(1)
    pairs.backward(torch.arange(8.0).reshape(2, 2, 2))
    assert x.grad.tolist() == [[1j, 2 + 3j], [4 + 5j, 6 + 7j]]


def test_a_leaf_is_not_reshaped(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match=LEAF):
        x.t_()
    with torch.no_grad():
        x.t_()
    assert x.is_leaf
    assert x.requires_grad


def test_new_memory_is_a_change(torch: Any) -> None:
    x = torch.arange(4.0)
    x.resize_(2, 3)
    x.resize_((2, 3))
    assert x._version == 1
    x.resize_(2)
    assert (x._version, x.tolist(), x.resize_(4).tolist()) == (2, [0.0, 1.0], [0.0, 1.0, 2.0, 3.0])
    y = torch.zeros(3)
    x.set_(y)
    assert (x._version, y._version, x.data_ptr() == y.data_ptr()) == (4, 0, True)


def test_a_storage_is_all_of_the_memory(torch: Any) -> None:
    part = torch.arange(5.0)[1:4].detach()
    storage = part.untyped_storage()
    assert (storage.nbytes(), part.storage_offset()) == (20, 1)
    assert storage.data_ptr() == part.data_ptr() - 4
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # PyTorch's, of its name
        assert len(part.storage()) == 5


# ---- outputs of custom Functions ------------------------------------------------------------


def test_an_input_returned_as_it_is_becomes_a_view(torch: Any) -> None:
    x = recorded(torch)
    y = identity(torch)(x)
    assert y._base is x
    assert type(y.grad_fn).__name__ == "IdentityBackward"
    with torch.no_grad():
        z = identity(torch)(x)
    assert z is not x
    assert not z.requires_grad
    assert not z._is_view()


def doubling(torch: Any, outputs: int) -> Any:
    class Double(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            x.mul_(2)
            return x if outputs == 1 else (x, x * 1)

        @staticmethod
        def backward(ctx: Any, g: Any, *more: Any) -> Any:
            return 2 * g

    return Double.apply


def test_a_function_that_changes_a_view_changes_its_base(torch: Any) -> None:
    x = recorded(torch)
    base = x.clone()
    seen = base[0]
    assert doubling(torch, 1)(seen) is seen
    assert type(base.grad_fn).__name__ == "CopySlices"
    assert type(seen.grad_fn).__name__ == "AsStridedBackward0"
    (g,) = torch.autograd.grad(base.sum(), x)
    assert g.tolist() == [[2.0] * 3, [1.0] * 3]
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        doubling(torch, 2)(seen)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        doubling(torch, 1)(torch.ones(2, requires_grad=True)[0])


def test_views_among_several_outputs_may_not_be_changed(torch: Any) -> None:
    class Two(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[0], x * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return 2 * h

    seen, _ = Two.apply(recorded(torch))
    with pytest.raises(RuntimeError, match=r"Output 0 of Two is a view.*returns multiple views"):
        seen.add_(1)


def test_a_view_of_a_base_that_was_detached_keeps_a_node(torch: Any) -> None:
    base = torch.ones(3, requires_grad=True)
    view = base[1:]
    base.detach_()
    with torch.no_grad():
        base.mul_(2)
    assert view.requires_grad
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.grad_fn.next_functions == ((None, 0),)


def test_a_leaf_that_was_detached_takes_its_plain_views_along(torch: Any) -> None:
    base = torch.ones(3)
    view = base[1:]
    base.requires_grad = True
    assert view.requires_grad
    base.detach_()
    assert not view.requires_grad


def test_repeated_elements_are_a_view_of_copies(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    y = x.repeat_interleave(2, -1)
    assert y._base.shape == (1, 2, 2)
    y.sum().backward(retain_graph=True)
    y.sum().backward()  # nothing was saved, and so nothing freed
    assert x.grad.tolist() == [[4.0, 4.0]]
    with pytest.raises(RuntimeError, match="Repeats must be non-negative"):
        x.repeat_interleave(-1)


def test_unsafe_parts_made_without_recording_require_no_gradient(torch: Any) -> None:
    with torch.no_grad():
        part, _ = torch.ones(4, requires_grad=True).unsafe_chunk(2)
    assert not part.requires_grad
    with torch.inference_mode():
        part, _ = torch.ones(4).unsafe_chunk(2)
    assert part.is_inference()


def test_changes_through_a_view_leave_no_cycle(torch: Any) -> None:
    def changed() -> Any:
        base = torch.ones(3, requires_grad=True).clone()
        view = base[:2]
        view.relu_()
        view.register_hook(lambda grad: grad * 2)
        base.sum().backward()
        return weakref.ref(base), weakref.ref(view)

    gc.collect()
    gc.disable()
    try:
        assert [reference() for reference in changed()] == [None, None]
    finally:
        gc.enable()


def test_a_view_is_taken_of_another_base(torch: Any) -> None:
    view = torch.ones(4).view(2, 2)[1]
    again = view._view_func(torch.arange(4.0))
    assert again.tolist() == [2.0, 3.0]
    assert view._view_func(torch.ones(5)) is None
    assert torch.ones(4)._view_func(torch.ones(4)) is None
