"""Distribution, the base of all distributions."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from gradtool.engine._ops.elementwise.elementwise import exp
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.distributions.constraints import Constraint
from gradtool.engine.distributions.utils import lazy_property
from gradtool.engine.func import debug_unwrap


class Distribution:
    """A distribution, or a batch of them. A subclass says which.

    Raises:
        ValueError: a parameter is not in the set that `arg_constraints` states.
    """

    has_rsample: ClassVar[bool] = False
    has_enumerate_support: ClassVar[bool] = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Check parameters and samples from now on, or do not.

        Raises:
            ValueError: the value is neither True nor False.
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Size = Size(),  # noqa: B008 - a shape does not change
        event_shape: Size = Size(),  # noqa: B008 - as above
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            constraints = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = "
                "{}` or initialize the distribution with `validate_args=False` to turn off "
                "validation.",
                stacklevel=4,
            )
            return
        for name, constraint in constraints.items():
            lazy = isinstance(getattr(type(self), name, None), lazy_property)
            # Of a set that the engine lacks, nothing is known.
            if (lazy and name not in vars(self)) or not isinstance(constraint, Constraint):
                continue
            value = getattr(self, name)
            if not _holds(constraint, value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return the distribution with parameters expanded to a shape."""
        raise NotImplementedError

    @property
    def batch_shape(self) -> Size:
        """Shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """Shape of one sample."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """Sets to which the parameters belong."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Set to which samples belong."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """Mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """Most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """Variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """Standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples, without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples that have gradients with respect to the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw `n` samples."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or probability at a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of being at most a value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of a probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of a discrete distribution."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy."""
        return exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size(Size(sample_shape) + self._batch_shape + self._event_shape)

    def _validate_sample(self, value: Any) -> None:
        """Refuse a value that no sample can have.

        Raises:
            ValueError: it is no tensor, its shape does not fit, or it is outside the support.
        """
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._validate_shape(value.size())
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if isinstance(support, Constraint) and not _holds(support, value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def _validate_shape(self, actual: Size) -> None:
        if actual[len(actual) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {actual} vs "
                f"{self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for one, other in zip(reversed(actual), reversed(expected), strict=False):
            if 1 not in (one, other) and one != other:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{actual} vs {expected}."
                )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return the object that `expand` fills, which a subclass may have made."""
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]  # as torch does
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return object.__new__(type(self))

    def __repr__(self) -> str:
        given = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        arguments = ", ".join(
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in given.items()
        )
        return f"{type(self).__name__}({arguments})"


def _holds(constraint: Constraint, value: Tensor) -> bool:
    """Return True if all entries are in a set, in all examples where `vmap` runs this."""
    return bool(debug_unwrap(constraint.check(value)).all())


__all__ = ["Distribution"]
