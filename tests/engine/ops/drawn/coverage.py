"""Which public operations there are, which the table draws, and why the others are not drawn."""

from __future__ import annotations

import inspect
from typing import Any

import gradtool.engine as engine
from gradtool.engine import fft, linalg, special
from gradtool.engine._placeholder import LackingMethod
from gradtool.engine.nn import functional
from tests.engine.ops.drawn.table import TABLE

REASONS: dict[str, str] = {
    reason_of: why
    for why, names in {
        "it is compared over PyTorch's operator database, or in a test of its own": """
            igamma igammac unsafe_split_with_sizes gradient special.airy_ai
            special.chebyshev_polynomial_t special.chebyshev_polynomial_u
            special.chebyshev_polynomial_v special.chebyshev_polynomial_w
            special.hermite_polynomial_h special.hermite_polynomial_he
            special.laguerre_polynomial_l special.legendre_polynomial_p
            special.modified_bessel_i0 special.modified_bessel_i1
            special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u
            special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w
            special.zeta nn.functional.fractional_max_pool2d
            nn.functional.fractional_max_pool2d_with_indices nn.functional.fractional_max_pool3d
            nn.functional.fractional_max_pool3d_with_indices nn.functional.linear_cross_entropy
            nn.functional.grouped_mm Tensor.resize _unique _unique2
            """,
        "it makes a tensor of no other": """
            arange empty empty_like empty_permuted empty_strided eye full full_like linspace
            logspace ones ones_like tril_indices triu_indices zeros zeros_like as_tensor
            asarray from_numpy
            scalar_tensor tensor Tensor.new Tensor.new_empty Tensor.new_empty_strided
            Tensor.new_full Tensor.new_ones Tensor.new_tensor Tensor.new_zeros""",
        "what it draws is random, and not PyTorch's sequence": """
            multinomial poisson bernoulli normal rand rand_like randint randint_like randn
            randn_like randperm Generator default_generator get_rng_state initial_seed manual_seed
            seed set_rng_state Tensor.multinomial nn.functional.alpha_dropout
            nn.functional.dropout nn.functional.dropout1d nn.functional.dropout2d
            nn.functional.dropout3d nn.functional.feature_alpha_dropout
            nn.functional.gumbel_softmax pca_lowrank svd_lowrank""",
        "a dense tensor refuses it": """
            Tensor.ccol_indices Tensor.coalesce Tensor.col_indices Tensor.crow_indices
            Tensor.indices Tensor.is_coalesced Tensor.row_indices Tensor.values""",
        "it tells something of a tensor, and computes nothing": """
            is_conj is_neg get_device is_nonzero nonzero_static is_same_size numel Tensor.data_ptr
            Tensor.dense_dim Tensor.element_size Tensor.is_complex Tensor.is_contiguous
            Tensor.is_floating_point Tensor.is_inference Tensor.is_pinned Tensor.is_set_to
            Tensor.is_shared Tensor.is_signed Tensor.item Tensor.nelement Tensor.numpy Tensor.size
            Tensor.sparse_dim Tensor.storage Tensor.storage_offset Tensor.stride Tensor.tolist
            Tensor.untyped_storage""",
        "it is about recording, and tested with it": """
            Tensor.backward Tensor.detach detach_copy Tensor.register_hook
            Tensor.register_post_accumulate_grad_hook Tensor.retain_grad""",
        "it is about devices and memory, and tested with them": """
            Tensor.cpu Tensor.cuda Tensor.pin_memory Tensor.record_stream Tensor.to_dense""",
        "it takes a shape or a name, and is tested with dtypes and shapes by cases": """
            broadcast_shapes Tensor.bfloat16 Tensor.byte Tensor.chalf Tensor.char Tensor.int
            Tensor.long
            Tensor.short Tensor.type""",
        "PyTorch has removed it, and it raises": """
            eig lstsq matrix_rank solve symeig Tensor.eig Tensor.lstsq Tensor.solve
            Tensor.symeig""",
        "it is compared in a test of its own": """
            _chunk_cat hash_tensor histogram histogramdd Tensor.to_sparse Tensor.to_sparse_coo
            Tensor.to_sparse_csr""",
        "it is about subclasses, and tested with them": "Tensor.as_subclass",
        "its indices are a class": "linalg.LinAlgError",
    }.items()
    for reason_of in names.split()
}


def public_operations() -> dict[int, list[str]]:
    """Every public operation with its names; aliases are one operation."""
    found: dict[int, list[str]] = {}
    for name, function in _named():
        found.setdefault(id(inspect.unwrap(function)), []).append(name)
    return found


def _named() -> list[tuple[str, Any]]:
    """Functions of the namespaces, and methods that are no function's."""
    spaces = (
        ("fft.", fft),
        ("linalg.", linalg),
        ("special.", special),
        ("nn.functional.", functional),
    )
    return [
        *engine._FUNCTIONS.items(),
        *[(prefix + name, getattr(space, name)) for prefix, space in spaces
          for name in space.__all__],
        *[(f"Tensor.{name}", getattr(engine.Tensor, name)) for name in dir(engine.Tensor)
          if not name.startswith("_") and not name.endswith("_")
          and callable(getattr(engine.Tensor, name))
          and not isinstance(inspect.getattr_static(engine.Tensor, name), LackingMethod)],
    ]  # fmt: skip


def undrawn() -> list[str]:
    """Operations that are neither in the table nor have a reason, by their first name."""
    drawn = {entry.partition(" ")[0] for entry in TABLE} | set(REASONS)
    return [names[0] for names in public_operations().values() if not drawn.intersection(names)]
