"""Functions of networks that PyTorch has at top level with arguments of their own.

``torch.batch_norm`` takes the parameters before the statistics, ``torch.kl_div`` a number for the
reduction, ``torch.dropout`` needs to know whether it trains.
"""

from gradtool.engine.nn._top_level._dropouts import (
    alpha_dropout,
    alpha_dropout_,
    dropout,
    dropout_,
    feature_alpha_dropout,
    feature_alpha_dropout_,
    feature_dropout,
    feature_dropout_,
    native_dropout,
)
from gradtool.engine.nn._top_level._grouped import _grouped_mm
from gradtool.engine.nn._top_level._layers import (
    affine_grid_generator,
    constant_pad_nd,
    convolution,
    embedding,
    grid_sampler,
    grid_sampler_2d,
    grid_sampler_3d,
)
from gradtool.engine.nn._top_level._losses import (
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    ctc_loss,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
    triplet_margin_loss,
)
from gradtool.engine.nn._top_level._norms import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    native_batch_norm,
    native_group_norm,
    native_layer_norm,
    norm_except_dim,
)
from gradtool.engine.nn._top_level._quantizing import (
    fake_quantize_per_channel_affine,
    fake_quantize_per_tensor_affine,
)
from gradtool.engine.nn._top_level._recurrent import (
    gru,
    gru_cell,
    lstm,
    lstm_cell,
    rnn_relu,
    rnn_relu_cell,
    rnn_tanh,
    rnn_tanh_cell,
)
from gradtool.engine.nn._top_level._softmax import (
    _log_softmax_backward_data,
    _softmax_backward_data,
)

__all__ = [
    "_grouped_mm", "_log_softmax_backward_data", "_softmax_backward_data",
    "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "batch_norm",
    "binary_cross_entropy_with_logits", "constant_pad_nd", "convolution",
    "cosine_embedding_loss", "ctc_loss", "dropout", "dropout_", "embedding",
    "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine",
    "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_",
    "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "group_norm", "gru", "gru_cell",
    "hinge_embedding_loss", "instance_norm", "kl_div", "layer_norm", "lstm", "lstm_cell",
    "margin_ranking_loss", "native_batch_norm", "native_dropout", "native_group_norm",
    "native_layer_norm", "norm_except_dim", "poisson_nll_loss", "rnn_relu", "rnn_relu_cell",
    "rnn_tanh", "rnn_tanh_cell", "triplet_margin_loss",
]  # fmt: skip
