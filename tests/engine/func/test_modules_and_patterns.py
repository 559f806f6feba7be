"""functional_call, stacked module states, patterns, and the names kept for older code."""

from __future__ import annotations

import pytest


def grid(torch, *shape):
    count = 1
    for extent in shape:
        count *= extent
    return torch.arange(float(count), dtype=torch.float64).reshape(shape)


def scale(torch, factor):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.Parameter(torch.tensor(factor, dtype=torch.float64))
            self.register_buffer("shift", torch.zeros((), dtype=torch.float64))

        def forward(self, x):
            return x * self.factor + self.shift

    return Scale


def test_functional_call(torch):
    module = scale(torch, 2.0)()
    x = grid(torch, 3)
    out = torch.func.functional_call(module, {"factor": torch.tensor(5.0).double()}, (x,))
    assert out.tolist() == [0.0, 5.0, 10.0]
    assert module(x).tolist() == [0.0, 2.0, 4.0]


def test_gradient_of_parameters(torch):
    module = scale(torch, 2.0)()
    parameters = {name: each.detach() for name, each in module.named_parameters()}
    x = grid(torch, 3)

    def loss(parameters):
        return torch.func.functional_call(module, parameters, x).sum()

    assert torch.func.grad(loss)(parameters)["factor"].item() == 3.0


def test_functional_call_puts_back_after_an_error(torch):
    module = scale(torch, 2.0)()
    held = module.factor
    with pytest.raises((RuntimeError, TypeError)):
        torch.func.functional_call(module, {"factor": torch.ones(2).double()}, ("text",))
    assert module.factor is held


def test_ensembles(torch):
    kind = scale(torch, 2.0)
    models = [kind(), kind()]
    with torch.no_grad():
        models[1].factor.fill_(3.0)
    parameters, buffers = torch.func.stack_module_state(models)
    assert parameters["factor"].tolist() == [2.0, 3.0]

    def run(parameters, buffers, x):
        return torch.func.functional_call(models[0], (parameters, buffers), (x,))

    out = torch.func.vmap(run, in_dims=(0, 0, None))(parameters, buffers, grid(torch, 2))
    assert out.tolist() == [[0.0, 2.0], [0.0, 3.0]]
    with pytest.raises(RuntimeError, match="at least one"):
        torch.func.stack_module_state([])


def test_functionalize_keeps_the_values(torch):
    def function(x):
        y = x.clone()
        y.add_(1)
        return y

    assert torch.func.functionalize(function)(grid(torch, 2)).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="remove"):
        torch.func.functionalize(function, remove="all")(grid(torch, 2))


def test_debug_unwrap(torch):
    shapes = []

    def function(x):
        shapes.append(tuple(torch.func.debug_unwrap(x).shape))
        return x

    torch.func.vmap(function)(grid(torch, 2, 3))
    assert shapes == [(2, 3)]


@pytest.mark.parametrize(
    ("pattern", "shape", "lengths"),
    [
        ("a b -> b a", (2, 3), {}),
        ("a (b c) -> c a b", (2, 6), {"b": 2}),
        ("a b c -> a (c b)", (2, 3, 4), {}),
        ("... a -> a ...", (2, 3, 4), {}),
        ("a ... -> (a ...)", (2, 3, 4), {}),
        ("a b -> a 1 b", (2, 3), {}),
        ("a 1 b -> b a", (2, 1, 3), {}),
    ],
)
def test_rearrange(torch, pattern, shape, lengths):
    real = pytest.importorskip("torch")
    x = grid(torch, *shape)
    expected = real.func.rearrange(grid(real, *shape), pattern, **lengths)
    found = torch.func.rearrange(x, pattern, **lengths)
    assert tuple(found.shape) == tuple(expected.shape)
    assert found.tolist() == expected.tolist()


def test_rearrange_stacks(torch):
    pair = [grid(torch, 2), grid(torch, 2) + 10]
    assert torch.func.rearrange(pair, "n a -> a n").tolist() == [[0.0, 10.0], [1.0, 11.0]]


@pytest.mark.parametrize("pattern", ["a b", "a b -> a", "a (b -> a b", "a b c -> a b c"])
def test_patterns_that_do_not_fit(torch, pattern):
    with pytest.raises((ValueError, RuntimeError)):
        torch.func.rearrange(grid(torch, 2, 3), pattern)


def test_old_names(torch):
    tensor = torch.autograd.Variable(grid(torch, 2), requires_grad=True)
    assert tensor.requires_grad
    assert isinstance(tensor, torch.autograd.Variable)
    with pytest.raises(RuntimeError, match="deprecated"):
        torch.autograd.variable(1.0)
    with torch.autograd.set_multithreading_enabled(False):
        tensor.sum().backward()
    with torch.autograd.enforce_grad_layout_policy(False):
        tensor.sum().backward()
    assert tensor.grad.tolist() == [2.0, 2.0]


REFUSED_CALLS = {
    "a name twice": (
        lambda t, m, p: t.func.functional_call(m, (p, {"weight": p["weight"]}), (t.ones(2),)),
        ValueError,
        "['weight'] appeared in multiple dictionaries; behavior of functional call is ambiguous",
    ),
    "strictly, one is missing": (
        lambda t, m, p: t.func.functional_call(
            m, {"weight": p["weight"], "other": p["bias"]}, (t.ones(2),), strict=True
        ),
        RuntimeError,
        "Error(s) in reparametrizing for Linear:\n\tUnexpected key(s): 'other'.\n\t"
        "Missing key(s): 'bias'.",
    ),
    "no dict": (
        lambda t, m, p: t.func.functional_call(m, 3, (t.ones(2),)),
        ValueError,
        "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got",
    ),
    "no dict in a tuple": (
        lambda t, m, p: t.func.functional_call(m, (p, 3), (t.ones(2),)),
        ValueError,
        "Expected all elements of parameter_and_buffer_dicts to be dictionaries",
    ),
    "a number": (
        lambda t, m, p: t.func.functional_call(m, {"weight": 3}, (t.ones(2),)),
        TypeError,
        "3 is not an instance of torch.Tensor",
    ),
    "tied parameters": (
        lambda t, m, p: t.func.functional_call(
            t.nn.Sequential(m, m), {"0.weight": t.ones(2, 2), "1.weight": t.eye(2)}, (t.ones(2),)
        ),
        ValueError,
        "functional_call got multiple values for keys ['0.weight', '1.weight'], which are tied.",
    ),
    "some frozen": (
        lambda t, m, p: t.func.stack_module_state([m, t.nn.Linear(2, 2).requires_grad_(False)]),
        RuntimeError,
        "Expected weight from each model to have the same .requires_grad",
    ),
    "running statistics for all examples": (
        lambda t, m, p: t.vmap(t.nn.BatchNorm1d(2))(t.ones(2, 3, 2)),
        RuntimeError,
        "Batch norm got a batched tensor as input while the running_mean or running_var, which",
    ),
}


@pytest.mark.parametrize("case", REFUSED_CALLS)
def test_calls_of_modules_are_checked(torch, case):
    call, error, message = REFUSED_CALLS[case]
    module = torch.nn.Linear(2, 2)
    with pytest.raises(error) as raised:
        call(torch, module, dict(module.named_parameters()))
    assert message in str(raised.value)


def test_a_name_that_the_module_lacks_is_its_attribute_for_the_call(torch):
    module = torch.nn.Linear(2, 2)
    torch.func.functional_call(module, {"other": torch.ones(1)}, (torch.ones(2),))
    assert not hasattr(module, "other")


@pytest.mark.parametrize("transform", ["grad", "jvp"])
def test_running_statistics_are_tracked_inside_derivatives(torch, transform):
    x = torch.arange(6.0).reshape(3, 2)
    mean, var = torch.zeros(2), torch.ones(2)

    def function(x):
        return torch.nn.functional.batch_norm(x, mean, var, training=True).sum()

    calls = {"grad": lambda: torch.func.grad(function)(x)}
    calls["jvp"] = lambda: torch.func.jvp(function, (x,), (x,))
    calls[transform]()
    assert mean.tolist() == pytest.approx([0.2, 0.3])
    assert var.tolist() == pytest.approx([1.3, 1.3])
