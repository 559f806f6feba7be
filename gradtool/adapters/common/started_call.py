"""The gradients of one call, cheaply: those of backward, and those of the steps of forward."""

from __future__ import annotations

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.observation import differing, digests
from gradtool.adapters.common.vjp import copied, cotangent_tensors, vjp
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array, Cotangents, Cut, Observation, Primals


class StartedCall:
    """A call to forward. What the user's code raises passes.

    Unlike an observed call it looks at nothing that a single answer about the outputs and the
    gradients does not need.
    """

    def __init__(self, bound: BoundFunction, primals: Primals) -> None:
        with library().torch.enable_grad():
            self._leaves, tensors = bound.arguments.tracked(primals)
            before = digests(tensors)
            self._outputs = bound(tensors)
        self.seen = Observation(
            outputs=tuple([copied(output) for output in self._outputs]),
            output_requires_grad=tuple(
                [output is not None and output.requires_grad for output in self._outputs]
            ),
            mutated_arguments=differing(before, digests(tensors)),
        )
        """The outputs, and which arguments changed."""
        self.changed_cotangents = False
        """Whether backward changed one in place when it ran last."""

    def gradients(self, cotangents: Cotangents) -> tuple[Array | None, ...]:
        """Run backward; None if no gradient arrives. Raises what the user's code raises."""
        with library().torch.enable_grad():
            sent = cotangent_tensors(self._outputs, cotangents)
            before = digests(sent)
            found = vjp(self._outputs, sent, self._leaves)
            self.changed_cotangents = bool(differing(before, digests(sent)))
            return tuple([copied(each) for each in found])


def exact_gradients(
    bound: BoundFunction, primals: Primals, cotangents: Cotangents
) -> tuple[Array | None, ...] | None:
    """Return the gradients by the steps of forward; None where it leaves the library.

    Raises what the user's code or the library raises.
    """
    cuts: list[Cut] = []
    with library().torch.enable_grad():
        leaves, tensors = bound.arguments.tracked(primals)
        outputs = library().record(bound, tensors, cuts)
        if cuts:
            return None
        found = vjp(outputs, cotangent_tensors(outputs, cotangents), leaves)
        return tuple([copied(each) for each in found])
