"""minigrad: automatic differentiation on NumPy with PyTorch's API and observable behaviour.

`import minigrad as torch` runs ordinary autograd code. `set_dialect("1.4" | "2")` chooses whose names are
printed.
"""

from __future__ import annotations

from typing import Any

from . import inplace, ops
from .devices import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    sparse_coo,
    sparse_csr,
    strided,
)
from .dialect import get_dialect, set_dialect
from .dtypes import (
    bool_ as bool,
)
from .dtypes import (
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from .modes import is_grad_enabled, is_inference_mode_enabled
from .op import F as _F
from .ops.arithmetic import mul, neg, reciprocal
from .ops.bessel import i0
from .ops.circular import acos, acosh, asin, asinh, atan, atanh, cosh, deg2rad, rad2deg, sinc, sinh, tan
from .ops.complexes import (
    angle,
    conj,
    conj_physical,
    imag,
    real,
    resolve_conj,
    resolve_neg,
    view_as_complex,
    view_as_real,
)
from .ops.complexes import complex_of_tensors as complex
from .ops.complexes import polar_of_tensors as polar
from .ops.counting import trace
from .ops.exponential import exp2, expm1, log1p, log2, log10, logit, rsqrt, square
from .ops.gamma import digamma, lgamma, mvlgamma, polygamma
from .ops.indexing_along import index_copy, index_select
from .ops.joining import cat, split_with_sizes, stack, unbind, unsafe_split, unsafe_split_with_sizes
from .ops.linalg import bmm, dot, mm, mv, vdot
from .ops.masking import masked_scatter, masked_select
from .ops.normal import erf, erfc, erfinv
from .ops.padding import constant_pad_nd
from .ops.picking import put, take
from .ops.pointwise import abs, cos, exp, log, relu, sgn, sigmoid, sign, sin, sqrt, tanh
from .ops.rearranging import channel_shuffle, pixel_shuffle, pixel_unshuffle, tril, triu
from .ops.rounding import (
    ceil,
    floor,
    frac,
    frexp,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    isreal,
    nan_to_num,
    round,
    signbit,
    trunc,
)
from .ops.scattering import gather
from .ops.shape import clone, permute, reshape, t, transpose, unsqueeze
from .ops.softmax import _softmax_backward_data
from .ops.view_copies import (
    alias_copy,
    diagonal_copy,
    split_copy,
    t_copy,
    transpose_copy,
    unbind_copy,
    unfold_copy,
    unsqueeze_copy,
)
from .ops.views import diag_embed, diagonal
from .ops.writing_views import diagonal_scatter, select_scatter, slice_scatter
from .printing import printoptions, set_printoptions
from .tensor import Size, Tensor
from .tensor.arithmetic import add, sub
from .tensor.arithmetic import power as pow
from .tensor.binary import (
    addcdiv,
    addcmul,
    atan2,
    clamp,
    clamp_max,
    clamp_min,
    copysign,
    div,
    float_power,
    floor_divide,
    fmax,
    fmin,
    fmod,
    gcd,
    heaviside,
    hypot,
    lcm,
    ldexp,
    lerp,
    logaddexp,
    logaddexp2,
    maximum,
    minimum,
    nextafter,
    remainder,
    rsub,
    xlogy,
)
from .tensor.casts import (
    can_cast,
    finfo,
    iinfo,
    is_nonzero,
    numel,
    promote_types,
    result_type,
)
from .tensor.comparing import (
    allclose,
    bitwise_and,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    eq,
    equal,
    ge,
    gt,
    isclose,
    isin,
    le,
    logical_and,
    logical_or,
    logical_xor,
    lt,
    ne,
)
from .tensor.contractions import chain_matmul, matrix_power
from .tensor.cumulative import cummax, cummin, cumprod, cumsum, logcumsumexp
from .tensor.differences import cumulative_trapezoid, diff, gradient, trapezoid
from .tensor.einsums import einsum
from .tensor.gathering import (
    argwhere,
    as_strided_scatter,
    index_add,
    index_fill,
    index_put,
    index_reduce,
    nonzero,
    nonzero_static,
    scatter,
    scatter_add,
    scatter_reduce,
    take_along_dim,
    where,
)
from .tensor.matrices import det, inverse, pinverse
from .tensor.matrices import torch_qr as qr
from .tensor.matrices import torch_slogdet as slogdet
from .tensor.matrices import torch_svd as svd
from .tensor.norms import dist, norm, renorm
from .tensor.parts import chunk, dsplit, hsplit, split, tensor_split, unsafe_chunk, vsplit
from .tensor.products import (
    addbmm,
    addmm,
    addmv,
    addr,
    baddbmm,
    cross,
    inner,
    outer,
    tensordot,
)
from .tensor.rearranging import (
    column_stack,
    diag,
    diagflat,
    dstack,
    flip,
    fliplr,
    flipud,
    hstack,
    kron,
    repeat_interleave,
    roll,
    rot90,
    tile,
    unravel_index,
    vstack,
)
from .tensor.reductions import (
    all,
    amax,
    amin,
    aminmax,
    any,
    argmax,
    argmin,
    count_nonzero,
    kthvalue,
    logsumexp,
    max,
    mean,
    median,
    min,
    mode,
    nanmean,
    nanmedian,
    nansum,
    prod,
    std,
    std_mean,
    sum,
    var,
    var_mean,
)
from .tensor.shapes import matmul
from .tensor.sorting import (
    argsort,
    bucketize,
    msort,
    searchsorted,
    sort,
    topk,
    unique,
    unique_consecutive,
)
from .tensor.statistics import (
    bincount,
    corrcoef,
    cov,
    histc,
    histogram,
    log_softmax,
    nanquantile,
    quantile,
    softmax,
)
from .tensor.view_copies import (
    as_strided_copy,
    detach_copy,
    expand_copy,
    narrow_copy,
    permute_copy,
    select_copy,
    slice_copy,
    split_with_sizes_copy,
    squeeze_copy,
    view_copy,
)
from .tensor.view_methods import positive, squeeze
from .tensor.views import (
    adjoint,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_tensors,
    flatten,
    movedim,
    narrow,
    ravel,
    unflatten,
)
from .tensor.views import as_strided_view as as_strided

from . import autograd, backends, cuda, func, linalg, nn, optim, random, signal, special, utils  # isort: skip
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .creation import (
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    arange,
    as_tensor,
    asarray,
    bernoulli,
    empty,
    empty_like,
    empty_permuted,
    empty_strided,
    eye,
    from_dlpack,
    from_numpy,
    frombuffer,
    full,
    full_like,
    linspace,
    logspace,
    multinomial,
    normal,
    ones,
    ones_like,
    poisson,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    scalar_tensor,
    tensor,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from .func import vmap
from .generator import Generator, default_generator
from .nn.functional.activations import celu, hardshrink, prelu, rrelu, selu, threshold
from .nn.functional.distances import cosine_similarity, pairwise_distance
from .nn.functional.normalisation import native_batch_norm, native_layer_norm
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .serialization import load, save
from .tensor.grids import block_diag, broadcast_shapes, cartesian_prod, combinations, meshgrid, vander

float = float32
double = float64
half = float16
short = int16
int = int32
long = int64

concat = concatenate = cat
ger = outer
row_stack, trapz = vstack, trapezoid
moveaxis, swapaxes, swapdims, absolute = movedim, transpose, transpose, abs
arccos, arcsin, arctan, arccosh, arcsinh, arctanh = acos, asin, atan, acosh, asinh, atanh
fix, negative = trunc, neg
cfloat, cdouble = complex64, complex128
bitwise_not, logical_not = _F.bitwise_not, _F.logical_not
clip, divide, true_divide, subtract, multiply, arctan2 = clamp, div, div, sub, mul, atan2
less, less_equal, greater, greater_equal, not_equal = lt, le, gt, ge, ne
__version__ = "0.1.0"


def select(input: Any, dim: Any, index: Any) -> Any:
    """The part at `index` along `dim`, which goes away."""
    return input.select(dim, index)


def broadcast_to(input: Any, size: Any) -> Any:
    """Expanded to `size`."""
    return input.broadcast_to(size)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`value` where `mask` holds, else the element of `input`."""
    return input.masked_fill(mask, value)


def fill(input: Any, value: Any) -> Any:
    """A tensor like `input`, with one value in every element."""
    return (_F.fill_tensor if isinstance(value, Tensor) else _F.fill)(input, value)


def zero_(input: Any) -> Any:
    """Write 0 into every element of `input`."""
    return input.zero_()


def is_complex(input: Any) -> Any:
    """Whether the elements are complex numbers."""
    return input.is_complex()


def is_floating_point(input: Any) -> Any:
    """Whether the elements are floating-point numbers."""
    return input.is_floating_point()


def is_conj(input: Any) -> Any:
    """Whether `input` is a view of conjugates."""
    return input.is_conj()


def is_neg(input: Any) -> Any:
    """Whether `input` is a view of negatives."""
    return input.is_neg()


def detach(input: Any) -> Any:
    """The same memory outside the graph."""
    return input.detach()


def is_tensor(obj: Any) -> Any:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_inference(input: Any) -> Any:
    """Whether `input` was made in inference mode."""
    if not isinstance(input, Tensor):
        kind = type(input).__name__
        raise TypeError(f"is_inference(): argument 'input' (position 1) must be Tensor, not {kind}")
    return input.is_inference()
