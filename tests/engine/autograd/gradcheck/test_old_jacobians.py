"""Jacobians under the names that PyTorch's gradcheck once had them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest


def old_jacobians(torch: Any) -> Any:
    """The module, which the function of its name hides as an attribute."""
    importlib.import_module(f"{torch.__name__}.autograd.gradcheck")
    return sys.modules[f"{torch.__name__}.autograd.gradcheck"]


@pytest.mark.filterwarnings("ignore:.*private API")
def test_old_jacobians(torch: Any) -> None:
    module = old_jacobians(torch)
    a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    by_a, by_b = module.get_numerical_jacobian(lambda pair: (pair[0] * pair[1], pair[0]), (a, b))
    assert torch.allclose(by_a, torch.diag(b))
    assert torch.allclose(by_b, torch.diag(a))
    (only,) = module.get_numerical_jacobian(lambda pair: pair[0] * pair[1], (a, b), target=a)
    assert torch.equal(only, by_a)
    unused = torch.ones(3, dtype=torch.float64, requires_grad=True)
    (own, other), *alright = module.get_analytical_jacobian((a, unused), a * a)
    assert torch.allclose(own, torch.diag(2 * a))
    assert other.tolist() == [[0, 0], [0, 0], [0, 0]]
    assert alright == [True, True, True]


def test_old_jacobians_of_complex_inputs(torch: Any) -> None:
    module = old_jacobians(torch)
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's"):
        (numeric,) = module.get_numerical_jacobian(lambda pair: (pair[0] * pair[0]).real, (z,))
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` was part of PyTorch's"):
        (analytic,) = module.get_analytical_jacobian((z,), (z * z).real)[0]
    assert torch.allclose(numeric, analytic)
    for run in (
        lambda: module.get_numerical_jacobian(lambda pair: pair[0], (z,)),
        lambda: module.get_analytical_jacobian((z,), z),
    ):
        with pytest.warns(FutureWarning), pytest.raises(ValueError, match="to be non-complex"):
            run()
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=r"grad_out to be 1\.0"):
        module.get_analytical_jacobian((z,), z.real, grad_out=2.0)
