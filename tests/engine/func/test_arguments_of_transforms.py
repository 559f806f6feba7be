"""Checks that transforms make of their arguments and of what the functions return."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

Point = namedtuple("Point", ["x", "y"])


def rows(t):
    return t.arange(6.0).reshape(2, 3)


def one(t):
    return t.ones(3)


OF_VMAP = {
    "dimension out of range": (
        lambda t: t.vmap(t.sin, in_dims=2)(rows(t)),
        ValueError,
        "vmap(sin, in_dims=2, ...)(<inputs>): Got in_dim=2 for some input, but that input is a "
        "Tensor of dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2.",
    ),
    "too few dimensions": (
        lambda t: t.vmap(t.mul, in_dims=(0,))(rows(t), rows(t)),
        ValueError,
        "in_dims is not compatible with the structure of `inputs`. in_dims has structure "
        "TreeSpec(tuple, None, [*]) but inputs has structure TreeSpec(tuple, None, [*,\n  *]).",
    ),
    "dimensions for another dict": (
        lambda t: t.vmap(lambda d: d["a"], in_dims=({"b": 0},))({"a": rows(t)}),
        ValueError,
        "in_dims has structure TreeSpec(tuple, None, [TreeSpec(dict, ['b'], [*])]) but inputs has "
        "structure TreeSpec(tuple, None, [TreeSpec(dict, ['a'], [*])]).",
    ),
    "nothing batched": (
        lambda t: t.vmap(t.mul, in_dims=(None, None))(rows(t), rows(t)),
        ValueError,
        "vmap: Expected at least one Tensor to vmap over",
    ),
    "different sizes": (
        lambda t: t.vmap(t.mul, in_dims=(0, 1))(rows(t), rows(t)),
        ValueError,
        "in the mapped dimension, got sizes [2, 3] for the mapped dimension",
    ),
    "a number": (
        lambda t: t.vmap(t.mul)(rows(t), 3),
        ValueError,
        "Got in_dim=0 for an input but the input is of type <class 'int'>. We cannot vmap over",
    ),
    "a dimension that is no integer": (
        lambda t: t.vmap(t.sin, in_dims=(0.5,))(rows(t)),
        ValueError,
        "Got in_dim=0.5 for an input but in_dim must be either an integer dimension or None.",
    ),
    "a partial function": (
        lambda t: t.vmap(functools.partial(t.mul, rows(t)), in_dims=3)(rows(t)),
        ValueError,
        "vmap(functools.partial(mul, ...), in_dims=3, ...)(<inputs>)",
    ),
    "an output that is no tensor": (
        lambda t: t.vmap(lambda x: (x, None))(rows(t)),
        ValueError,
        "`<lambda>` must only return Tensors, got type <class 'NoneType'>. Did you mean to set",
    ),
    "too few output dimensions": (
        lambda t: t.vmap(lambda x: (x, x), out_dims=(0,))(rows(t)),
        ValueError,
        "out_dims is not compatible with the structure of `outputs`. out_dims has structure",
    ),
    "an output dimension that is no integer": (
        lambda t: t.vmap(lambda x: x, out_dims="a")(rows(t)),
        ValueError,
        "`out_dims` must be an int, None or a python collection of ints representing where",
    ),
    "a batched output said to be none": (
        lambda t: t.vmap(lambda x: x, out_dims=None)(rows(t)),
        ValueError,
        "`<lambda>` can not return a BatchedTensor when out_dim is None",
    ),
    "an output dimension out of range": (
        lambda t: t.vmap(lambda x: x.sum(), out_dims=1)(rows(t)),
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
}

OF_DERIVATIVES = {
    "argnums of a float": (
        lambda t: t.func.jacrev(t.sin, argnums=0.0)(one(t)),
        RuntimeError,
        "argnums must be int or Tuple[int, ...], got: <class 'float'>",
    ),
    "a float among argnums": (
        lambda t: t.func.jacfwd(t.mul, argnums=(1, 0.0))(one(t), one(t)),
        RuntimeError,
        "argnum must be int, got: <class 'float'>",
    ),
    "argnums twice": (
        lambda t: t.func.grad(t.dot, argnums=(0, -2))(one(t), one(t)),
        RuntimeError,
        "argnums elements must be unique, got (0, 0)",
    ),
    "no argnums": (
        lambda t: t.func.grad(t.sin, argnums=())(one(t)),
        RuntimeError,
        "argnums must be non-empty",
    ),
    "argnums out of range": (
        lambda t: t.func.grad(t.sin, argnums=-2)(one(t)),
        RuntimeError,
        "Got argnum=-2, but only 1 positional inputs",
    ),
    "gradient by a number": (
        lambda t: t.func.grad(lambda x: x)(3.0),
        ValueError,
        "Thing passed to transform API must be Tensor, got <class 'float'>",
    ),
    "gradient of a vector": (
        lambda t: t.func.grad(t.sin)(one(t)),
        RuntimeError,
        "Expected f(*args) to return a scalar Tensor, got tensor with 1 dims. Maybe you wanted",
    ),
    "no auxiliary output": (
        lambda t: t.func.grad(t.sum, has_aux=True)(one(t)),
        RuntimeError,
        "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if",
    ),
    "vjp of an integer": (
        lambda t: t.func.vjp(lambda x: x.argmax(), one(t)),
        RuntimeError,
        "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
        "dtype torch.int64",
    ),
    "vjp of nothing": (
        lambda t: t.func.vjp(lambda x: (), one(t)),
        RuntimeError,
        "vjp(f, *primals): Expected f to be a function that has non-empty output (got output = [])",
    ),
    "cotangents of another structure": (
        lambda t: t.func.vjp(lambda x: (x, {"a": x}), one(t))[1](one(t)),
        RuntimeError,
        "cotangents: *, primal output: (*, {'a': *})",
    ),
    "a cotangent of another shape": (
        lambda t: t.func.vjp(t.sin, one(t))[1](t.ones(2)),
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a",
    ),
    "complex input of a Jacobian": (
        lambda t: t.func.jacrev(t.sin)(one(t) + 1j),
        RuntimeError,
        "jacrev: Expected all inputs to be real but received complex tensor at flattened input "
        "idx: 0",
    ),
    "complex output of a Jacobian": (
        lambda t: t.func.jacfwd(lambda x: x * 1j)(one(t)),
        RuntimeError,
        "jacfwd: Expected all outputs to be real but received complex tensor",
    ),
    "primals that are no tuple": (
        lambda t: t.func.jvp(t.sin, one(t), (one(t),)),
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to",
    ),
    "a list of tangents": (
        lambda t: t.func.jvp(t.sin, (one(t),), [one(t)]),
        RuntimeError,
        "Expected primals and tangents to have the same python structure. For example, if primals",
    ),
    "no primals": (
        lambda t: t.func.jvp(t.sin, (), ()),
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to contain at least one Tensor.",
    ),
    "a number as tangent": (
        lambda t: t.func.jvp(t.sin, (one(t),), (1.0,)),
        RuntimeError,
        "Expected tangents to only contain Tensors, got <class 'float'>",
    ),
    "an integer primal": (
        lambda t: t.func.jvp(t.sin, (t.tensor([1]),), (one(t)[:1],)),
        ValueError,
        "Expected primal to be floating point or complex, but got: torch.int64",
    ),
    "jvp of a text": (
        lambda t: t.func.jvp(lambda x: "abc", (one(t),), (one(t),)),
        RuntimeError,
        "expected f(*primals) to return only tensors, got unsupported type <class 'str'>",
    ),
    "strict jvp of a constant": (
        lambda t: t.func.jvp(lambda x: t.ones(2), (one(t),), (one(t),), strict=True),
        RuntimeError,
        "The output of f is independent of the inputs. This is not allowed with strict=True.",
    ),
    "chunks of nothing": (
        lambda t: t.func.jacrev(t.sin, chunk_size=0),
        ValueError,
        "jacrev: `chunk_size` should be greater than 0.",
    ),
    "saved tensor hooks": (
        lambda t: t.func.grad(_with_hooks(t))(one(t)),
        RuntimeError,
        "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks.",
    ),
}


def _with_hooks(t):
    def function(x):
        with t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return x.sin().sum()

    return function


@pytest.mark.parametrize("case", OF_VMAP)
def test_vmap_refuses(torch, case):
    call, error, message = OF_VMAP[case]
    with pytest.raises(error) as raised:
        call(torch)
    assert message in str(raised.value)


@pytest.mark.parametrize("case", OF_DERIVATIVES)
def test_derivatives_refuse(torch, case):
    call, error, message = OF_DERIVATIVES[case]
    with pytest.raises(error) as raised:
        call(torch)
    assert message in str(raised.value)


def test_keyword_arguments_are_not_batched(torch):
    added = torch.vmap(lambda x, y: x + y)(rows(torch), y=rows(torch))
    assert tuple(added.shape) == (2, 2, 3)


def test_outputs_without_a_batch_dimension_may_be_anything(torch):
    number, doubled = torch.vmap(lambda x: (3, x * 2), out_dims=(None, 0))(rows(torch))
    assert number == 3
    assert doubled.tolist() == (rows(torch) * 2).tolist()


@pytest.mark.parametrize(
    "tree",
    [
        lambda x: Point(x, [x, (x, x)]),
        lambda x: OrderedDict(b=x, a=x),
        lambda x: deque([x, x], maxlen=3),
        lambda x: defaultdict(list, a=x),
    ],
    ids=["namedtuple", "ordered dict", "deque", "defaultdict"],
)
def test_collections_keep_their_type(torch, tree):
    output = torch.vmap(lambda x: tree(x * 2))(rows(torch))
    assert type(output) is type(tree(0))
    pulled = torch.func.vjp(lambda x: tree(x * 2), one(torch))[1](tree(one(torch)))
    assert isinstance(pulled, tuple)


def test_vjp_fn_takes_one_tree(torch):
    _, pull = torch.func.vjp(lambda x: (x * 2, x * 3), one(torch))
    assert pull((one(torch), one(torch)))[0].tolist() == [5.0, 5.0, 5.0]


def test_random_numbers_are_the_same_in_all_chunks(torch):
    drawn = torch.vmap(lambda x: x + torch.rand(3), randomness="same", chunk_size=1)(
        torch.zeros(2, 3)
    )
    assert drawn[0].tolist() == drawn[1].tolist()
