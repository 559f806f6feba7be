"""In-place changes inside transforms: what they give, and which of them are refused."""

from __future__ import annotations

import pytest

CAPTURED = "that would mutate a captured Tensor"
SHARED = "is not possible because there exists a Tensor `other` in extra_args"

CHANGES = {
    "copy_": lambda t, c, x: c.copy_(x),
    "add_": lambda t, c, x: c.add_(1),
    "sin_": lambda t, c, x: c.sin_(),
    "fill_": lambda t, c, x: c.fill_(2),
    "zero_": lambda t, c, x: c.zero_(),
    "an item": lambda t, c, x: c.__setitem__(0, x[0]),
    "a number as an item": lambda t, c, x: c.__setitem__(0, 1.0),
    "indexed items": lambda t, c, x: c.__setitem__(t.tensor([0]), x[:1]),
    "a view": lambda t, c, x: c.view(3, 1).mul_(2),
    "a detached tensor": lambda t, c, x: c.detach().mul_(2),
    "data": lambda t, c, x: c.data.mul_(2),
    "scatter_": lambda t, c, x: c.scatter_(0, t.tensor([0]), x[:1]),
    "normal_": lambda t, c, x: c.normal_(),
    "unsqueeze_": lambda t, c, x: c.unsqueeze_(0),
}
TRANSFORMS = {
    "grad": lambda t, f, x: t.func.grad(f)(x),
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (x,)),
    "vmap in grad": lambda t, f, x: t.func.grad(lambda x: t.func.vmap(f)(x[None]).sum())(x),
    "grad in vmap": lambda t, f, x: t.func.vmap(t.func.grad(f))(x[None]),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_captured_tensor_may_not_change(torch, change, transform):
    if transform.startswith("vmap") and change in ("copy_", "an item", "indexed items", "scatter_"):
        pytest.skip("vmap refuses it before")
    if "vmap" in transform and change == "normal_":
        pytest.skip("vmap refuses random numbers before")
    captured = torch.zeros(3)

    def function(x):
        CHANGES[change](torch, captured, x)
        return (captured * x).sum()

    with pytest.raises(RuntimeError, match=CAPTURED):
        TRANSFORMS[transform](torch, function, torch.ones(3))


@pytest.mark.parametrize("transform", ["grad", "jvp"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_tensor_made_inside_may_change(torch, change, transform):
    def function(x):
        made = torch.zeros(3)
        CHANGES[change](torch, made, x)
        return (made * x).sum()

    TRANSFORMS[transform](torch, function, torch.ones(3))


def test_arguments_that_are_not_differentiated_may_change(torch):
    def function(x, y):
        y.mul_(2)
        return (x * y).sum()

    y = torch.ones(3)
    assert torch.func.grad(function)(torch.ones(3), y).tolist() == [2.0, 2.0, 2.0]
    assert y.tolist() == [2.0, 2.0, 2.0]


SHARING = {
    "copy_": (lambda t, c, x: c.copy_(x), f"inplace arithmetic.*{SHARED}"),
    "mul_": (lambda t, c, x: c.mul_(x), f"inplace arithmetic.*{SHARED}"),
    "an item": (lambda t, c, x: c.__setitem__(0, x[0]), f"inplace arithmetic.*{SHARED}"),
    "add_": (lambda t, c, x: c.add_(x), r"output with shape \[3\] doesn't match .* \[2, 3\]"),
    "fill_": (lambda t, c, x: c.fill_(x[0]), f"vmap: fill_.*{SHARED}"),
    "pow_": (lambda t, c, x: c.pow_(x), f"vmap: aten::pow_.*{SHARED}"),
    "index_put_": (lambda t, c, x: c.__setitem__(t.tensor([0, 1, 2]), x), f"index_put_.*{SHARED}"),
    "index_add_": (
        lambda t, c, x: c.index_add_(0, t.tensor([0, 1, 2]), x),
        f"index_add_.*{SHARED}",
    ),
    "a view": (lambda t, c, x: c.view(3, 1).mul_(x[:, None]), f"inplace arithmetic.*{SHARED}"),
}


@pytest.mark.parametrize("change", SHARING)
def test_examples_do_not_change_what_they_share(torch, change):
    call, message = SHARING[change]

    def function(x):
        shared = torch.ones(3)
        call(torch, shared, x)
        return shared

    with pytest.raises(RuntimeError, match=message):
        torch.vmap(function)(torch.ones(2, 3))


@pytest.mark.parametrize(
    "make",
    [
        lambda t, x: t.zeros_like(x),
        lambda t, x: t.full_like(x, 3.0),
        lambda t, x: x.new_zeros(3),
        lambda t, x: x.new_empty(3),
        lambda t, x: x.new_ones((3,)),
        lambda t, x: x.detach(),
    ],
    ids=["zeros_like", "full_like", "new_zeros", "new_empty", "new_ones", "detach"],
)
def test_what_is_made_like_an_example_is_one_for_each(torch, make):
    x = torch.arange(6.0).reshape(2, 3)

    def function(x):
        made = make(torch, x)
        made.copy_(x * 2)
        return made

    assert torch.vmap(function)(x.clone()).tolist() == (x * 2).tolist()
    grads = torch.vmap(torch.func.grad(lambda y, x: make(torch, x).copy_(y).sum()))(x, x.clone())
    assert grads.tolist() == torch.ones(2, 3).tolist()


@pytest.mark.parametrize("transform", ["grad", "jvp", "vmap"])
def test_no_graph_beside_that_of_a_transform(torch, transform):
    transforms = {**TRANSFORMS, "vmap": lambda t, f, x: t.vmap(f)(x)}
    for call, name in (
        (lambda x: (x * 2).requires_grad_().sum(), "requires_grad_"),
        (lambda x: torch.autograd.functional.jacobian(torch.sin, x).sum(), "requires_grad_"),
        (lambda x: ((y := x * 2).retain_grad(), y.sum())[1], "retain_grad"),
    ):
        if transform != "grad" and name == "retain_grad":
            continue  # there is no gradient to retain
        with pytest.raises(RuntimeError, match=f"attempting to call Tensor.{name}\\(\\)"):
            transforms[transform](torch, call, torch.ones(3))


@pytest.mark.parametrize("nested", [False, True])
def test_views_and_bases_change_at_a_level(torch, nested):
    def function(x):
        y = x.clone()
        y[0].sin_()
        y.view(3, 1)[1:].mul_(x[:2, None])
        z = y[2]
        y.exp_()
        return (y * z).sum()

    x = torch.tensor([0.5, -0.25, 1.5], dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(function(x), x)
    x = x.detach()
    found = (
        torch.vmap(torch.func.grad(function))(x[None])[0]
        if nested
        else (torch.func.grad(function)(x))
    )
    assert (found - expected).abs().max().item() < 1e-12
    pushed = torch.func.jvp(function, (x,), (torch.ones_like(x),))[1]
    assert abs((pushed - expected.sum()).item()) < 1e-12


@pytest.mark.parametrize("transform", ["grad", "jvp"])
def test_a_view_of_a_constant_takes_values_of_the_level(torch, transform):
    def function(x):
        made = torch.zeros(4)
        first = made[:3]
        first.copy_(x)
        return (made * made).sum() + first.prod()

    x = torch.tensor([1.0, 2.0, 3.0])
    found = TRANSFORMS[transform](torch, function, x)
    if transform == "jvp":
        assert found[1].item() == 2 + 8 + 18 + 3 * 6
    else:
        assert found.tolist() == [2.0 + 6.0, 4.0 + 3.0, 6.0 + 2.0]


def test_a_view_of_a_constant_takes_a_tangent_by_hand(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        made = torch.zeros(3)
        made[1:].copy_(d)
        assert fw.unpack_dual(made).tangent.tolist() == [0.0, 3.0, 4.0]


def test_a_constant_changed_by_what_is_recorded_keeps_its_old_values(torch):
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    c = torch.tensor([1.5, 2.5])
    c.mul_(w)
    (g,) = torch.autograd.grad(c.sum(), w)
    assert g.tolist() == [1.5, 2.5]


UNBATCHED = {
    "item": (lambda t, x: x[0].item(), "you're calling .item\\(\\) on a Tensor"),
    "float": (lambda t, x: float(x[0]), "you're calling .item\\(\\) on a Tensor"),
    "if": (lambda t, x: x if x.sum() > 0 else -x, "in some data-dependent control flow"),
    "numpy": (lambda t, x: x.numpy(), "Cannot access data pointer of Tensor that doesn't have"),
    "tolist": (lambda t, x: x.tolist(), "Cannot access data pointer of Tensor that doesn't have"),
    "mask": (lambda t, x: x[x > 0], "Attempting to batch over indexing with a boolean mask."),
}


@pytest.mark.parametrize("case", UNBATCHED)
def test_an_example_has_no_value_of_its_own(torch, case):
    call, message = UNBATCHED[case]
    with pytest.raises(RuntimeError, match=message):
        torch.vmap(lambda x: call(torch, x))(torch.ones(2, 3))


@pytest.mark.parametrize(
    ("randomness", "message"),
    [
        ("error", "called random operation while in randomness error mode"),
        ("different", "Cannot ask for different inplace randomness on an unbatched tensor."),
    ],
)
def test_numbers_are_not_drawn_over_what_examples_share(torch, randomness, message):
    with pytest.raises(RuntimeError, match=message):
        torch.vmap(lambda x: torch.zeros(3).normal_() + x, randomness=randomness)(torch.ones(2, 3))
