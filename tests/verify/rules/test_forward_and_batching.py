"""The rules on forward mode and batching, on Functions of the bundled engine."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool
import gradtool.engine as torch
from gradtool import Function
from gradtool.engine._placeholder import placeholder
from gradtool.results.report import Skip, SkipKind, Verdict
from gradtool.verify.rules import gt301_wrong_jvp as gt301

CASE = (torch.randn(3, 4).double(), torch.randn(3, 4).double())
CODES = ("GT301", "GT302", "GT401", "GT402")


class Product(Function):
    """x * y, with everything right."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return tx * y + x * ty


def with_methods(**methods: Any) -> type:
    """Product with some methods of its own."""
    return type("Changed", (Product,), methods)


def found(function: type, *arguments: Any) -> dict[str, str]:
    """The rules broken, with their messages."""
    cases = [arguments or (torch.randn(3, 4).double(), torch.randn(3, 4).double())]
    report = gradtool.check(function, cases, select=CODES)
    return {finding.rule: finding.message for finding in report.findings()}


def verdicts(function: type) -> dict[str, str]:
    report = gradtool.check(function, [(torch.randn(3).double(), torch.randn(3).double())])
    return {check.rule: check.verdict.value for check in report.checks()}


def test_right_ones_pass():
    assert found(Product) == {}
    asked = verdicts(Product)
    assert [asked[code] for code in CODES] == ["pass"] * 4


@pytest.mark.parametrize(
    ("jvp", "hint"),
    [
        (lambda x, y, tx, ty: tx * y, "jvp ignores the tangent of `y`"),
        (lambda x, y, tx, ty: tx * y - x * ty, "jvp gives the tangent of `y` the wrong sign"),
        (lambda x, y, tx, ty: 3 * tx * y + x * ty, "jvp multiplies the tangent of `x` by 3"),
        (
            lambda x, y, tx, ty: tx * y * y,
            "jvp is wrong for the tangent of `x`, and ignores the tangent of `y`",
        ),
        (lambda x, y, tx, ty: 2 * (tx * y + x * ty), "the tangent is the derivative times 2"),
    ],
)
def test_a_wrong_jvp_is_explained_by_argument(jvp, hint):
    function = with_methods(
        jvp=staticmethod(lambda ctx, *tangents: jvp(*ctx.saved_tensors, *tangents))
    )
    report = gradtool.check(function, [CASE], select=["GT301"])
    assert [finding.hint for finding in report.findings()] == [hint]


def test_gradients_that_the_engine_refuses_leave_jvp_unchecked():
    refused = with_methods(backward=staticmethod(lambda ctx, g: (g, g.sum())))
    changed = with_methods(backward=staticmethod(lambda ctx, g: (g, g, g)))
    for function in (refused, changed):
        report = gradtool.check(function, [CASE])
        (skip,) = [check.skip for check in report.checks() if check.rule == "GT301"]
        assert skip is not None
        assert skip.kind is SkipKind.BLOCKED
        assert {finding.rule for finding in report.findings()} < {"GT102", "GT103"}


def test_a_function_without_them_is_not_asked():
    class Plain(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

    asked = verdicts(Plain)
    assert [asked[code] for code in CODES] == ["skipped"] * 4
    report = gradtool.check(Plain, [(torch.randn(3).double(), torch.randn(3).double())])
    skips = {c.rule: c.skip for c in report.checks()}
    assert skips["GT301"] == Skip(kind=SkipKind.NOT_OFFERED, detail="no jvp")
    assert report.verdict is gradtool.Verdict.PASS


def test_a_forgotten_term():
    wrong = with_methods(jvp=staticmethod(lambda ctx, tx, ty: tx * ctx.saved_tensors[1]))
    assert list(found(wrong)) == ["GT301"]


def test_a_factor_is_named():
    def doubled(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return 2 * (tx * y + x * ty)

    report = gradtool.check(
        with_methods(jvp=staticmethod(doubled)),
        [(torch.randn(3).double(), torch.randn(3).double())],
        select=["GT301"],
    )
    (finding,) = report.findings()
    assert finding.hint == "the tangent is the derivative times 2"


def test_a_jvp_that_raises():
    def fails(ctx, tx, ty):
        raise ZeroDivisionError("here")

    assert "ZeroDivisionError: here" in found(with_methods(jvp=staticmethod(fails)))["GT301"]


def test_a_jvp_that_needs_a_name_which_the_engine_lacks():
    def lacking(ctx, tx, ty):
        return placeholder("torch.hub.load")(tx)

    report = gradtool.check(
        with_methods(jvp=staticmethod(lacking)),
        [(torch.randn(3).double(), torch.randn(3).double())],
        select=["GT3"],
    )
    verdicts = {each.rule: each for each in report.checks()}
    check = verdicts["GT301"]
    assert verdicts["GT302"].skip
    assert verdicts["GT303"].skip
    assert check.verdict is Verdict.UNVERIFIED
    assert "torch.hub.load" in (check.reason or "")


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (lambda t: t.sum(0), "jvp raised RuntimeError: Trying to set a forward gradient that has"),
        (lambda t: t.unsqueeze(0), "jvp raised RuntimeError: Trying to set a forward gradient"),
        (lambda t: t.tolist(), "jvp raised RuntimeError: expected Variable or None (got list)"),
        (lambda t: (t, t), "jvp raised RuntimeError: Function's jvp returned an invalid number"),
        (lambda t: t + 0j, "jvp returns a complex tangent for output 0, which is float64"),
        (lambda t: t.int(), "jvp differs from the derivative"),
    ],
)
def test_a_jvp_that_returns_no_tangent_of_the_output(returned, told):
    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return returned(tx * y + x * ty)

    assert found(with_methods(jvp=staticmethod(jvp)))["GT301"].startswith(told)


def test_a_jvp_of_less_precision():
    def single(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return (tx * y + x * ty).float().double()

    assert list(found(with_methods(jvp=staticmethod(single)))) == ["GT302"]


def test_a_wrong_jvp_is_found_beside_a_wrong_backward():
    wrong = with_methods(
        jvp=staticmethod(lambda ctx, tx, ty: tx * 0 + ty * 0),
        backward=staticmethod(lambda ctx, g: (g * 3, g * 3)),
    )
    report = gradtool.check(wrong, [(torch.randn(3).double(), torch.randn(3).double())])
    assert {f.rule for f in report.findings()} == {"GT101", "GT301"}


def test_a_vmap_that_ignores_where_the_examples_are():
    wrong = with_methods(
        generate_vmap_rule=False,
        vmap=staticmethod(lambda info, in_dims, x, y: (Product.apply(x, y), 0)),
    )
    assert list(found(wrong)) == ["GT401"]


def test_a_vmap_with_more_outputs_than_forward():
    def rule(info, in_dims, x, y):
        return (x, y), in_dims

    message = found(with_methods(generate_vmap_rule=False, vmap=staticmethod(rule)))["GT401"]
    assert message.endswith("returns 2 outputs, the loop 1 output")


def test_a_vmap_of_the_wrong_values():
    def rule(info, in_dims, x, y):
        x, y = (
            each if dim is None else each.movedim(dim, 0)
            for each, dim in zip((x, y), in_dims, strict=True)
        )
        return x * y * 2, 0

    message = found(with_methods(generate_vmap_rule=False, vmap=staticmethod(rule)))["GT401"]
    assert "differs from the loop" in message


def test_a_vmap_that_raises():
    def rule(info, in_dims, x, y):
        raise KeyError("no")

    wrong = with_methods(generate_vmap_rule=False, vmap=staticmethod(rule))
    assert "raised KeyError" in found(wrong)["GT401"]


def test_a_backward_that_cannot_be_batched():
    def by_numpy(ctx, g):
        x, y = ctx.saved_tensors
        gx = torch.from_numpy(g.detach().numpy() * y.detach().numpy())
        return gx, g * x

    assert list(found(with_methods(backward=staticmethod(by_numpy)))) == ["GT402"]


def test_complex_tangents():
    def pair():
        real, imag = torch.randn(3).double(), torch.randn(3).double()
        return (real + 1j * imag).detach()

    class Holomorphic(Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y.conj(), g * x.conj()

        @staticmethod
        def jvp(ctx, tx, ty):
            x, y = ctx.saved_tensors
            return tx * y + x * ty

    assert found(Holomorphic, pair(), pair()) == {}


def test_a_jvp_that_is_cut_from_the_graph():
    def cut(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return tx * y.detach() + x.detach() * ty

    report = gradtool.check(with_methods(jvp=staticmethod(cut)), [CASE])
    assert [finding.rule for finding in report.findings()] == ["GT303"]


def test_a_jvp_that_changes_a_tangent_is_told_once():
    def in_place(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return tx.mul_(y) + x * ty

    report = gradtool.check(with_methods(jvp=staticmethod(in_place)), [CASE])
    assert [finding.message for finding in report.findings()] == [
        "jvp changes the tangent of `x` in place"
    ]


def test_a_gradient_that_is_lost_in_vmap():
    def vmap(info, in_dims, x, y):
        x, y = (
            each.unsqueeze(0) if dim is None else each.movedim(dim, 0)
            for each, dim in zip((x, y), in_dims, strict=True)
        )
        return x.detach() * y, 0

    changed = with_methods(vmap=staticmethod(vmap), generate_vmap_rule=False)
    findings = gradtool.check(changed, [CASE]).findings()
    assert [finding.rule for finding in findings] == ["GT403"]


def test_jvp_and_vjp_are_compared_where_an_argument_rightly_gets_none():
    class Ignores(Product):
        @staticmethod
        def forward(x, y):
            return 2 * x + y.detach() * 0

        @staticmethod
        def backward(ctx, g):
            return 2 * g, None

        @staticmethod
        def jvp(ctx, tx, ty):
            return 2 * tx

    assert verdicts(Ignores)["GT302"] == "pass"


def test_a_jvp_in_half_precision_is_wrong():
    class InHalf(Product):
        @staticmethod
        def jvp(ctx, tx, ty):
            return (tx * CASE[1] + ty * CASE[0]).half().double()

    assert [each.rule for each in gradtool.check(InHalf, [CASE]).findings()] == ["GT301"]


def test_a_jvp_may_round_as_forward_does():
    class InSingle(Function):
        @staticmethod
        def forward(x):
            return (2 * x).float().double()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return (2 * g).float().double()

        @staticmethod
        def jvp(ctx, t):
            return (2 * t).float().double()

    report = gradtool.check(InSingle, [(torch.randn(3).double(),)])
    assert {each.rule: each.verdict for each in report.checks()}["GT302"] is not Verdict.FAIL


def test_only_the_tangent_that_is_reported_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[object] = []
    monkeypatch.setattr(gt301, "mistake_of_jvp", lambda *given: explained.append(given))

    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return tx * x.sin() + y.sin() * ty

    assert "GT301" in found(with_methods(jvp=staticmethod(jvp)))
    assert len(explained) == 1
