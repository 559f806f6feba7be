"""What transforms return as views of a larger result, which may not be changed in place."""

from __future__ import annotations

from typing import Any

import pytest

REFUSED = "Output 0 of {} is a view and is being modified inplace"


def transforms(torch: Any) -> dict[str, Any]:
    func = torch.func
    return {
        "jacfwd": func.jacfwd(torch.exp),
        "jacrev": func.jacrev(torch.exp),
        "hessian": func.hessian(torch.exp),
        "vmap of jacrev": func.vmap(func.jacrev(torch.exp)),
        "vmap of jacfwd": func.vmap(func.jacfwd(torch.exp)),
        "jacrev of vmap": func.jacrev(func.vmap(torch.exp)),
    }


@pytest.mark.parametrize(
    ("name", "of_number", "node"),
    [
        ("jacfwd", True, "Squeeze1"),
        ("jacfwd", False, "View"),
        ("jacrev", True, "View"),
        ("hessian", True, "Squeeze1"),
        ("vmap of jacrev", False, "View"),
        ("jacrev of vmap", False, "View"),
    ],
)
def test_a_jacobian_is_one_of_several_views(
    torch: Any, name: str, of_number: bool, node: str
) -> None:
    x = torch.tensor(2.0 if of_number else [2.0, 3.0], requires_grad=True)
    found = transforms(torch)[name](x)
    with pytest.raises(RuntimeError, match=REFUSED.format(node)):
        found.mul_(2)


def test_what_vmap_need_not_move_is_no_view(torch: Any) -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    assert torch.func.vmap(torch.exp, out_dims=-1)(x)._base is None


@pytest.mark.parametrize("name", ["relu", "relu6", "hardtanh", "leaky_relu", "hardshrink"])
def test_a_gradient_in_pieces_is_a_function_of_the_input(torch: Any, name: str) -> None:
    x = torch.tensor([-2.0, 0.2, 3.0], requires_grad=True)
    out = getattr(torch.nn.functional, name)(x)
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    assert slope.requires_grad
    (second,) = torch.autograd.grad(slope.sum(), x)
    assert second.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("function", [lambda x: x.detach() * x, lambda x: x * 2])
def test_a_tangent_of_a_product_is_a_function_of_both_factors(torch: Any, function: Any) -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    _, tangent = torch.func.jvp(function, (x,), (torch.ones(2),))
    assert tangent.requires_grad
