"""Random tensors: of the distribution, dtype and shape asked for, and the same for a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine
from gradtool.engine._ops.creation.generators import Stream

DRAWS: list[Callable[[Any], Any]] = [
    lambda t: t.rand(3, 4),
    lambda t: t.randn(3, 4, dtype=t.float64),
    lambda t: t.randint(10, (5,)),
    lambda t: t.randperm(20),
    lambda t: t.bernoulli(t.full((20,), 0.5)),
    lambda t: t.normal(0.0, 2.0, (5,)),
    lambda t: t.rand_like(t.zeros(4)),
    lambda t: t.randn_like(t.zeros(4)),
    lambda t: t.randint_like(t.zeros(9), 3, 100),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seed_repeats_what_is_drawn(torch: Any, draw: Callable[[Any], Any]) -> None:
    torch.manual_seed(3)
    first, other = draw(torch), draw(torch)
    torch.manual_seed(3)
    assert torch.equal(draw(torch), first)
    assert not torch.equal(other, first)


def test_uniform_numbers_fill_their_interval(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.rand(10_000)
    assert 0 <= float(x.min()) < 0.01
    assert 0.99 < float(x.max()) < 1
    assert abs(float(x.mean()) - 0.5) < 0.02


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_normal_numbers_have_variance_one(torch: Any, dtype: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(20_000, dtype=getattr(torch, dtype))
    assert str(x.dtype) == f"torch.{dtype}"
    wide = x.to(torch.complex128)
    assert abs(complex(wide.mean())) < 0.03
    assert abs(float((wide * wide.conj()).real.mean()) - 1) < 0.05


def test_integers_lie_in_their_range(torch: Any) -> None:
    x = torch.randint(-2, 3, (1000,))
    assert x.dtype is torch.int64
    assert sorted(set(x.tolist())) == [-2, -1, 0, 1, 2]
    assert torch.randint(high=2, size=(3,), dtype=torch.float64).dtype is torch.float64


def test_a_permutation_has_every_number_once(torch: Any) -> None:
    assert sorted(torch.randperm(50).tolist()) == list(range(50))


def test_bernoulli_follows_its_probabilities(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.bernoulli(torch.tensor([0.0, 1.0]).expand(100, 2))
    assert x.sum(0).tolist() == [0, 100]
    assert abs(float(torch.bernoulli(torch.zeros(10_000), 0.25).mean()) - 0.25) < 0.02


def test_normal_broadcasts_mean_and_deviation(torch: Any) -> None:
    x = torch.normal(torch.tensor([[100.0], [200.0]]), torch.zeros(3))
    assert x.tolist() == [[100] * 3, [200] * 3]


def test_options_of_a_factory(torch: Any) -> None:
    x = torch.randn(2, dtype=torch.float64, requires_grad=True, device="cpu")
    assert x.requires_grad
    assert x.is_leaf
    assert torch.rand((2, 3)).shape == (2, 3)
    assert torch.rand(size=(2, 3)).shape == (2, 3)
    assert torch.randn(()).shape == ()


def test_a_generator_of_its_own_leaves_the_default_one_alone(torch: Any) -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    own = torch.Generator().manual_seed(9)
    first = torch.rand(3, generator=own)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(torch.rand(3, generator=torch.Generator().manual_seed(9)), first)


def test_a_generator_goes_on_from_a_state(torch: Any) -> None:
    generator = torch.Generator().manual_seed(5)
    torch.randint(9, (3,), generator=generator, dtype=torch.int32)
    state = generator.get_state()
    following = torch.randn(4, generator=generator)
    generator.set_state(state)
    assert torch.equal(torch.randn(4, generator=generator), following)
    assert state.dtype is torch.uint8
    assert generator.initial_seed() == 5


def test_the_default_generator_goes_on_from_a_state(torch: Any) -> None:
    torch.manual_seed(2)
    state = torch.get_rng_state()
    following = torch.rand(2)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(2), following)
    assert torch.initial_seed() == 2


def test_seeds_count_modulo_two_to_the_64(torch: Any) -> None:
    assert torch.Generator().manual_seed(-3).initial_seed() == 2**64 - 3


def test_seed_cannot_be_foreseen() -> None:
    generator = engine.Generator()
    assert generator.seed() != generator.seed()


def test_a_foreign_state_is_refused() -> None:
    with pytest.raises(RuntimeError, match="RNG state"):
        engine.set_rng_state(engine.zeros(3, dtype=engine.uint8))


def test_filling_in_place(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.empty(1000, dtype=torch.float64)
    assert x.uniform_(2, 3) is x
    assert 2 <= float(x.min()) <= float(x.max()) < 3
    assert x.uniform_(to=0.5).max() < 0.5
    assert abs(float(x.normal_(5, 0.1).mean()) - 5) < 0.1
    assert set(x.random_(2).tolist()) == {0, 1}
    assert set(x.random_(4, to=6).tolist()) == {4, 5}
    assert x.random_().max() > 2**50
    assert set(x.bernoulli_().tolist()) == {0, 1}
    assert x.bernoulli_(torch.zeros(1000)).sum() == 0
    assert torch.empty(1000, dtype=torch.int8).random_().max() > 100
    assert set(torch.empty(100, dtype=torch.bool).random_().tolist()) == {False, True}


def test_filling_in_place_counts_as_a_change(torch: Any) -> None:
    x = torch.empty(3)
    before = x._version
    x.normal_()
    assert x._version == before + 1
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch.ones(3, requires_grad=True).uniform_()


def test_filling_refuses_an_empty_range(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"found from=2.* > to=1"):
        torch.empty(3).uniform_(2, 1)
    with pytest.raises(RuntimeError, match=r"normal expects std >= 0.0, but found std -1"):
        torch.empty(3).normal_(0, -1)


def test_a_forked_generator_goes_on_where_it_was(torch: Any) -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        torch.rand(5)
    assert torch.equal(torch.rand(3), expected)


def test_a_state_that_was_read_before_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = engine.Generator()
    first = generator.get_state()
    first.zero_()
    monkeypatch.setattr(Stream, "_new_state", None)
    again = generator.get_state()
    assert again.any()
    monkeypatch.undo()
    engine.rand(2, generator=generator)
    assert not engine.equal(generator.get_state(), again)
