"""Random numbers under vmap, beside PyTorch where it is installed."""

from __future__ import annotations

import pytest

DRAWS = {
    "rand": lambda t, x: t.rand(4),
    "randn": lambda t, x: t.randn(2, 2),
    "randn_like": lambda t, x: t.randn_like(x),
    "randint": lambda t, x: t.randint(0, 1000, (4,)),
    "randperm": lambda t, x: t.randperm(20),
    "generator": lambda t, x: t.rand(4, generator=t.Generator()),
    "in place": lambda t, x: x.clone().uniform_(),
    "normal in place": lambda t, x: x.clone().normal_(),
    "normal": lambda t, x: t.normal(t.zeros(4), 1.0),
    "bernoulli": lambda t, x: t.bernoulli(t.full((32,), 0.5)),
    "multinomial": lambda t, x: t.multinomial(t.ones(50), 5),
}
FROM_EXAMPLES = {
    "bernoulli": lambda t, x: t.bernoulli(x.sigmoid()),
    "normal": lambda t, x: t.normal(x, 1.0),
    "multinomial": lambda t, x: t.multinomial(x.exp(), 2),
    "poisson": lambda t, x: t.poisson(x.exp() * 1000),
}


def over_rows(t, draw, **options):
    x = t.linspace(-1, 1, 12).reshape(3, 4)
    return t.func.vmap(lambda row: draw(t, row), **options)(x)


@pytest.mark.parametrize("name", DRAWS)
def test_are_an_error_unless_allowed(torch, name):
    with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
        over_rows(torch, DRAWS[name])


@pytest.mark.parametrize("name", DRAWS)
def test_differ_between_examples(torch, name):
    found = over_rows(torch, DRAWS[name], randomness="different")
    assert len({tuple(row.flatten().tolist()) for row in found}) == 3


@pytest.mark.parametrize("name", DRAWS)
def test_are_the_same_for_each_example(torch, name):
    found = over_rows(torch, DRAWS[name], randomness="same")
    assert len({tuple(row.flatten().tolist()) for row in found}) == 1


@pytest.mark.parametrize("name", FROM_EXAMPLES)
def test_drawn_from_examples_differ(torch, name):
    found = over_rows(torch, FROM_EXAMPLES[name], randomness="different")
    assert found.shape[0] == 3


@pytest.mark.parametrize("name", FROM_EXAMPLES)
def test_drawn_from_examples_cannot_be_the_same(torch, name):
    with pytest.raises(RuntimeError, match="randomness"):
        over_rows(torch, FROM_EXAMPLES[name], randomness="same")


@pytest.mark.parametrize(
    ("outer", "inner", "count"),
    [("same", "same", 1), ("same", "different", 3), ("different", "same", 2),
     ("different", "different", 6)],
)  # fmt: skip
def test_each_of_two_nested_has_its_say(torch, outer, inner, count):
    x = torch.zeros(2, 3)
    draw = lambda _: torch.rand(5)  # noqa: E731 - short
    found = torch.func.vmap(torch.func.vmap(draw, randomness=inner), randomness=outer)(x)
    assert len({tuple(row.tolist()) for rows in found for row in rows}) == count


def test_an_outer_error_holds_inside(torch):
    draw = torch.func.vmap(lambda _: torch.rand(5), randomness="different")
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.func.vmap(draw)(torch.zeros(2, 3))


def test_a_random_mask_has_its_gradient(torch):
    def masked(x):
        return (x * torch.bernoulli(x.detach().sigmoid()) * 2).sum()

    x = torch.ones(3, 40)
    found = torch.func.vmap(torch.func.grad(masked), randomness="different")(x)
    assert {round(each, 6) for each in found.flatten().tolist()} == {0.0, 2.0}
    assert len({tuple(row.tolist()) for row in found}) == 3
