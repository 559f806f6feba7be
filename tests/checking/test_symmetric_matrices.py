"""Functions of symmetric matrices that read one triangle, as LAPACK does, in whole runs."""

from __future__ import annotations

import pytest

from gradtool.results.report import CheckResult, Finding, Verdict
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

BY_SYMMETRIC = "compared along symmetric changes: forward reads one triangle"

COMMON = """\
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def spd(*shape, dtype=torch.float64):
    root = torch.randn(*shape, dtype=dtype)
    return (root @ root.mH + torch.eye(shape[-1], dtype=dtype)).requires_grad_()


def off_diagonal(matrix):
    return matrix - torch.diag_embed(torch.diagonal(matrix, dim1=-2, dim2=-1))

"""

SQRT = """
class Subject(Function):
    @staticmethod
    def forward(ctx, A):
        values, vectors = torch.linalg.eigh(A)
        roots = values.sqrt()
        ctx.save_for_backward(roots, vectors)
        return (vectors * roots[..., None, :]) @ vectors.mH

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        roots, vectors = ctx.saved_tensors
        inner = vectors.mH @ grad @ vectors / (roots[..., :, None] + roots[..., None, :])
        grad = vectors @ inner @ vectors.mH
        return {returned}

    @staticmethod
    def sample_inputs():
        yield (spd({given}),)
"""

LOG_DET = """
class Subject(Function):
    @staticmethod
    def forward(ctx, A):
        factor = torch.linalg.cholesky(A)
        ctx.save_for_backward(A)
        ctx.save_for_forward(A)
        return 2 * torch.diagonal(factor, dim1=-2, dim2=-1).log().sum(-1)

    @staticmethod
    def backward(ctx, grad):
        (A,) = ctx.saved_tensors
        grad = grad[..., None, None] * {inverse}
        return {returned}

    @staticmethod
    def jvp(ctx, tangent):
        (A,) = ctx.saved_tensors
        return (torch.linalg.inv(A).mT * tangent).sum((-2, -1)) * {factor}

    @staticmethod
    def sample_inputs():
        yield (spd({given}),)
"""

EIGENVALUES = """
class Subject(Function):
    @staticmethod
    def forward(ctx, A, weight):
        values, vectors = torch.linalg.eigh(A)
        ctx.save_for_backward(values, vectors, weight)
        return weight * values.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        values, vectors, weight = ctx.saved_tensors
        grad_weight = (grad * values.exp()).sum(0)
        grad = (vectors * (weight * grad * values.exp())[..., None, :]) @ {inverse}
        return {returned}, grad_weight * {factor}

    @staticmethod
    def sample_inputs():
        yield spd({given}), torch.randn(3, dtype=torch.float64, requires_grad=True)
"""

SQUARE = """
class Subject(Function):
    @staticmethod
    def forward(ctx, A):
        ctx.save_for_backward(A)
        return A @ A

    @staticmethod
    def backward(ctx, grad):
        (A,) = ctx.saved_tensors
        grad = grad @ A.mT + A.mT @ grad
        return {returned}

    @staticmethod
    def sample_inputs():
        yield (spd({given}),)
"""


def source(text: str, **parts: str) -> str:
    usual = {"returned": "grad", "given": "3, 3", "factor": "1", "inverse": "torch.linalg.inv(A)"}
    if text is EIGENVALUES:
        usual["inverse"], usual["given"] = "vectors.mH", "2, 3, 3"
    for name, part in {**usual, **parts}.items():
        text = text.replace(f"{{{name}}}", part)
    return COMMON + text


def checked(
    write: Write, text: str, *, explore: str = "off", **parts: str
) -> tuple[dict[str, CheckResult], list[Finding]]:
    write({"ops.py": source(text, **parts)})
    report = check(check_options(paths=("ops.py",), explore=explore))
    (module,) = report.modules
    (function,) = module.functions
    (case,) = function.cases
    return {each.rule: each for each in case.checks}, list(report.findings())


RIGHT = {
    "square root": (SQRT, {"returned": "(grad + grad.mT) / 2"}),
    "square root, not symmetrised": (SQRT, {}),
    "batch": (SQRT, {"given": "2, 3, 3"}),
    "Hermitian": (SQRT, {"given": "3, 3, dtype=torch.complex128"}),
    "Hermitian batch": (SQRT, {"given": "2, 2, 2, dtype=torch.complex128"}),
    "single precision": (SQRT, {"given": "3, 3, dtype=torch.float32"}),
    "large": (LOG_DET, {"given": "64, 64"}),
    "log of a determinant": (LOG_DET, {}),
    "eigenvalues, and another argument": (EIGENVALUES, {}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_gradient_of_symmetric_matrices_passes(write: Write, name: str) -> None:
    text, parts = RIGHT[name]
    checks, findings = checked(write, text, **parts)
    assert findings == []
    assert checks["GT101"].verdict is Verdict.PASS
    assert checks["GT101"].reason == BY_SYMMETRIC


@pytest.mark.parametrize("how", ["A, A.mT", "A, A.mT, rtol=1e-10, atol=1e-10"])
def test_so_does_one_whose_forward_insists_on_symmetric_matrices(write: Write, how: str) -> None:
    line = "        factor = torch.linalg.cholesky(A)\n"
    guard = (
        f"        if not torch.allclose({how}):\n            raise ValueError('not symmetric')\n"
    )
    assert checked(write, LOG_DET.replace(line, guard + line))[1] == []


@pytest.mark.parametrize("text", [SQRT, LOG_DET], ids=["eigh", "cholesky"])
def test_exploring_keeps_to_symmetric_matrices(write: Write, text: str) -> None:
    # A helper's source says nothing of symmetric matrices to those who read the Function's.
    for name in ("eigh", "cholesky"):
        text = text.replace(f"torch.linalg.{name}", f"{name[:1]}_")
    helpers = "e_, c_ = torch.linalg.eigh, torch.linalg.cholesky\n"
    assert checked(write, helpers + text, explore="quick")[1] == []


def test_a_jvp_and_a_second_derivative_are_those_of_symmetric_matrices_too(write: Write) -> None:
    inverse = "torch.cholesky_inverse(torch.linalg.cholesky(A))"
    checks, findings = checked(write, LOG_DET, inverse=inverse)
    assert findings == []
    assert checks["GT201"].reason == BY_SYMMETRIC
    assert checks["GT204"].reason == BY_SYMMETRIC
    assert checks["GT301"].verdict is Verdict.PASS


def test_so_is_a_jvp_beside_a_gradient_by_entries(write: Write) -> None:
    checks, findings = checked(write, LOG_DET, returned="(grad + off_diagonal(grad)).tril()")
    assert findings == []
    assert checks["GT101"].reason is None
    assert checks["GT301"].verdict is Verdict.PASS


WRONG = {
    "half": (SQRT, "grad / 2", "is the derivative times 1/2"),
    "sign": (SQRT, "-grad", "has the wrong sign"),
    "off the diagonal twice": (
        SQRT,
        "grad + off_diagonal(grad)",
        "is wrong along symmetric changes, too",
    ),
    "off the diagonal with the wrong sign": (SQRT, "grad - 2 * off_diagonal(grad)", "is wrong"),
    "one triangle": (LOG_DET, "grad.tril()", "is wrong"),
    "the diagonal": (LOG_DET, "grad - off_diagonal(grad)", "is wrong"),
    "one of a batch": (EIGENVALUES, "grad * torch.tensor([1.0, 2.0])[:, None, None]", "is wrong"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_gradient_of_symmetric_matrices_fails(write: Write, name: str) -> None:
    text, returned, hint = WRONG[name]
    _, findings = checked(write, text, returned=returned)
    assert [each.rule for each in findings] == ["GT101"]
    assert hint in (findings[0].hint or "")
    assert "along symmetric changes" in (findings[0].hint or "")


def test_a_gradient_of_hermitian_matrices_without_a_conjugate_fails(write: Write) -> None:
    given = "3, 3, dtype=torch.complex128"
    _, findings = checked(write, SQRT, returned="grad.mT", given=given)
    assert [each.rule for each in findings] == ["GT101"]


def test_one_wrong_entry_of_a_large_matrix_fails(write: Write) -> None:
    returned = "grad * (1 + torch.arange(64 * 64).reshape(64, 64).eq(100))"
    _, findings = checked(write, LOG_DET, returned=returned, given="64, 64", factor="1")
    assert [each.rule for each in findings] == ["GT101"]


def test_a_wrong_jvp_and_a_wrong_second_derivative_fail(write: Write) -> None:
    _, findings = checked(write, LOG_DET, factor="2")
    assert [each.rule for each in findings] == ["GT301"]
    detached = "torch.cholesky_inverse(torch.linalg.cholesky(A)) * (A / A.detach())"
    _, findings = checked(write, LOG_DET, inverse=detached)
    assert [each.rule for each in findings] == ["GT201"]


def test_another_argument_is_judged_by_itself(write: Write) -> None:
    _, findings = checked(write, EIGENVALUES, factor="2")
    assert len(findings) == 1
    assert "`weight`" in findings[0].message


@pytest.mark.parametrize("returned", ["(grad + grad.mT) / 2", "grad.mT", "grad / 2"])
def test_where_both_triangles_are_read_entries_count(write: Write, returned: str) -> None:
    assert checked(write, SQUARE)[1] == []
    _, findings = checked(write, SQUARE, returned=returned)
    assert [each.rule for each in findings] == ["GT101"]
    assert "symmetric" not in (findings[0].hint or "")


def test_a_matrix_that_is_not_symmetric_is_compared_by_entries(write: Write) -> None:
    text = source(LOG_DET).replace("root @ root.mH", "root @ root.mH + 0.1 * root.triu(1)")
    write({"ops.py": text})
    findings = check(check_options(paths=("ops.py",), explore="off")).findings()
    assert {finding.rule for finding in findings} == {"GT101", "GT301"}
