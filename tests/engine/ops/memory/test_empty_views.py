"""Where views without elements lie: behind what comes before them, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

FITTING = (
    ("x[2:2]", (1,)), ("x.narrow(0, 1, 0)", (2,)), ("x[1:1][None].view(-1)", (2,)),
    ("x.split([1, 0, 2])[1]", (2,)), ("x.as_strided((0,), (1,), 2)", (1,)),
    ("x.view(3, 1).diagonal(5)", (3,)), ("x[1:].reshape(2, 1)[1:1].expand(0, 4)", (1,)),
)  # fmt: skip


@pytest.mark.parametrize(("text", "size"), FITTING)
def test_an_empty_view_shows_the_memory_behind_its_place(
    torch: Any, text: str, size: tuple[int, ...]
) -> None:
    x = torch.arange(3.0)
    shown = eval(text, {"x": x}).as_strided(size, (1,))
    assert shown.tolist() == x.tolist()[3 - size[0] :][: size[0]] or text.endswith("diagonal(5)")


@pytest.mark.parametrize("text", ["x[3:]", "x[2:2]", "x.split([3, 0])[1]", "x.narrow(0, 2, 0)"])
def test_an_empty_view_has_no_more_memory_than_there_is_behind_it(torch: Any, text: str) -> None:
    x = torch.arange(3.0)
    with pytest.raises(RuntimeError, match="setStorage"):
        eval(text, {"x": x}).as_strided((2,), (1,))


def test_slices_written_nowhere_belong_to_the_graph(torch: Any) -> None:
    source = torch.ones(1, 0, requires_grad=True)
    for name in ("index_add_", "index_copy_"):
        x = torch.ones(2, 0) * 1
        getattr(x, name)(0, torch.tensor([0]), source)
        assert x.requires_grad
        x.sum().backward()
    assert source.grad.shape == (1, 0)


@pytest.mark.filterwarnings("ignore")  # PyTorch's of what is slow, or deprecated
def test_memory_that_an_out_argument_outgrows_grows_for_its_views(torch: Any) -> None:
    out = torch.tensor([1.0])
    view = out[-1:]
    torch.add(torch.tensor([5.0, 6.0]), 0, out=out)
    assert (out.tolist(), view.tolist()) == ([5.0, 6.0], [5.0])


@pytest.mark.filterwarnings("ignore")  # PyTorch's of what is slow, or deprecated
def test_the_dtype_of_a_root_mean_square_norm_is_that_of_the_input(torch: Any) -> None:
    x = torch.tensor([1e-3, 2e-3, 3e-4], dtype=torch.float16, requires_grad=True)
    for weight in (None, torch.ones(3), torch.ones(3, dtype=torch.float64)):
        out = torch.nn.functional.rms_norm(x, (3,), weight=weight)
        assert (out.dtype, out.grad_fn.name()) == (torch.float16, "ToCopyBackward0")
        assert out.tolist() == pytest.approx([0.742, 1.484, 0.2225], rel=1e-3)


def test_a_product_in_an_equation_promotes_where_nothing_is_summed(torch: Any) -> None:
    x, y = torch.ones(2, dtype=torch.float64), torch.ones(1)
    assert torch.einsum("i,j->ij", x, y).dtype is torch.float64
    with pytest.raises(RuntimeError):
        torch.einsum("i,i->", x, torch.ones(2))


def test_padding_is_refused_that_the_dtype_does_not_have(torch: Any) -> None:
    pad = torch.nn.functional.pad
    for dtype, value in ((torch.uint8, -1), (torch.int8, 300), (torch.float16, 1e6)):
        with pytest.raises(RuntimeError, match="without overflow"):
            pad(torch.ones(2).to(dtype), (1, 0), value=value)
    with pytest.raises(TypeError, match="must be float, not complex"):
        pad(torch.ones(2), (1, 0), value=2j)


STRIDES = (
    ("x[:, :0]", (4, 1)), ("x[:0].t()", (1, 4)), ("x[:0].view(2, 2, 0)", (2, 1, 1)),
    ("torch.ones(1, 1).expand(3, 2)[:0]", (0, 0)),
    ("torch.ones(1, 1).expand(3, 0)", (0, 0)), ("x.diagonal(7)", (5,)), ("x[:0].clone()", (4, 1)),
    ("torch.ones(3, 0)", (1, 1)),
)  # fmt: skip


@pytest.mark.parametrize(("text", "steps"), STRIDES)
def test_a_view_without_elements_has_the_strides_of_what_it_is_of(
    torch: Any, text: str, steps: tuple[int, ...]
) -> None:
    x = torch.ones(3, 4)
    assert eval(text, {"x": x, "torch": torch}).stride() == steps


REINTERPRETED = (
    ("torch.ones(1, 1).expand(3, 2)[:, :0].view(torch.float64)", r"stride\(-1\)"),
    ("torch.ones(2, 3).half()[:, :2].view(torch.int32)", r"stride\(0\)"),
    ("torch.ones(3, 3)[0:0, 1:3].view(torch.float64)", r"stride|storage_offset"),
    ("torch.view_as_complex(torch.ones(3, 5)[:0, 2:4])", "stride divisible by 2"),
    ("torch.view_as_complex(torch.ones(3)[1:])", "storage_offset divisible by 2"),
)


@pytest.mark.parametrize(("text", "reason"), REINTERPRETED)
def test_elements_are_not_reinterpreted_where_they_lie_unevenly(
    torch: Any, text: str, reason: str
) -> None:
    with pytest.raises(RuntimeError, match=reason):
        eval(text, {"torch": torch})


def test_an_index_of_several_dimensions_is_refused_where_it_fills_nothing(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="vector/scalar"):
        torch.ones(3, 0).index_fill_(1, torch.tensor([[7]]), 1.0)
