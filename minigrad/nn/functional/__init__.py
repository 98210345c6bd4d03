"""Functions that layers and losses are made of, under the names of PyTorch's `torch.nn.functional`."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ...explained import attach_networks as _attach_networks
from ...left_out import missing as _missing
from .activations import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    rrelu,
    selu,
    sigmoid,
    silu,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
)
from .attention import scaled_dot_product_attention
from .class_losses import (
    cross_entropy,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
)
from .convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .ctc import ctc_loss
from .distances import (
    cosine_embedding_loss,
    cosine_similarity,
    hinge_embedding_loss,
    margin_ranking_loss,
    normalize,
    pairwise_distance,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from .grids import affine_grid, grid_sample
from .in_place import celu_, elu_, hardtanh_, leaky_relu_, relu_, rrelu_, selu_, threshold_
from .linear_loss import linear_cross_entropy
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
)
from .multi_head import multi_head_attention_forward
from .normalisation import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from .padding import channel_shuffle, pad, pixel_shuffle, pixel_unshuffle
from .pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from .pooling_parts import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    fractional_max_pool2d,
    fractional_max_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from .products import bilinear, linear
from .resampling import interpolate, upsample, upsample_bilinear, upsample_nearest
from .softmaxes import gumbel_softmax, log_softmax, softmax, softmin
from .tables import embedding, embedding_bag, fold, one_hot, unfold

_attach_networks(globals())


def __getattr__(name: str) -> _NoReturn:
    raise _missing("nn.functional", name)
