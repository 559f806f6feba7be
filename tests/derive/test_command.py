"""``gradtool derive``: what it prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.cli.app import main

CUBE = """
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x**2


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x.sum().item()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
"""


@pytest.fixture
def ops(tmp_path: Path) -> Path:
    path = tmp_path / "my_ops.py"
    path.write_text(CUBE, encoding="utf-8")
    return path


def test_a_wrong_backward_is_replaced_by_a_right_one(
    ops: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{ops}::Cube"]) == 0
    out, _ = capsys.readouterr()
    assert "passes gradtool check for case inferred: x: float64[3, 4]" in out
    assert out.endswith("(x,) = ctx.saved_tensors\n        return 3 * grad_output * x**2\n")


def test_the_line_is_named_where_forward_cannot_be_recorded(
    ops: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{ops}::Counted"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip().endswith("Counted: line 20 turns a tensor into numbers with .item()")


LAYER = """
import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shift=None, double=False):
        y = 2 * x * x if double else x * x
        return y if shift is None else y + shift

    @staticmethod
    def sample_inputs():
        x = torch.randn(3, dtype=torch.double)
        yield (x,)
        yield x, torch.randn(3, dtype=torch.double), True


class Solved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, step, x):
        return step(x)

    @staticmethod
    def sample_inputs():
        yield (lambda x: 3 * x), torch.randn(3, dtype=torch.double)


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        total = x[0]
        for at in range(1, len(x)):
            total = total + x[at] ** 2
        return total

    @staticmethod
    def sample_inputs():
        yield (torch.randn(3, dtype=torch.double),)
"""


@pytest.fixture
def layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADTOOL_EXPLORE", "quick")
    path = tmp_path / "layer.py"
    path.write_text(LAYER, encoding="utf-8")
    return path


def test_a_flag_that_the_cases_never_vary_alone_gets_its_own_branch(
    layer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{layer}::Scaled"]) == 0
    out, _ = capsys.readouterr()
    assert "ctx.double" in out
    assert "#   explored1: x: float64" in out


def test_the_derived_class_passes_a_check_without_warnings(
    layer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["derive", f"{layer}::Scaled"])
    written = layer.with_name("derived.py")
    written.write_text("import torch\n" + capsys.readouterr().out, encoding="utf-8")
    assert main(["check", str(written), "--strict"]) == 0


def test_a_function_that_the_caller_passes_is_refused(
    layer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{layer}::Solved"]) == 1
    assert "line 21 calls the argument `step`" in capsys.readouterr().err


def test_a_class_that_is_right_for_one_extent_alone_says_so(
    layer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", f"{layer}::Summed"]) == 0
    out, _ = capsys.readouterr()
    assert "# The loop on line 32 is unrolled into 2 steps." in out
    limit = "::Summed: wrong where `x` has extent 4 instead of 3, but passes gradtool check for"
    assert limit in out.splitlines()[0]


FLIPPED = """
import torch


class Flipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, flip: bool = False):
        if flip:
            x, y = x.flip(0), y.cos()
        return x.sin() * y
"""


def test_arguments_are_saved_before_a_branch_reuses_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADTOOL_EXPLORE", "quick")
    path = tmp_path / "flipped.py"
    path.write_text(FLIPPED, encoding="utf-8")
    assert main(["derive", str(path)]) == 0
    out, _ = capsys.readouterr()
    assert "flip: True" in out
    assert out.index("save_for_backward(x, y)") < out.index("x.flip(0), y.cos()")


RMS = """
import torch


class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))
"""


def test_numbers_that_cancel_are_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my_ops.py"
    path.write_text(RMS, encoding="utf-8")
    assert main(["derive", str(path)]) == 0
    out, _ = capsys.readouterr()
    assert "grad_output * t - t2 / x.shape[-1] * x\n" in out


SOFTPLUS = """
import torch


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta=1.0):
        return torch.log1p(torch.exp(beta * x)) / beta
"""


def test_a_number_that_divides_and_multiplies_cancels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my_ops.py"
    path.write_text(SOFTPLUS, encoding="utf-8")
    assert main(["derive", str(path)]) == 0
    assert "grad_x = grad_output / (e + 1) * e\n" in capsys.readouterr().out


STEP = """
import torch


class Binarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.sign(x)
"""


def test_a_derivative_that_is_zero_everywhere_is_said_to_be(
    ops: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "# The derivative of forward is zero everywhere: if your backward is a surrogate"
    main(["derive", f"{ops}::Cube"])
    assert told not in capsys.readouterr().out
    ops.write_text(STEP, encoding="utf-8")
    assert main(["derive", str(ops)]) == 0
    assert told in capsys.readouterr().out


SPREAD = """
import torch


class Ratio(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        total = x.sum(-1, keepdim=True)
        return x / total
"""


def test_a_sign_comes_after_the_sum_of_what_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my_ops.py"
    path.write_text(SPREAD, encoding="utf-8")
    assert main(["derive", str(path)]) == 0
    out, _ = capsys.readouterr()
    assert "= -" not in out
    assert "(-(" not in out


ALIASED = """
import torch


class Aliased(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        f = torch.sin
        return f(x + f(x))
"""


def test_an_operation_under_another_name_is_written_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my_ops.py"
    path.write_text(ALIASED, encoding="utf-8")
    assert main(["derive", str(path)]) == 0
    out, _ = capsys.readouterr()
    assert "(x + torch.sin(x)).cos()" in out


SCORES = """
import torch


class Scores(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k):
        return torch.tanh(q @ k.transpose(-1, -2))

    @staticmethod
    def sample_inputs():
        yield [torch.randn(2, n, 4, dtype=torch.double, requires_grad=True) for n in (3, 5)]
"""


def test_transposes_of_transposes_and_of_products_are_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my_ops.py"
    path.write_text(SCORES, encoding="utf-8")
    assert main(["derive", str(path)]) == 0
    out, _ = capsys.readouterr()
    backward = out.partition("def backward")[2]
    assert " @ k\n" in backward
    assert ".mT @ q\n" in backward
    assert "transpose(" not in backward.partition("grad_q")[2]
