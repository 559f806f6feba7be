"""Sparse tensors do what PyTorch's do, where the engine has the operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine
from gradtool.engine._placeholder import EngineLacksError

PLACES = [[0, 1, 1, 0, 2], [2, 0, 2, 2, 1]]
"""One of them is there twice, and they are not in order."""

OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "to_dense": lambda torch, s, d: s.to_dense(),
    "coalesce": lambda torch, s, d: s.coalesce(),
    "values": lambda torch, s, d: s.coalesce().values(),
    "mm": lambda torch, s, d: torch.sparse.mm(s, d),
    "mm as a method": lambda torch, s, d: s.mm(d),
    "matmul": lambda torch, s, d: s @ d,
    "torch.mm": lambda torch, s, d: torch.mm(s, d),
    "dense @ sparse": lambda torch, s, d: d.t() @ s.t(),
    "mv": lambda torch, s, d: s.mv(d[:, 0]),
    "sparse @ sparse": lambda torch, s, d: torch.sparse.mm(s, s.t()),
    "addmm": lambda torch, s, d: torch.sparse.addmm(torch.ones_like(d), s, d, beta=2, alpha=3),
    "product at the places of another": lambda torch, s, d: torch.sparse.sampled_addmm(
        s.to_sparse_csr(), d, d.t(), beta=0.5, alpha=2.0
    ),
    "transpose": lambda torch, s, d: s.transpose(0, 1) @ d,
    "T": lambda torch, s, d: s.T @ d,
    "scaled": lambda torch, s, d: 2 * s / 3,
    "negated": lambda torch, s, d: -s,
    "sum of two": lambda torch, s, d: s + s.t(),
    "difference": lambda torch, s, d: s - s.t(),
    "dense + sparse": lambda torch, s, d: (d @ d.t()) + s,
    "dense * sparse": lambda torch, s, d: (d @ d.t()) * s,
    "squares": lambda torch, s, d: s.pow(2),
    "absolute values": lambda torch, s, d: s.abs(),
    "sum": lambda torch, s, d: s.sum(),
    "sum of columns": lambda torch, s, d: torch.sparse.sum(s, 0),
    "compressed": lambda torch, s, d: s.to_sparse_csr() @ d,
    "compressed and back": lambda torch, s, d: s.to_sparse_csr().to_sparse_coo(),
    "by columns": lambda torch, s, d: s.to_sparse_csr().t().to_dense(),
    "of a dense one": lambda torch, s, d: (d @ d.t()).to_sparse(),
    "of another dtype": lambda torch, s, d: s.float(),
}

FACTS: dict[str, Callable[[Any], Any]] = {
    "nnz": lambda s: (s._nnz(), s.coalesce()._nnz()),
    "extents": lambda s: (tuple(s.shape), s.size(0), s.dim(), s.numel()),
    "dimensions": lambda s: (s.sparse_dim(), s.dense_dim()),
    "flags": lambda s: (s.is_sparse, s.is_sparse_csr, s.is_coalesced(), s.requires_grad),
    "layout": lambda s: (str(s.layout), str(s.to_sparse_csr().layout)),
    "layout of a transpose": lambda s: str(s.to_sparse_csr().t().layout),
    "indices": lambda s: (s._indices().tolist(), s.coalesce().indices().tolist()),
    "rows": lambda s: s.to_sparse_csr().crow_indices().tolist(),
    "columns": lambda s: s.to_sparse_csr().col_indices().tolist(),
    "values": lambda s: (s._values().tolist(), s._values().requires_grad),
}  # fmt: skip

REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "values before coalesce": lambda torch, s: s.values(),
    "add(sparse, dense)": lambda torch, s: s + s.to_dense(),
    "mm of a vector": lambda torch, s: s.mm(torch.ones(3, dtype=torch.float64)),
    "mv of a matrix": lambda torch, s: s.mv(torch.ones(3, 2, dtype=torch.float64)),
    "extents": lambda torch, s: s @ torch.ones(2, 2, dtype=torch.float64),
    "extents of sampled_addmm": lambda torch, s: torch.sparse.sampled_addmm(
        s.to_sparse_csr(), torch.ones(3, 2, dtype=torch.float64), s.to_dense()
    ),
    "layout of sampled_addmm": lambda torch, s: torch.sparse.sampled_addmm(
        s, s.to_dense(), s.to_dense()
    ),
    "an index beyond the size": lambda torch, s: made(torch, PLACES, size=(2, 3)),
    "a negative index": lambda torch, s: made(torch, [[0, -1], [0, 0]], count=2),
    "another number of values": lambda torch, s: made(torch, PLACES, count=4),
    "a size of another rank": lambda torch, s: made(torch, PLACES, size=(3, 3, 3)),
    "indices of one dimension": lambda torch, s: made(torch, PLACES[0]),
}


def made(torch: Any, places: Any, *, count: int = 5, size: Any = (3, 3)) -> Any:
    values = torch.arange(1, count + 1, dtype=torch.float64)
    return torch.sparse_coo_tensor(torch.tensor(places), values, size)


def leaves(torch: Any) -> tuple[Any, Any]:
    """The values of a sparse matrix, and a dense one."""
    values = torch.tensor([3.0, -4.0, 5.0, 1.5, 2.0], dtype=torch.float64, requires_grad=True)
    dense = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 4.0]], dtype=torch.float64)
    return values, dense.requires_grad_()


def sparse(torch: Any, values: Any) -> Any:
    return torch.sparse_coo_tensor(torch.tensor(PLACES), values, (3, 3))


def results(torch: Any, operation: Callable[[Any, Any, Any], Any]) -> list[Any]:
    """The elements, and the gradients of the values and of the dense matrix."""
    values, dense = leaves(torch)
    out = operation(torch, sparse(torch, values), dense)
    out = out if str(out.layout) == "torch.strided" else out.to_dense()
    weights = torch.arange(1, out.numel() + 1, dtype=out.dtype).reshape(out.shape)
    grads = torch.autograd.grad((out * weights).sum(), (values, dense), allow_unused=True)
    return [out.tolist(), *(None if grad is None else grad.tolist() for grad in grads)]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_and_their_gradients_are_those_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    found, expected = (results(each, OPERATIONS[name]) for each in (engine, torch))
    for mine, theirs in zip(found, expected, strict=True):
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            assert engine.allclose(engine.tensor(mine), engine.tensor(theirs))


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("name", FACTS)
def test_facts_are_those_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    found, expected = (FACTS[name](sparse(each, leaves(each)[0])) for each in (engine, torch))
    assert found == expected


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses_is_refused(name: str) -> None:
    for library in (engine, pytest.importorskip("torch")):
        checked = library.sparse.check_sparse_tensor_invariants()
        with checked, pytest.raises((RuntimeError, IndexError)):
            REFUSED[name](library, sparse(library, leaves(library)[0]))


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("values", ""),
        ("coalesce", "coordinate "),
        ("crow_indices", "row compressed "),
        ("row_indices", "column compressed "),
    ],
)
def test_a_dense_tensor_says_that_it_is_not_sparse(name: str, layout: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{name} expected sparse {layout}tensor layout but"):
        getattr(engine.ones(2, 2), name)()


@pytest.mark.parametrize("name", ["exp", "reshape", "numpy"])
def test_other_operations_are_named(name: str) -> None:
    values, _ = leaves(engine)
    with pytest.raises(EngineLacksError, match=f"Tensor.{name} of sparse tensors"):
        getattr(sparse(engine, values), name)()
    with pytest.raises(EngineLacksError, match="on sparse tensors"):
        engine.ones(3, 3).add(sparse(engine, values))


def test_a_function_saves_one() -> None:
    class Product(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, values: Any, x: Any) -> Any:
            matrix = sparse(engine, values)
            ctx.save_for_backward(matrix, x)
            return engine.sparse.mm(matrix, x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            matrix, x = ctx.saved_tensors
            rows, columns = matrix._indices()
            return (grad[rows] * x[columns]).sum(1), engine.mm(matrix.t(), grad)

    assert engine.autograd.gradcheck(Product.apply, leaves(engine))


def test_a_constant_is_an_argument_of_a_function() -> None:
    class Product(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, matrix: Any, x: Any) -> Any:
            ctx.save_for_backward(matrix)
            return matrix @ x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (matrix,) = ctx.saved_tensors
            return None, matrix.t() @ grad

    values, x = leaves(engine)
    matrix = sparse(engine, values.detach())
    Product.apply(matrix, x).sum().backward()
    assert engine.equal(x.grad, matrix.to_dense().t() @ engine.ones(3, 2, dtype=x.dtype))
