"""What PyTorch has in `torch` too of the functions of models, with the arguments that they take there.

Most differ from those of `nn.functional` in order and defaults; losses take the number of a reduction: 0 for
none, which is what they do if nothing is said, 1 for the mean, 2 for the sum.
"""

from __future__ import annotations

from typing import Any

from ..inplace import in_place
from ..op import F
from ..ops import embedding as tables
from .functional import distances, losses, normalisation, pooling, pooling_parts
from .functional.constants import check_constant
from .functional.convolution import convolved
from .functional.dropout import dropped as dropped_out

REDUCTIONS = ("none", "mean", "sum")


def word(reduction: int) -> str:
    """The word for the number of a reduction; as in PyTorch any other number stands for none."""
    return REDUCTIONS[reduction] if reduction in (1, 2) else "none"


# ── convolution and pooling
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    """A convolution of as many dimensions as `weight` (channels out, channels in / groups, …) has, or its
    transpose.
    """
    given = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    places = {"stride": 4, "padding": 5, "dilation": 6, "output_padding": 8}
    for name, value in given.items():
        if isinstance(value, int):
            raise TypeError(
                f"convolution(): argument '{name}' (position {places[name]}) must be tuple of ints, not int"
            )
    return convolved(input, weight, bias, stride, padding, dilation, groups, transposed, output_padding)


def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of `input` ([N,] C, L)."""
    return pooling.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d_with_indices(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of `input` ([N,] C, L), and where they were."""
    return pooling.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of `input` ([N,] C, H, W)."""
    return pooling.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of `input` ([N,] C, D, H, W)."""
    return pooling.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_max_pool1d(input: Any, output_size: Any) -> Any:
    """The greatest of each of `output_size` parts of `input` ([N,] C, L), and where they were."""
    return pooling_parts.adaptive_max_pool1d(input, output_size, True)


# ── normalisation
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
    eps: float, cudnn_enabled: bool,
) -> Any:  # fmt: skip
    """`nn.functional.batch_norm`, the weights first; `cudnn_enabled` makes no difference."""
    how = (training, momentum, eps)
    return normalisation.normalised(input, running_mean, running_var, weight, bias, *how)


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:  # fmt: skip
    """`nn.functional.layer_norm`; `cudnn_enable` makes no difference."""
    return normalisation.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """`nn.functional.group_norm`, also of one number for each group; `cudnn_enabled` makes no difference."""
    return normalisation.grouped_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool,
    momentum: float, eps: float, cudnn_enabled: bool,
) -> Any:  # fmt: skip
    """`nn.functional.instance_norm`, the weights first, also of one number for each channel; `cudnn_enabled`
    makes no difference.
    """
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    how = (use_input_stats, momentum, eps)
    return normalisation.by_instances(input, running_mean, running_var, weight, bias, *how)


def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    """`nn.functional.group_norm` of `N` samples with `C` channels of `HxW` numbers, the means and the inverse
    deviations of all groups.
    """
    return F.native_group_norm(input, weight, bias, N, C, HxW, group, eps)


# ── dropout
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def dropped(input: Any, p: float, train: bool, inplace: bool, feature: bool, alpha: bool) -> Any:
    """Dropout of any kind; RuntimeError with PyTorch's text for what is no probability."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return dropped_out(input, p, train, inplace, feature, alpha)


def torch_dropout(input: Any, p: float, train: bool) -> Any:
    """Each number set to 0 with probability `p`, the others scaled by `1 / (1 - p)`."""
    return dropped(input, p, train, False, False, False)


def dropout_(input: Any, p: float, train: bool) -> Any:
    """`dropout`, in place."""
    return dropped(input, p, train, True, False, False)


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """`dropout` of whole channels."""
    return dropped(input, p, train, False, True, False)


def feature_dropout_(input: Any, p: float, train: bool) -> Any:
    """`feature_dropout`, in place."""
    return dropped(input, p, train, True, True, False)


def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Dropout for `selu`: mean and variance stay what they are."""
    return dropped(input, p, train, False, False, True)


def alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout`, in place."""
    return dropped(input, p, train, True, False, True)


def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` of whole channels."""
    return dropped(input, p, train, False, True, True)


def feature_alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """`feature_alpha_dropout`, in place."""
    return dropped(input, p, train, True, True, True)


# ── tables
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """The rows of the matrix `weight` at the whole numbers `indices`; row `padding_idx` gets no gradient."""
    return tables.embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def embedding_renorm_(input: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Shorten, in place, those rows at `indices` whose norm is greater than `max_norm`."""
    return in_place(tables.embedding_renorm.op, input, indices, max_norm, norm_type)


# ── losses
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 0
) -> Any:
    """`nn.functional.binary_cross_entropy_with_logits`."""
    check_constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0
) -> Any:
    """`nn.functional.cosine_embedding_loss`."""
    return distances.cosine_embedding_loss(input1, input2, target, margin, reduction=word(reduction))


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: int = 0) -> Any:
    """`nn.functional.hinge_embedding_loss`."""
    return distances.hinge_embedding_loss(input, target, margin, reduction=word(reduction))


def kl_div(input: Any, target: Any, reduction: int = 0, *, log_target: bool = False) -> Any:
    """`nn.functional.kl_div`."""
    return losses.divergence(input, target, reduction if reduction in (1, 2) else 0, log_target)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0
) -> Any:
    """`nn.functional.margin_ranking_loss`."""
    return distances.margin_ranking_loss(input1, input2, target, margin, reduction=word(reduction))


def poisson_nll_loss(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """`nn.functional.poisson_nll_loss`."""
    return losses.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=word(reduction))


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, reduction: int = 0,
) -> Any:  # fmt: skip
    """`nn.functional.triplet_margin_loss`."""
    how: dict[str, Any] = {"margin": margin, "p": p, "eps": eps, "swap": swap, "reduction": word(reduction)}
    return distances.triplet_margin_loss(anchor, positive, negative, **how)
