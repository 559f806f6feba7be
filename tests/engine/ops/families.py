"""Every family of operations that is compared with real PyTorch.

A family is a module with a list ``CASES``; import it here and add it to `FAMILIES`.
"""

from __future__ import annotations

from tests.engine.ops import (
    activation_cases,
    arithmetic_cases,
    arranging_cases,
    comparison_cases,
    complex_cases,
    complex_parts_cases,
    contraction_cases,
    creation_cases,
    elementwise_cases,
    extremum_cases,
    image_cases,
    indexing_cases,
    joining_cases,
    linalg_cases,
    loss_cases,
    matrix_cases,
    quantile_cases,
    reduction_cases,
    running_cases,
    scattering_cases,
    selection_cases,
    shape_cases,
    softmax_cases,
    sorting_cases,
    special_cases,
    statistics_cases,
)

FAMILIES = {
    "activation": activation_cases.CASES,
    "arithmetic": arithmetic_cases.CASES,
    "arranging": arranging_cases.CASES,
    "comparison": comparison_cases.CASES,
    "complex parts": complex_parts_cases.CASES,
    "complex": complex_cases.CASES,
    "contraction": contraction_cases.CASES,
    "creation": creation_cases.CASES,
    "elementwise": elementwise_cases.CASES,
    "extremum": extremum_cases.CASES,
    "image": image_cases.CASES,
    "indexing": indexing_cases.CASES,
    "joining": joining_cases.CASES,
    "linalg": linalg_cases.CASES,
    "loss": loss_cases.CASES,
    "matrices": matrix_cases.CASES,
    "quantile": quantile_cases.CASES,
    "reduction": reduction_cases.CASES,
    "running": running_cases.CASES,
    "scattering": scattering_cases.CASES,
    "selection": selection_cases.CASES,
    "shape": shape_cases.CASES,
    "softmax": softmax_cases.CASES,
    "sorting": sorting_cases.CASES,
    "special": special_cases.CASES,
    "statistics": statistics_cases.CASES,
}
