"""The functions of ``nn.functional``: composites of the engine's operations."""

from gradtool.engine._ops.core.node_names import published
from gradtool.engine.nn.functional._activations import (
    celu_,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardtanh_,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    relu_,
    rrelu_,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softsign,
    tanh,
    tanhshrink,
    threshold_,
)
from gradtool.engine.nn.functional._alignment import (
    ctc_loss,
)
from gradtool.engine.nn.functional._attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from gradtool.engine.nn.functional._classification import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    multilabel_soft_margin_loss,
    nll_loss,
)
from gradtool.engine.nn.functional._convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from gradtool.engine.nn.functional._dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from gradtool.engine.nn.functional._folding import (
    channel_shuffle,
    fold,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
    unfold,
)
from gradtool.engine.nn.functional._fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
)
from gradtool.engine.nn.functional._grouped import grouped_mm
from gradtool.engine.nn.functional._interpolation import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from gradtool.engine.nn.functional._linear import (
    bilinear,
    embedding,
    embedding_bag,
    linear,
    one_hot,
)
from gradtool.engine.nn.functional._linear_cross_entropy import (
    linear_cross_entropy,
)
from gradtool.engine.nn.functional._margins import (
    cosine_embedding_loss,
    cosine_similarity,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    pairwise_distance,
    pdist,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from gradtool.engine.nn.functional._max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from gradtool.engine.nn.functional._normalizing import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
)
from gradtool.engine.nn.functional._padding import (
    pad,
)
from gradtool.engine.nn.functional._piecewise import (
    celu,
    elu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    prelu,
    relu,
    relu6,
    rrelu,
    selu,
    softshrink,
    threshold,
)
from gradtool.engine.nn.functional._pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    local_response_norm,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
)
from gradtool.engine.nn.functional._regression import (
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from gradtool.engine.nn.functional._sampling import (
    affine_grid,
    grid_sample,
)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "celu_", "channel_shuffle", "conv1d", "conv2d",
    "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss", "dropout",
    "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "embedding_bag",
    "feature_alpha_dropout", "fold", "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "gaussian_nll_loss", "gelu", "glu", "grid_sample",
    "group_norm", "grouped_mm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate",
    "kl_div", "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_", "linear",
    "linear_cross_entropy", "local_response_norm", "log_softmax", "logsigmoid", "lp_pool1d",
    "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool1d_with_indices",
    "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d", "mish", "mse_loss",
    "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "native_channel_shuffle", "nll_loss", "normalize", "one_hot",
    "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss",
    "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu", "rrelu_",
    "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu", "smooth_l1_loss",
    "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "threshold_", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip

for _name in __all__:
    globals()[_name] = published(globals()[_name])
