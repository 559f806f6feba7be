"""What operations at positions and quantiles refuse, beside PyTorch where it is installed."""

from __future__ import annotations

import warnings

import pytest

CALLS = {
    "scatter_reduce of no reduction": lambda t, x, i: x.scatter_reduce(0, i, x, "median"),
    "scatter_reduce of two dtypes": lambda t, x, i: x.scatter_reduce(0, i, x.double(), "sum"),
    "scatter_reduce out of bounds": lambda t, x, i: x.scatter_reduce(0, i + 5, x, "prod"),
    "scatter that averages": lambda t, x, i: x.scatter(0, i, 2.0, reduce="mean"),
    "index_reduce that sums": lambda t, x, i: x.index_reduce(0, i[0], x, "sum"),
    "index_reduce of fewer slices": lambda t, x, i: x.index_reduce(0, i[0], x[:1], "prod"),
    "select_scatter of another shape": lambda t, x, i: t.select_scatter(x, t.ones(2), 0, 0),
    "slice_scatter of another shape": lambda t, x, i: t.slice_scatter(x, t.ones(2), 0, 0),
    "diagonal_scatter of another shape": lambda t, x, i: t.diagonal_scatter(x, t.ones(3)),
    "index_fill out of bounds": lambda t, x, i: x.index_fill(0, t.tensor([2]), 1.0),
    "index_fill at no integer": lambda t, x, i: x.index_fill(0, t.tensor([0.0]), 1.0),
    "index_fill with a vector": lambda t, x, i: x.index_fill(0, i[0], t.ones(2)),
    "masked_scatter of too little": lambda t, x, i: x.masked_scatter(x > 1, t.ones(2)),
    "masked_scatter of two dtypes": lambda t, x, i: x.masked_scatter(x > 1, t.ones(9).double()),
    "masked_scatter by numbers": lambda t, x, i: x.masked_scatter(x, t.ones(9)),
    "put of more": lambda t, x, i: x.clone().put_(t.tensor([0, 1]), t.ones(3)),
    "put out of bounds": lambda t, x, i: x.clone().put_(t.tensor([0, 9]), t.ones(2)),
    "put of two dtypes": lambda t, x, i: x.clone().put_(t.tensor([0]), t.ones(1).double()),
    "bincount of negatives": lambda t, x, i: t.bincount(t.tensor([1, -1])),
    "bincount of a matrix": lambda t, x, i: t.bincount(i),
    "bincount of floats": lambda t, x, i: t.bincount(x[0]),
    "bincount of other weights": lambda t, x, i: t.bincount(i[0], t.ones(9)),
    "bincount to a negative length": lambda t, x, i: t.bincount(i[0], minlength=-2),
    "searchsorted of other rows": lambda t, x, i: t.searchsorted(x, t.ones(3, 2)),
    "searchsorted on no side": lambda t, x, i: t.searchsorted(x[0], 1.5, side="middle"),
    "searchsorted on both": lambda t, x, i: t.searchsorted(x[0], 1.5, side="left", right=True),
    "searchsorted by another order": lambda t, x, i: t.searchsorted(
        x[0], x, sorter=t.zeros(2, dtype=t.int64)
    ),
    "quantile beyond one": lambda t, x, i: t.quantile(x, 1.5),
    "quantile of two dtypes": lambda t, x, i: t.quantile(x, t.tensor([0.5]).double()),
    "quantile of integers": lambda t, x, i: t.quantile(i, 0.5),
    "quantile of a matrix of shares": lambda t, x, i: t.quantile(x, t.ones(2, 2)),
    "quantile of nothing": lambda t, x, i: t.quantile(x[:0], 0.5),
    "quantile between how": lambda t, x, i: t.quantile(x, 0.5, interpolation="cubic"),
    "mode of nothing": lambda t, x, i: t.mode(t.zeros(2, 0)),
    "nanmedian of nothing": lambda t, x, i: t.nanmedian(t.zeros(2, 0), 1),
    "segments of nothing known": lambda t, x, i: t.segment_reduce(x, "sum"),
    "segments of other lengths": lambda t, x, i: t.segment_reduce(
        x, "sum", lengths=t.tensor([2, 2])
    ),
    "segments of no reduction": lambda t, x, i: t.segment_reduce(x, "any", lengths=i[0]),
    "cov of a cube": lambda t, x, i: t.cov(t.ones(2, 2, 2)),
    "cov of broken frequencies": lambda t, x, i: t.cov(x, fweights=t.ones(3)),
    "corrcoef of a cube": lambda t, x, i: t.corrcoef(t.ones(2, 2, 2)),
}
ERRORS = {
    **dict.fromkeys(CALLS, RuntimeError),
    **dict.fromkeys(
        ("index_fill out of bounds", "index_fill at no integer", "put of more",
         "put out of bounds", "mode of nothing", "nanmedian of nothing"), IndexError,
    ),
    "bincount of floats": NotImplementedError,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_is_refused(torch, name):
    x = torch.arange(6.0).reshape(2, 3)
    index = torch.tensor([[0, 1, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a function is in beta
        with pytest.raises(ERRORS[name]) as caught:
            CALLS[name](torch, x, index)
    assert caught.type is ERRORS[name]
    assert str(caught.value)
