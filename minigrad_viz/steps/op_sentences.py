"""What the backward of an op does, in one sentence, by the name of its node.

The key is PyTorch's name of the node, with its number: two overloads of one function can differ, as `max` of
all elements shares among equal ones and `max` along a dimension does not. An op without a sentence has its
formula only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..words import text

CROSS_ENTROPY = {"back_log_softmax", "back_nll"}
SHAPES_ONLY = {"back_shape", "back_transpose"}

KEYS = {
    "AbsBackward0": "back_abs",
    "NegBackward0": "back_neg",
    "AddBackward0": "back_add",
    "AddBackward1": "back_add",
    "SubBackward0": "back_subtract",
    "SubBackward1": "back_subtract",
    "RsubBackward0": "back_subtract",
    "RsubBackward1": "back_subtract",
    "MulBackward0": "back_multiply",
    "MulBackward1": "back_multiply",
    "DivBackward0": "back_divide",
    "DivBackward1": "back_divide",
    "ExpBackward0": "back_exp",
    "Exp2Backward0": "back_exp2",
    "Expm1Backward0": "back_expm1",
    "LogBackward0": "back_log",
    "Log2Backward0": "back_log2",
    "Log10Backward0": "back_log10",
    "Log1PBackward0": "back_log1p",
    "Log1pBackward0": "back_log1p",
    "SqrtBackward0": "back_sqrt",
    "RsqrtBackward0": "back_rsqrt",
    "PowBackward0": "back_power",
    "PowBackward1": "back_power_both",
    "PowBackward2": "back_power_exponent",
    "ReciprocalBackward0": "back_reciprocal",
    "SinBackward0": "back_sin",
    "CosBackward0": "back_cos",
    "TanBackward0": "back_tan",
    "TanhBackward0": "back_tanh",
    "SigmoidBackward0": "back_sigmoid",
    "ReluBackward0": "back_relu",
    "LeakyReluBackward0": "back_leaky_relu",
    "EluBackward0": "back_elu",
    "GeluBackward0": "back_gelu",
    "SiluBackward0": "back_silu",
    "SoftplusBackward0": "back_softplus",
    "LogSigmoidForwardBackward0": "back_log_sigmoid",
    "LogSigmoidBackward0": "back_log_sigmoid",
    "HardtanhBackward0": "back_hardtanh",
    "ClampBackward1": "back_clamp",
    "ClampMinBackward0": "back_clamp",
    "ClampMaxBackward0": "back_clamp",
    "MaximumBackward0": "back_maximum",
    "MinimumBackward0": "back_minimum",
    "WhereBackward0": "back_where",
    "MaskedFillBackward0": "back_masked_fill",
    "NativeDropoutBackward0": "back_dropout",
    "SumBackward0": "back_sum",
    "SumBackward1": "back_sum",
    "MeanBackward0": "back_mean",
    "MeanBackward1": "back_mean",
    "ProdBackward0": "back_product",
    "ProdBackward1": "back_product",
    "VarBackward0": "back_variance",
    "StdBackward0": "back_std",
    "MaxBackward0": "back_max_dim",
    "MinBackward0": "back_max_dim",
    "MaxBackward1": "back_max",
    "AmaxBackward0": "back_max",
    "MinBackward1": "back_min",
    "AminBackward0": "back_min",
    "LinalgVectorNormBackward0": "back_norm",
    "NormBackward0": "back_norm",
    "NormBackward1": "back_norm",
    "LogsumexpBackward0": "back_logsumexp",
    "CumsumBackward0": "back_cumsum",
    "SoftmaxBackward0": "back_softmax",
    "LogSoftmaxBackward0": "back_log_softmax",
    "NllLossForwardBackward0": "back_nll",
    "NllLossBackward0": "back_nll",
    "NllLoss2DForwardBackward0": "back_nll",
    "NllLoss2dForwardBackward0": "back_nll",
    "NllLoss2DBackward0": "back_nll",
    "NllLoss2dBackward0": "back_nll",
    "MseLossBackward0": "back_mse",
    "SmoothL1LossBackward0": "back_smooth_l1",
    "HuberLossBackward0": "back_huber",
    "BinaryCrossEntropyBackward0": "back_bce",
    "BinaryCrossEntropyWithLogitsBackward0": "back_bce_logits",
    "MmBackward0": "back_matrices",
    "BmmBackward0": "back_matrices",
    "AddmmBackward0": "back_affine",
    "MvBackward0": "back_matrix_vector",
    "DotBackward0": "back_dot",
    "ViewBackward0": "back_shape",
    "UnsafeViewBackward0": "back_shape",
    "ReshapeAliasBackward0": "back_shape",
    "SqueezeBackward0": "back_shape",
    "SqueezeBackward1": "back_shape",
    "SqueezeBackward2": "back_shape",
    "UnsqueezeBackward0": "back_shape",
    "TBackward0": "back_transpose",
    "TransposeBackward0": "back_transpose",
    "PermuteBackward0": "back_transpose",
    "ExpandBackward0": "back_expand",
    "RepeatBackward0": "back_expand",
    "CatBackward0": "back_concatenate",
    "StackBackward0": "back_stack",
    "SplitBackward0": "back_split",
    "SplitWithSizesBackward0": "back_split",
    "UnbindBackward0": "back_split",
    "SliceBackward0": "back_slice",
    "SelectBackward0": "back_slice",
    "DiagonalBackward0": "back_slice",
    "IndexBackward0": "back_index",
    "IndexSelectBackward0": "back_index",
    "GatherBackward0": "back_index",
    "EmbeddingBackward0": "back_embedding",
    "FlipBackward0": "back_move",
    "RollBackward0": "back_move",
    "TrilBackward0": "back_triangle",
    "TriuBackward0": "back_triangle",
    "ConstantPadNdBackward0": "back_pad",
    "CloneBackward0": "back_clone",
    "ToCopyBackward0": "back_convert",
    "ConvolutionBackward0": "back_convolution",
    "NativeBatchNormBackward0": "back_batch_norm",
    "NativeLayerNormBackward0": "back_layer_norm",
    "NativeGroupNormBackward0": "back_layer_norm",
    "MaxPool2DWithIndicesBackward0": "back_max_pool",
    "MaxPool2dWithIndicesBackward0": "back_max_pool",
    "AvgPool2DBackward0": "back_average_pool",
    "AvgPool2dBackward0": "back_average_pool",
    "AdaptiveAvgPool2DBackward0": "back_average_pool",
    "AdaptiveAvgPool2dBackward0": "back_average_pool",
    "UpsampleNearest2DBackward0": "back_upsample",
    "UpsampleNearest2dBackward0": "back_upsample",
    "UpsampleNearest2DBackward1": "back_upsample",
    "UpsampleNearest2dBackward1": "back_upsample",
    "ScaledDotProductFlashAttentionForCpuBackward0": "back_attention",
    "ScaledDotProductFlashAttentionForCPUBackward0": "back_attention",
}


def backward_sentence(node: str, lang: str | None = None) -> str:
    """The sentence for a node; "" without one. Older names have no number where there is one overload only
    (`ReluBackward`)."""
    key = key_of(node)
    return text(key, lang) if key else ""


def box_sentence(nodes: Iterable[str], lang: str | None = None) -> str:
    """The sentence for a box of nodes: of the one thing that it does, except for changes of shape; "" if it
    does several. cross_entropy is two nodes with one sentence."""
    keys = {key_of(node) for node in nodes} - SHAPES_ONLY
    key = "back_cross_entropy" if keys == CROSS_ENTROPY else keys.pop() if len(keys) == 1 else ""
    return text(key, lang) if key else ""


def key_of(node: str) -> str:
    """The key of the sentence for a node, "" without one."""
    return KEYS.get(node) or KEYS.get(f"{node}0", "")
