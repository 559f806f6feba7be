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
