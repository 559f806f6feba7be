"""Matrix functions refuse what PyTorch's refuse, by the same errors, and say what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Call = Callable[[Any], Any]


def complex_matrix(t: Any) -> Any:
    rng = np.random.default_rng(0)
    parts = rng.standard_normal((2, 3, 3))
    return t.tensor(parts[0] + 1j * parts[1], requires_grad=True)


REFUSED: list[tuple[Call, str]] = [
    (lambda t: t.linalg.inv(t.ones(3)), "must have at least 2 dimensions"),
    (lambda t: t.linalg.inv(t.ones(2, 3)), "must be batches of square matrices, but they are 2 by"),
    (lambda t: t.linalg.inv(t.ones(2, 2, dtype=t.int64)), "Expected a floating point or complex"),
    (lambda t: t.linalg.solve(t.eye(2), t.ones(3, 1)), "Incompatible shapes of A and B for the eq"),
    (lambda t: t.linalg.solve(t.eye(2), t.ones(2, dtype=t.float64)), "to have the same dtype"),
    (lambda t: t.linalg.qr(t.eye(2), mode="raw"), "unrecognized mode 'raw'"),
    (lambda t: t.linalg.eigh(t.eye(2), UPLO="X"), "Expected UPLO argument to be 'L' or 'U'"),
    (lambda t: t.linalg.matrix_norm(t.eye(2), 3), "Order 3 not supported"),
    (lambda t: t.linalg.norm(t.ones(2, 2, 2), 2), "the input must be 1D or 2D"),
    (lambda t: t.linalg.multi_dot([t.eye(2)]), "expected at least 2 tensors"),
    (lambda t: t.linalg.cross(t.ones(2), t.ones(2)), "must have length 3"),
    (lambda t: t.linalg.matrix_power(t.ones(2, 3), 2), "must be batches of square matrices"),
    (lambda t: t.cross(t.ones(2, 2), t.ones(2, 2), dim=0), "must have length 3"),
    (lambda t: t.tensordot(t.ones(2, 3), t.ones(2, 3), 1), "contracted dimensions need to match"),
    (lambda t: t.inner(t.ones(2), t.ones(3)), "the last dimension must match"),
    (lambda t: t.cdist(t.ones(2, 3), t.ones(2, 2)), "must have the same number of columns"),
    (lambda t: t.cdist(t.ones(2, 3) * 1j, t.ones(2, 3)), "cdist only supports floating-point"),
    (lambda t: t.block_diag(t.ones(2, 2, 2)), "must have 2 or fewer dimensions"),
    (lambda t: t.einsum("ij,jk", t.ones(2, 2)), "fewer operands were provided"),
    (lambda t: t.einsum("i", t.ones(2), t.ones(2)), "more operands were provided"),
    (lambda t: t.einsum("ijk", t.ones(2, 2)), "does not match the number of dimensions"),
    (lambda t: t.einsum("i?", t.ones(2, 2)), "invalid subscript given at index 1"),
    (lambda t: t.einsum("ij->k", t.ones(2, 2)), "output subscript k does not appear"),
    (lambda t: t.einsum("ij->ii", t.ones(2, 2)), "output subscript i appears more than once"),
    (lambda t: t.einsum("i,i", t.ones(2), t.ones(3)), "does not broadcast with previously seen"),
    (lambda t: t.einsum("ii", t.ones(2, 3)), "is repeated for operand 0 but the sizes don't match"),
    (lambda t: t.view_as_complex(t.ones(3)), "must have a last dimension of size 2"),
    (lambda t: t.view_as_complex(t.ones(2, 2).T), "must have a last dimension with stride 1"),
    (lambda t: t.view_as_complex(t.tensor([1, 2])), "view_as_complex is only supported for"),
    (lambda t: t.view_as_real(t.ones(3)), "view_as_real is only supported for complex"),
    (lambda t: t.ones(3).imag, "imag is not implemented for tensors with non-complex"),
    (lambda t: t.complex(t.ones(2), t.ones(2, dtype=t.float64)), "Expected object of scalar type"),
    (lambda t: t.complex(t.tensor(1), t.tensor(1)), "Expected both inputs to be Half, Float or"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_refuses(torch: Any, call: Call, words: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(words)):
        call(torch)


UNSOLVABLE: list[tuple[Call, str]] = [
    (lambda t: t.linalg.inv(t.ones(2, 2)), "input matrix is singular"),
    (lambda t: t.linalg.solve(t.ones(2, 2), t.ones(2)), "input matrix is singular"),
    (lambda t: t.linalg.cholesky(-t.eye(2)), "input is not positive-definite"),
]


@pytest.mark.parametrize(("call", "words"), UNSOLVABLE)
def test_has_no_result(torch: Any, call: Call, words: str) -> None:
    with pytest.raises(torch.linalg.LinAlgError, match=words) as raised:
        call(torch)
    assert isinstance(raised.value, RuntimeError)


BACKWARD: list[tuple[Call, str]] = [
    (lambda t: t.linalg.qr(complex_matrix(t)[:, :2], mode="complete")[0].abs(), "not differentiab"),
    (lambda t: t.linalg.qr(complex_matrix(t), mode="r")[1].abs(), "which is not computed when mod"),
    (lambda t: t.linalg.eigh(complex_matrix(t))[1].real, "specified up to multiplication by e^{i"),
    (lambda t: t.linalg.svd(complex_matrix(t)).Vh.real, "specified up to multiplication by e^{i"),
]


@pytest.mark.parametrize(("call", "words"), BACKWARD)
def test_has_no_gradient(torch: Any, call: Call, words: str) -> None:
    out = call(torch)
    with pytest.raises(RuntimeError, match=re.escape(words)):
        out.sum().backward()


def test_inverses_with_a_report(torch: Any) -> None:
    assert torch.linalg.inv_ex(torch.eye(2)).info == 0
    assert torch.linalg.inv_ex(torch.ones(2, 2)).info > 0
    with pytest.raises(RuntimeError, match="singular"):
        torch.linalg.inv_ex(torch.ones(2, 2), check_errors=True)


def test_least_squares_report_residuals_and_rank(torch: Any) -> None:
    a = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], dtype=torch.float64)
    b = torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64)
    found = torch.linalg.lstsq(a, b)
    assert torch.allclose(found.solution, torch.ones(2, 1, dtype=torch.float64))
    assert torch.allclose(found.residuals, torch.tensor([9.0], dtype=torch.float64))
    assert found.rank == 2
    assert found.singular_values.numel() == 0


def test_functions_of_empty_matrices(torch: Any) -> None:
    empty = torch.zeros(0, 0, dtype=torch.float64)
    assert torch.det(empty) == 1
    assert torch.linalg.inv(empty).shape == (0, 0)
    assert torch.linalg.svdvals(torch.zeros(0, 3)).shape == (0,)
    assert torch.linalg.pinv(torch.zeros(0, 3)).shape == (3, 0)
    assert torch.linalg.matrix_power(empty, 3).shape == (0, 0)
