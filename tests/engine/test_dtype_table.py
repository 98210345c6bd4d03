"""`minigrad/tables/dtypes.txt` says what PyTorch says: each op is called with tensors of each dtype."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.core.dtypes import OF_NUMPY
from minigrad.core.guards import REFUSED

# How an entry is called, where it is not `torch.<name>(x)`. `x` are ones; `a`, `b` and `c` are a signal, an
# image and a volume, with two channels; `large` is an image for which PyTorch takes its usual kernel; `kind`
# is the dtype itself.
CALLS = """
GroupNormKernelImpl: F.group_norm(b, 2)
LayerNormKernelImpl: F.layer_norm(x, (2,))
_prelu_kernel: F.prelu(x, L.ones(1, dtype=kind))
abs_: x.abs_()
adaptive_avg_pool2d: F.adaptive_avg_pool2d(b, 2)
adaptive_avg_pool3d_cpu: F.adaptive_avg_pool3d(c, 2)
adaptive_max_pool2d: F.adaptive_max_pool2d(b, 2)
adaptive_max_pool3d_cpu: F.adaptive_max_pool3d(c, 2)
addcmul: L.addcmul(x, x, x)
arange_cpu: L.arange(3, dtype=kind)
atan2: L.atan2(x, x)
avg_pool2d: F.avg_pool2d(b, 2)
avg_pool3d_out_frame: F.avg_pool3d(c, 2)
batch_norm: F.batch_norm(b, None, None, training=True)
bernoulli_scalar_cpu_: x.bernoulli_(0.5)
bernoulli_tensor_cpu_p_: L.ones(2, 2).bernoulli_(x)
bernoulli_tensor_cpu_self_: x.bernoulli_(L.ones(2, 2))
binary_cross_entropy: F.binary_cross_entropy(x, x)
bitwise_and: L.bitwise_and(x, x)
bitwise_left_shift: L.bitwise_left_shift(x, x)
bitwise_or: L.bitwise_or(x, x)
bitwise_right_shift: L.bitwise_right_shift(x, x)
bitwise_xor: L.bitwise_xor(x, x)
cdist: L.cdist(x, x)
cdist_x1: L.cdist(x, L.ones(2, 2, dtype=kind))
cdist_x2: L.cdist(L.ones(2, 2), x)
check_random_bounds: x.random_(0, 1)
check_uniform_bounds: x.uniform_()
clamp: L.clamp(x, x)
clamp_max: L.clamp_max(x, True)
clamp_max_tensor: L.clamp_max(x, x)
clamp_min: L.clamp_min(x, True)
clamp_min_tensor: L.clamp_min(x, x)
clamp_numbers: L.clamp(x, True, True)
compute_columns3d: F.conv3d(c, L.ones(1, 2, 2, 2, 2, dtype=kind))
cross: L.linalg.cross(x[0].repeat(3)[:3], x[0].repeat(3)[:3])
cummax_cpu: L.cummax(x, 0)
cummin_cpu: L.cummin(x, 0)
cumprod_out_cpu: L.cumprod(L.ones(2), 0, dtype=kind)
cumsum_out_cpu: L.cumsum(L.ones(2), 0, dtype=kind)
div_rounded: L.div(x, x, rounding_mode='floor')
elu: F.elu(x)
elu_: F.elu(x, inplace=True)
exponential: x.exponential_()
floor_divide: L.floor_divide(x, x)
fmax: L.fmax(x, x)
fmin: L.fmin(x, x)
fmod: L.fmod(x, x)
fmod_number: L.fmod(x, True)
ge: L.ge(x, x)
gelu: F.gelu(x)
grid_sampler3d_cpu: F.grid_sample(c, L.ones(1, 2, 2, 2, 3, dtype=kind), align_corners=False)
grid_sampler_2d_cpu_kernel_impl: F.grid_sample(b, L.ones(1, 2, 2, 2, dtype=kind), align_corners=False)
gt: L.gt(x, x)
hardshrink: F.hardshrink(x)
hardtanh: F.hardtanh(x, 0, 1)
histogramdd: L.histogram(x, 3)
huber_cpu: F.huber_loss(x, x)
im2col_out_cpu: F.unfold(b, 2)
le: L.le(x, x)
leaky_relu: F.leaky_relu(x)
leaky_relu_: F.leaky_relu(x, inplace=True)
lerp: L.lerp(x, x, 1)
lerp_tensor: L.lerp(x, x, x)
linalg.vector_norm: L.linalg.vector_norm(x)
linspace_cpu: L.linspace(0, 1, 3, dtype=kind)
log_sigmoid_cpu: F.logsigmoid(x)
log_softmax_kernel_impl: L.log_softmax(x, 0)
log_softmax_lastdim_kernel_impl: L.log_softmax(x, 1)
logspace_cpu: L.logspace(0, 1, 3, dtype=kind)
lt: L.lt(x, x)
masked_fill_: L.ones(2, 2).masked_fill_(x, 1)
masked_scatter_: L.ones(2, 2).masked_scatter_(x, L.ones(2, 2))
masked_select: L.masked_select(L.ones(2, 2), x)
max_all: L.max(x)
max_cpu: L.max(x, 0)
max_pool1d_impl: F.max_pool1d(a, 2)
max_pool2d: F.max_pool2d(b, 2)
max_pool3d: F.max_pool3d(c, 2)
max_values_cpu: L.amax(x, 0)
maximum: L.maximum(x, x)
median_cpu: L.median(x)
median_out: L.median(x, 0)
min_all: L.min(x)
min_cpu: L.min(x, 0)
min_values_cpu: L.amin(x, 0)
minimum: L.minimum(x, x)
mish: F.mish(x)
mse_cpu: F.mse_loss(x, x)
multinomial: L.multinomial(x, 1)
nansum: L.nansum(x)
nll_loss_out_frame: F.nll_loss(x, L.tensor([0, 1]))
normal_kernel_cpu: x.normal_()
normal_std: L.normal(L.ones(2, 2, dtype=kind), x)
polygamma_0: L.polygamma(0, x)
polygamma_1: L.polygamma(1, x)
polygamma_2: L.polygamma(2, x)
pow_base: L.pow(True, x)
pow_tensor: L.pow(x, x)
random_kernel_cpu: x.random_()
randperm: L.randperm(3, dtype=kind)
reflection_pad1d: F.pad(a, (1, 1), 'reflect')
reflection_pad2d: F.pad(b, (1, 1, 1, 1), 'reflect')
reflection_pad3d: F.pad(c, (1, 1, 1, 1, 1, 1), 'reflect')
relu: L.relu(x)
remainder: L.remainder(x, x)
remainder_number: L.remainder(x, True)
remainder_of_number: L.remainder(True, x)
repeat_interleave_cpu: L.repeat_interleave(x[0])
replication_pad1d: F.pad(a, (1, 1), 'replicate')
replication_pad2d: F.pad(b, (1, 1, 1, 1), 'replicate')
replication_pad3d: F.pad(c, (1, 1, 1, 1, 1, 1), 'replicate')
rms_norm: F.rms_norm(x, (2,))
round_decimals: L.round(x, decimals=1)
round_to_no_digits: L.round(x, decimals=0)
round_whole: L.round(x)
silu: F.silu(x)
slow_conv2d_cpu: F.conv2d(b, L.ones(1, 2, 2, 2, dtype=kind))
slow_conv_transpose2d_out_cpu: F.conv_transpose2d(b, L.ones(2, 1, 2, 2, dtype=kind))
slow_conv_transpose3d_out_cpu: F.conv_transpose3d(c, L.ones(2, 1, 2, 2, 2, dtype=kind))
smooth_l1_cpu: F.smooth_l1_loss(x, x)
softmax_kernel_impl: L.softmax(x, 0)
softmax_lastdim_kernel_impl: L.softmax(x, 1)
softplus: F.softplus(x)
softshrink: F.softshrink(x)
std and var: L.var(x)
threshold: F.threshold(x, 0, 1)
threshold_: F.threshold(x, 0, 1, inplace=True)
topk: L.topk(x, 1)
unique_dim: L.unique(x, dim=0)
upsample_bilinear2d: F.interpolate(large, scale_factor=2, mode='bilinear')
upsample_linear1d: F.interpolate(a, scale_factor=2, mode='linear')
upsample_nearest1d: F.interpolate(a, scale_factor=2)
upsample_nearest2d: F.interpolate(large, scale_factor=2)
upsample_nearest3d: F.interpolate(c, scale_factor=2)
upsample_trilinear3d: F.interpolate(c, scale_factor=2, mode='trilinear')
~: ~x
"""
# Dtypes that only one of the libraries takes.
DIFFERENT = {
    ("avg_pool3d_out_frame", "float16"): "computed in float32, for which PyTorch has no kernel",
    ("upsample_bilinear2d", "uint8"): "PyTorch has a kernel of its own",
}
OF_NAME = dict(line.split(": ", 1) for line in CALLS.strip().split("\n"))


def end(library: Any, call: str, kind: np.dtype) -> str:
    """The class and the text of a call's error; empty if there is none."""
    own = getattr(library, OF_NUMPY[kind].name)
    shapes = {"x": (2, 2), "a": (1, 2, 4), "b": (1, 2, 4, 4), "c": (1, 2, 4, 4, 4), "large": (1, 2, 64, 64)}
    values = {name: library.ones(*shape, dtype=own) for name, shape in shapes.items()}
    names = {"L": library, "F": library.nn.functional, "kind": own, **values}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(call, names)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""


def ending(name: str, kind: np.dtype) -> str:
    """The error that the table has; empty for none."""
    refusal = REFUSED[name].get(kind)
    if refusal is None:
        return ""
    error = refusal.error(OF_NUMPY[kind])
    return f"{type(error).__name__}: {error}"


@pytest.mark.quick(20)
@pytest.mark.parametrize("name", REFUSED)
def test_the_table_is_pytorchs(torch, name):
    call = OF_NAME.get(name, f"L.{name}(x)")
    wrong = []
    for kind in OF_NUMPY:
        ours, theirs, text = end(minigrad, call, kind), end(torch, call, kind), ending(name, kind)
        if (name, kind.name) in DIFFERENT:
            assert ours != theirs
        elif ours != theirs or text not in ("", ours):  # another entry may refuse the dtype, too
            wrong.append(f"{kind}\n  table   {text}\n  ours    {ours}\n  PyTorch {theirs}")
    assert not wrong, f"{call}\n" + "\n".join(wrong)


def test_every_call_belongs_to_an_entry():
    assert set(OF_NAME) <= set(REFUSED)
