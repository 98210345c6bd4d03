"""The ops that the evidence names, by the names of their nodes: `log_softmax` of LogSoftmaxBackward0."""

from __future__ import annotations

VIEWS = (
    "view", "reshape", "reshape_alias", "squeeze", "unsqueeze", "t", "transpose", "permute", "flatten",
    "select", "slice", "alias", "clone", "to_copy", "expand", "unsafe_view", "split", "unbind", "index",
    "as_strided",
)  # fmt: skip
REDUCTIONS = ("mean", "sum", "div", "mul", "add", "sub", "squeeze", "view", "unsqueeze", "stack", "cat")
LOSSES = (
    "nll_loss", "nll_loss2_d", "nll_loss2d", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss",
)  # fmt: skip
CURVES = {"relu": "dead", "threshold": "dead", "hardtanh": "flat", "tanh": "flat", "sigmoid": "flat"}
