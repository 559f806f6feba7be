"""Differences that have a reason, and are not counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tests.engine.fuzz.compare import Difference
from tests.engine.fuzz.doubts import EVERYTHING
from tests.engine.fuzz.lineage import DERIVED, INFERENCE, INTEGERS, STEPS_OF_ITS_OWN
from tests.engine.fuzz.signs import (
    AN_ASSERTION,
    ARITHMETIC,
    ASKS_FOR_NODES,
    ASSERTIONS,
    CHANGES,
    COMPOSED,
    FORWARD,
    FROM_CHANGE,
    FROM_LAYOUT,
    FROM_RECORDING,
    FROM_TANGENT,
    LACKS_TANGENT,
    NOT_RECORDED,
    NOTHING,
    OF_A_MASK,
    OF_LAYOUT,
    OF_TRACES,
    OF_VALUES,
    ON_ITSELF,
    STALE,
    STEPS,
    WRITES,
    WRITES_INTO,
    fact_of,
    is_of_half_complex,
    is_of_inputs,
    is_of_last_bits,
    is_of_packing,
    is_of_recording,
)

TRACED = "PyTorch traces what it linearizes, in which constants are parameters"
INTEGERS_RECORDED = (
    "PyTorch lets integers require a gradient once a tensor that does was written into them"
)


HUGE = 2**30
"""Elements that no program makes."""


@dataclass(frozen=True)
class Explained:
    """A reason, and which differences it explains."""

    text: str
    holds: Callable[[Difference], bool]
    """Whether it explains a difference at the statement where it comes up."""
    spreads: frozenset[str] = NOTHING
    """The facts that may differ from then on, in that tensor and in what is computed from it."""


EXPLAINED: tuple[Explained, ...] = (
    Explained(
        "NumPy has no complex numbers of halves, so that the engine computes with complex64",
        is_of_half_complex,
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch fails an assertion of its own",
        lambda difference: (
            (difference.what == "error" and ASSERTIONS.search(difference.texts[0]) is not None)
            or (difference.what == "looking" and difference.expected == AN_ASSERTION)
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "the strides of what is computed, and no view, follow the order of the loops",
        lambda difference: difference.what == "stride" and not difference.view,
        spreads=FROM_LAYOUT,
    ),
    Explained(
        "the engine writes some operations with others, whose nodes show",
        lambda difference: (
            difference.what == "events"
            and (bool(ASKS_FOR_NODES.search(difference.statement)) or is_of_inputs(difference))
        ),
    ),
    Explained(
        "what an operation saves is each library's own",
        is_of_packing,
    ),
    Explained(
        "of steps that are each library's own, one saves nothing that could be freed",
        lambda difference: (
            difference.what == "error"
            and None in (difference.expected, difference.got)
            and STEPS_OF_ITS_OWN in difference.lineage
            and any("through the graph a second time" in each for each in difference.texts)
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "a transform of PyTorch looks at no view from outside that cannot be followed",
        lambda difference: (
            difference.what == "error"
            and difference.expected is None
            and "torch.func." in difference.statement
            and STALE.search(difference.texts[1]) is not None
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "the layout of a derivative follows from the formula it is computed by",
        lambda difference: difference.derived and difference.what in OF_LAYOUT,
        spreads=FROM_LAYOUT,
    ),
    Explained(
        "a derivative of equal elements may be one element expanded, which is not written to",
        lambda difference: (
            DERIVED in difference.lineage
            and (
                any("more than one element of the written" in each for each in difference.texts)
                if difference.what == "error"
                else difference.what == "value" and "] = " in difference.statement
            )
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch copies the memory around a part too",
        lambda difference: (
            difference.what == "storage_offset"
            and any(each in difference.maker for each in ("_scatter(", "deepcopy("))
        ),
        spreads=FROM_LAYOUT,
    ),
    Explained(
        "PyTorch writes what comes before the index that is out of range",
        lambda difference: (
            difference.what.endswith("value")
            and "= " in difference.statement
            and all("is out of bounds for dimension" in each for each in difference.texts)
        ),
        spreads=OF_VALUES,
    ),
    Explained(
        "along a dimension of one element the libraries keep strides of their own",
        lambda difference: (
            difference.single
            and not difference.overlapping
            and any("some elements of the input tensor" in each for each in difference.texts)
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "elements that share memory are written in any order",
        lambda difference: (
            fact_of(difference) == "value"
            and difference.overlapping
            and (
                WRITES.search(difference.statement) is not None
                or "_scatter(" in difference.statement
            )
        ),
        spreads=OF_VALUES,
    ),
    Explained(
        "the last bit of a value is each library's own",
        lambda difference: (
            difference.what == "value"
            and (
                ".view(torch.int" in difference.maker
                or (difference.view and difference.dtype.startswith("int"))
            )
            and is_of_last_bits(difference)
        ),
        spreads=OF_VALUES,
    ),
    Explained(
        "PyTorch keeps zeros without memory as a derivative, which nothing adds to",
        lambda difference: (
            "ZeroTensors are immutable" in difference.texts[0]
            and difference.what in ("error", "_version", "value")
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        TRACED,
        lambda difference: (
            "torch.func.linearize" in difference.statement
            and difference.what == "error"
            and difference.got is None
            and any(each in difference.texts[0] for each in OF_TRACES)
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "a derivative that does not depend on its argument may still be recorded",
        lambda difference: (
            (
                difference.what == "grad.requires_grad"
                and "create_graph=True" in difference.statement
            )
            or (
                difference.derived
                and (
                    difference.what in ("requires_grad", "is_leaf", "grad_fn")
                    or NOT_RECORDED in difference.texts[difference.expected is None]
                    or is_of_recording(difference)
                )
            )
        ),
        spreads=FROM_RECORDING,
    ),
    Explained(
        INTEGERS_RECORDED,
        lambda difference: (
            difference.dtype.startswith(("int", "uint", "bool"))
            and difference.what in ("requires_grad", "is_leaf", "grad_fn")
            and WRITES_INTO.search(difference.statement) is not None
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch finds what its own derivative of a norm changed in place",
        lambda difference: (
            difference.what == "error"
            and difference.derived
            and any(
                f"which is output 0 of {each}" in difference.texts[0]
                for each in ("MaskedFill", "AsStrided")
            )
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        INTEGERS_RECORDED,
        lambda difference: (
            (
                INTEGERS in difference.lineage
                and difference.what == "looking"
                and difference.expected == "RuntimeError"
            )
            or "Autograd not support dtype" in difference.texts[0]
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "a change in place reaches a derivative that shares memory in one library only",
        lambda difference: (
            difference.sharing
            and DERIVED in difference.lineage
            and fact_of(difference) in ("value", "_version", "requires_grad")
            and CHANGES.search(difference.statement) is not None
        ),
        spreads=FROM_CHANGE,
    ),
    Explained(
        "a step function tells apart numbers that agree but for their last bits",
        lambda difference: (
            difference.inexact
            and fact_of(difference) in ("value", "shape")
            and STEPS.search(difference.statement) is not None
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch reads a tangent that it has written already, of an operation on itself in place",
        lambda difference: (
            fact_of(difference) == "value"
            and (
                ON_ITSELF.search(difference.statement) is not None
                or (difference.aliasing and ARITHMETIC.search(difference.statement) is not None)
            )
        ),
        spreads=frozenset(("tangent.value", "value")),
    ),
    Explained(
        "PyTorch keeps a gradient of a batch of cotangents as a tensor of the transform",
        lambda difference: (
            difference.what == "looking"
            and difference.expected == "RuntimeError"
            and DERIVED in difference.lineage
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch has no tangent of some derivatives",
        lambda difference: (
            difference.what == "error"
            and difference.got is None
            and LACKS_TANGENT.match(difference.texts[0]) is not None
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch asks a view for its node, which it may not have, sooner than the engine",
        lambda difference: (
            difference.what == "error"
            and (difference.got is not None or DERIVED in difference.lineage)
            and STALE.search(difference.texts[0]) is not None
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch records nothing on tensors of inference alone, the engine what saves none of them",
        lambda difference: (
            difference.what in ("requires_grad", "is_leaf", "grad_fn")
            and INFERENCE in difference.lineage
            and difference.got in (True, False)
            and (difference.what == "requires_grad") is difference.got
        ),
        spreads=FROM_RECORDING,
    ),
    Explained(
        "PyTorch keeps no tangent of a tensor of inference, but that of a view made there",
        lambda difference: (
            difference.what.startswith("tangent")
            and INFERENCE in difference.lineage
            and (difference.expected is None or (difference.view and difference.got is None))
        ),
        spreads=FROM_TANGENT,
    ),
    Explained(
        "PyTorch's functionalize writes to no dtype of its own",
        lambda difference: (
            "torch.func.functionalize" in difference.statement
            and (
                difference.what in ("tangent.value", "tangent.dtype")
                or (difference.expected is None and "result type" in difference.texts[1])
            )
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch leaves some derivatives of halves in single precision",
        lambda difference: (
            difference.what == "dtype"
            and difference.derived
            and (str(difference.expected), str(difference.got)) == ("float32", "float16")
        ),
        spreads=frozenset(("dtype", "value", "grad")),
    ),
    Explained(
        "PyTorch's tangents of a tensor of inference are zero in linearize, and of some functions",
        lambda difference: (
            difference.what == "value"
            and INFERENCE in difference.lineage
            and FORWARD.search(difference.statement) is not None
            and not np.any(difference.expected)
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch's third derivative of a product with zeros is not a number, or lacks a term",
        lambda difference: (
            difference.what == "value"
            and difference.derived
            and "x.prod()" in difference.statement
            and not np.isnan(difference.got).any()
        ),
        spreads=OF_VALUES,
    ),
    Explained(
        "what a composite operation returns of tensors of inference may be a view of a step",
        lambda difference: (
            difference.what == "is_view"
            and difference.expected is True
            and COMPOSED.search(difference.maker) is not None
            and INFERENCE in difference.lineage
        ),
        spreads=FROM_LAYOUT,
    ),
    Explained(
        "PyTorch lets a tangent keep its dtype where the values are cast",
        lambda difference: difference.what == "tangent.dtype",
        spreads=frozenset(("tangent.dtype", "tangent.value")),
    ),
    Explained(
        "PyTorch shows no tensor of inference that got other data",
        lambda difference: (
            difference.what == "looking"
            and ".data = " in difference.statement
            and difference.expected == "RuntimeError"
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch records a change in place before it refuses that of the tangent",
        lambda difference: (
            fact_of(difference) == "grad_fn"
            and all("a leaf Variable that requires grad" in each for each in difference.texts)
        ),
        spreads=FROM_RECORDING,
    ),
    Explained(
        "PyTorch shows an extent that is no number of elements",
        lambda difference: (
            difference.what == "shape"
            and isinstance(difference.expected, tuple)
            and max(difference.expected, default=0) > HUGE
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch lays out a slice of no elements before it looks at the index, or after",
        lambda difference: (
            difference.what == "error"
            and any("setStorage: " in each for each in difference.texts)
            and any("out of bounds for dim" in each for each in difference.texts)
        ),
    ),
    Explained(
        "PyTorch finds no batch of strides",
        lambda difference: (
            "as_strided is not supported unless the batch dims" in difference.texts[0]
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch's derivatives of the variance of one number are not numbers",
        lambda difference: (
            difference.what == "value"
            and difference.derived
            and re.search(r"\.(var|std)\(\)", difference.statement) is not None
            and bool(np.isnan(difference.expected).all())
        ),
        spreads=OF_VALUES,
    ),
    Explained(
        "a wave of large numbers that agree up to rounding",
        lambda difference: (
            difference.what == "value"
            and difference.inexact
            and re.search(r"\.(sin|cos|tan)\(", difference.statement) is not None
            and np.allclose(difference.got, difference.expected, 1e-2, 1e-2)
        ),
        spreads=OF_VALUES,
    ),
    Explained(
        "PyTorch counts a change of a view that it then refuses",
        lambda difference: (
            difference.what == "_version"
            and "If your Function modifies inplace an input that is a view" in difference.texts[0]
        ),
        spreads=frozenset(("_version",)),
    ),
    Explained(
        "of several reasons not to follow a view either library names one",
        lambda difference: (
            difference.what == "text"
            and all(" is a view" in str(each) for each in (difference.expected, difference.got))
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch knows where a part without elements lies, and views it by its strides",
        lambda difference: (
            difference.what == "error"
            and difference.got is None
            and any(each in difference.texts[0] for each in ("setStorage: ", "to view "))
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "PyTorch asks for the version of what is saved where changes are allowed, in inference too",
        lambda difference: (
            difference.what in ("error", "value")
            and difference.texts[0].startswith("Inference tensors do not track version counter")
        ),
        spreads=EVERYTHING,
    ),
    Explained(
        "a hook that is not for masks gets one that this library alone saves",
        lambda difference: (
            difference.what == "error"
            and any(OF_A_MASK.match(each) is not None for each in difference.texts)
        ),
        spreads=EVERYTHING,
    ),
)


OPEN: Mapping[int, str] = {
    54: "something rare that PyTorch does",
    150: "something rare that PyTorch does",
    146458: "a batch of cotangents at a view whose data was replaced by those of another shape",
    226794: "a view of elements that its base lost when it was given another shape",
    231331: "the imaginary part of a conjugate view is written to by what it is a part of",
    502566: "a tangent of another shape, whose primal was given other data",
    502777: "a tangent that linearize computes in inference mode is one of inference",
    503322: "a Function that is mapped over no examples",
    504174: "the base of a view of a gradient that is a gradient itself",
    504631: "a change of a tensor of inference that is refused once its tangent has changed",
    509230: "a result of another shape is refused for its dtype",
    510885: "what is saved of no elements",
    511129: "the tangent of frac is that of its argument, and changes with it",
    511513: "a complex number that is recorded, written into booleans",
    513698: "products of booleans that have no elements",
    514431: "how a view of a view, made in inference mode, was made",
    515732: "a gradient that shares memory with its leaf",
    515771: "the graph of the tangent of a gradient",
    516119: "the version of a chunk that was made in inference mode",
    517202: "the tangent of the base of a view of a gradient",
    517592: "a third derivative of a product of zeros",
    518207: "a view of several whose data was replaced",
    518662: "a second derivative that is zero, and one that there is none of",
    519924: "what a walk has added when it fails",
    520652: "how a view of a view, made in inference mode, was made",
    522648: "a Function with no jvp that changes a view, refused before or after the change",
    522979: "the gradient of the variance of one complex number",
    523505: "a part is subtracted from what it is a part of",
    524286: "PyTorch finds what its own derivative of a norm changed in place",
    524657: "the second derivative of a product of one factor",
    525193: "the steps of a slice with a new axis",
    525197: "a view of what was given another shape",
    525796: "the tangent of logsumexp of no elements",
    526516: "a matrix that matmul expands before it saves it",
    526630: "retains_grad of what was given other data",
    526846: "a view of what was given other data, with another number of axes",
    527194: "derivatives at numbers that are NaN",
    527255: "memory beyond the elements of a loss",
    527299: "a derivative that is a view of a step of its own",
    533141: "a gradient that shares memory with another, changed in place",
    533407: "an error in adding to a gradient of another shape",
    534325: "what selu in place keeps for a second walk",
    534485: "the positions that topk returned are changed",
    535537: "the gradient of an index that has no elements",
    536380: "a view made in inference mode that is only read",
    537321: "which of two mistakes in an index is named first",
    537619: "the tangent of remainder is that of its argument, and changes with it",
    538742: "a second derivative that is zero, and one that there is none of",
    539892: "the gradient of the variance of one number",
    540143: "a result of another shape, over memory that another tensor shares",
    540401: "how a view of a view, made in inference mode, was made",
    540480: "the node of a clone of a leaf of inference",
    542162: "booleans bounded by a tensor",
    543992: "what the tangent of a copy saves",
    544054: "hooks of a leaf that no longer requires a gradient",
    544119: "a walk to its own root after the graph was freed",
    544202: "a number that is recorded, written into a view of integers",
    544336: "the steps of median, which a hook of its node shows",
    547393: "the second derivative of copysign, which is zero",
    547588: "what silu saves, which a hook doubles",
    549382: "a number that is recorded, written to no integers",
    549519: "a result of another shape, over a tensor that had a tangent",
    549718: "hooks of a tensor that was transposed in place",
    550038: "memory that unsafe_chunk shares",
    550210: "a change of a tensor of inference that is refused once its tangent has changed",
    550333: "the tangent of frac is that of its argument, and changes with it",
    551261: "the strides of a row of one element",
    552527: "integers whose data was made in inference mode",
    552530: "a view that a refused operation has looked at",
    553082: "the steps of a derivative, which a hook of its node shows",
    553455: "what copysign saves, which a hook doubles",
    553548: "the base of a view made in inference mode",
    554229: "indices that a hook doubles",
    554360: "products of booleans that have no elements",
    554375: "a second derivative that is zero, and one that there is none of",
    554892: "the layout of a row that was indexed, of which flatten makes a view or a copy",
    555022: "a dual tensor that was given other strides in place",
    555660: "where nothing lies in memory",
    556257: "what a walk has added when it fails",
    556896: "a second derivative that is zero, and one that there is none of",
    557811: "what nansum saves",
    557993: "where a part without elements lies in memory",
    558844: "a result of another shape, over a tensor that had a tangent",
    558974: "the tangent of tanh of no elements",
    558989: "hooks of a leaf that no longer requires a gradient",
    558995: "the tangent of abs of a tensor of inference",
    559068: "a change of the primal reaches what is made of it",
    559184: "the node of a view after its base was multiplied by itself",
    560230: "what a product saves whose tangent is recorded",
    560647: "a new dimension of a number whose tangent is gone",
    561260: "the gradient of an index that has no elements",
    562114: "integers that a recorded number was written into, as a result",
    562462: "the node of a view where changes of what is saved are allowed",
    565043: "the steps of a subtraction with a factor, which a hook of its node shows",
    565339: "what celu saves of halves",
    565800: "which of two mistakes in an index is named first",
    565935: "what cumprod saves of no elements",
    566502: "what a product saves, which a hook doubles",
    568014: "the gradient of the variance of one number",
    568798: "how a view of a view, made in inference mode, was made",
    569790: "what elu in place keeps for a second walk",
    570917: "the graph of the tangent of a gradient",
    572327: "the version of a chunk that was made in inference mode",
    572460: "a second derivative that is zero, and one that there is none of",
    573495: "the base of a view made in inference mode",
    573633: "the layout of a row that was indexed, of which ravel makes a view or a copy",
    574598: "the gradient of a tensor that was transposed in place",
    575000: "hooks of a node whose tensor was changed through a view since",
    575162: "the version of a shallow copy of a parameter",
    576202: "the tangent of a gradient that does not depend on its argument",
    577995: "a saved tensor that is changed by an index, where that is allowed",
    578332: "what a walk has added when it fails",
    579080: "derivatives at numbers that are NaN",
    579623: "the tangent of frac is that of its argument, and changes with it",
    579779: "memory beyond the elements of a loss",
    579824: "the steps of min with keepdim, which a hook of its node shows",
    580377: "how a view of a view, made in inference mode, was made",
    580906: "the cosine of a vector of zeros in halves, whose smallest length is rounded to zero",
    581471: "the steps of glu, whose sigmoid a second derivative walks through",
    581613: "the base of a view made in inference mode",
    581931: "a view of what was given other data, with another number of axes",
    583523: "a chunk made in inference mode, whose base was changed since",
    584422: "a number of another dtype that vmap converts before it is saved",
    584831: "a tensor that is its own tangent",
    585040: "a tensor that is its own tangent",
    586230: "integers that nan_to_num leaves as they are, expanded",
    586756: "a gradient of a tensor that was given data of another shape",
    587318: "the second derivative of copysign, which is zero",
    587836: "which of several equal maxima the gradient goes to under vmap",
    587882: "tangents of elements that share memory",
    587956: "roundings of a fourth derivative in halves",
    588099: "a second derivative that is zero, and one that there is none of",
    588825: "a second derivative that is zero, and one that there is none of",
    588910: "what a walk has added when it fails",
    589550: "what version a view of a dual tensor counts in",
    590003: "the dtype of a part that was given other data",
    591222: "hooks of integers that a recorded number was written into",
    591929: "the edge of a shallow copy made in inference mode",
    592408: "the dtype of a tangent that has no elements",
    592419: "a Function that is mapped over no examples",
    592559: "a base that is detached after its view was changed",
    593146: "the node of a sum to its own shape",
    593670: "a result of another shape, over memory that another tensor shares",
    594181: "the dtype of a tangent that a wider number is multiplied into",
    595067: "a base that is written through after what its view saves was changed",
    595355: "the graph of the tangent of a gradient",
    595515: "what a Function saves in inference mode with gradients switched on",
    595778: "which of several gradients comes first",
    596392: "the imaginary part of a conjugate view, made in inference mode",
    597451: "the steps of celu in place, which a hook of its node shows",
    597950: "which of two mistakes of a gradient is named first",
    600336: "forward mode in an out= of inference",
    600676: "a chunk made in inference mode, whose base was changed since",
    600948: "the steps of min with keepdim, which are freed one by one",
    601431: "which of two mistakes in an index is named first",
    602246: "a gradient that shares memory with its leaf",
    603918: "a gradient that is retained of what was written to through a view",
    606864: "a gradient that only a hook of the node asks for",
}
"""Seeds of programs that still differ, and by what."""


def reason_of(difference: Difference) -> Explained | None:
    """The reason of a difference, if it has one."""
    return next((each for each in EXPLAINED if each.holds(difference)), None)
