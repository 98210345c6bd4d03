"""minigrad: automatic differentiation on NumPy with PyTorch's API and observable behaviour.

`import minigrad as torch` runs ordinary autograd code. `set_dialect("1.4" | "2")` chooses whose names are
printed.

Importing it loads the class `Tensor` and what it cannot do without. Functions of those modules are imported
here; a name of any other module is a word in the table `_LATER`: the module is loaded when the name is first
used. So it is with most members of `Tensor`, whose table is in `tensor.families`.
"""

from __future__ import annotations

import math as _math
from typing import TYPE_CHECKING, Any

from . import explained, in_place_functions, inplace, ops, outs
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from .creation import LATER as _CREATED
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
    tensor,
)
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
    bfloat16,
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
from .dtypes import (
    bool_ as bool,
)
from .later import later as _later
from .modes import is_grad_enabled, is_inference_mode_enabled
from .op import F as _F
from .tensor import Size, Tensor

float = float32
double = float64
half = float16
short = int16
int = int32
long = int64

e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi
cfloat, cdouble = complex64, complex128
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


def get_device(input: Any) -> Any:
    """-1, as for every tensor on the CPU."""
    return input.get_device()


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


# What is loaded when it is first used, by module: a name is added as one more word.
_LATER = {
    "": """
    backends cuda fft func linalg nn optim random return_types special testing utils version accelerator
    """,
    "autograd.anomaly_mode": "is_anomaly_check_nan_enabled is_anomaly_enabled set_anomaly_enabled",
    "creation": " ".join(_CREATED.values()),
    "creation.ranges": "range=inclusive_range",
    "func": "vmap",
    "generator": "Generator default_generator",
    "nn.functional.activations": "celu hardshrink prelu selu threshold",
    "nn.functional.convolution": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    "nn.functional.distances": "cosine_similarity pairwise_distance",
    "nn.functional.in_place": "celu_ selu_ threshold_",
    "nn.functional.normalisation": "rms_norm",
    "nn.functional.pooling": "adaptive_avg_pool1d avg_pool1d",
    "ops.arithmetic": "mul neg reciprocal negative=neg multiply=mul",
    "ops.circular": """
    acos acosh asin asinh atan atanh cosh deg2rad rad2deg sinc sinh tan arccos=acos arcsin=asin
    arctan=atan arccosh=acosh arcsinh=asinh arctanh=atanh
    """,
    "ops.complexes": """
    angle conj conj_physical imag real resolve_conj resolve_neg view_as_complex view_as_real
    complex=complex_of_tensors polar=polar_of_tensors
    """,
    "ops.copies": "clone",
    "ops.counting": "trace",
    "ops.exponential": "exp2 expm1 log1p log2 log10 logit rsqrt square",
    "ops.indexing_along": "index_copy index_select",
    "ops.joining": """
    cat split_with_sizes stack unbind unsafe_split unsafe_split_with_sizes concat=cat concatenate=cat
    """,
    "ops.linalg": "bmm dot mm mv vdot",
    "ops.masking": "masked_scatter masked_select",
    "ops.normal": "erf erfc erfinv",
    "ops.padding": "constant_pad_nd",
    "ops.picking": "put take",
    "ops.pointwise": """
    abs cos exp log relu sgn sigmoid sign sin sqrt tanh absolute=abs bitwise_not logical_not
    """,
    "ops.rearranging": "channel_shuffle pixel_shuffle pixel_unshuffle tril triu",
    "ops.rounding": """
    ceil floor frac isfinite isinf isnan isneginf isposinf isreal nan_to_num round signbit trunc fix=trunc
    """,
    "ops.scattering": "gather",
    "ops.shape": "permute reshape t transpose unsqueeze swapaxes=transpose swapdims=transpose",
    "ops.softmax": "_softmax_backward_data",
    "ops.special": "digamma i0 igamma igammac lgamma polygamma i0 digamma lgamma polygamma",
    "ops.views": "diag_embed diagonal",
    "printing": "printoptions set_printoptions",
    "random": "get_rng_state initial_seed manual_seed seed set_rng_state",
    "serialization": "load save",
    "settings": """
    are_deterministic_algorithms_enabled compile get_default_device get_deterministic_debug_mode
    get_float32_matmul_precision get_num_interop_threads get_num_threads
    is_deterministic_algorithms_warn_only_enabled is_storage is_warn_always_enabled set_default_device
    set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads
    set_num_threads set_warn_always typename use_deterministic_algorithms
    """,
    "tensor.arithmetic": "add sub pow=power subtract=sub",
    "tensor.binary": """
    arctan2 maximum minimum fmax fmin atan2 hypot ldexp logaddexp logaddexp2 gcd lcm addcdiv addcmul clamp
    clamp_max clamp_min copysign div float_power floor_divide fmod heaviside lerp remainder rsub xlogy
    clip=clamp divide=div true_divide=div
    """,
    "tensor.casts": "can_cast finfo iinfo is_nonzero numel promote_types result_type",
    "tensor.comparing": """
    allclose bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor eq equal ge gt
    isclose isin le logical_and logical_or logical_xor lt ne less=lt less_equal=le greater=gt
    greater_equal=ge not_equal=ne
    """,
    "tensor.contractions": "chain_matmul matrix_power",
    "tensor.cumulative": "cummax cummin cumprod cumsum",
    "tensor.differences": "diff trapezoid trapz=trapezoid",
    "tensor.distances": "cdist",
    "tensor.einsums": "einsum",
    "tensor.factors": "pinverse qr=torch_qr svd=torch_svd",
    "tensor.gathering": """
    argwhere index_add index_fill index_put nonzero scatter scatter_add take_along_dim where
    """,
    "tensor.grids": "broadcast_shapes cartesian_prod meshgrid",
    "tensor.matrices": "det inverse logdet slogdet=torch_slogdet",
    "tensor.norms": "dist norm",
    "tensor.parts": "chunk dsplit hsplit split tensor_split unsafe_chunk vsplit",
    "tensor.products": "addmm addmv addr baddbmm bilinear cross inner outer tensordot ger=outer",
    "tensor.properties": "is_same_size is_signed",
    "tensor.rearranging": """
    column_stack diag diagflat dstack flip fliplr flipud hstack kron repeat_interleave roll rot90 tile
    unravel_index vstack row_stack=vstack
    """,
    "tensor.reductions": """
    all amax amin aminmax any argmax argmin count_nonzero kthvalue logsumexp max mean median min nanmean
    nanmedian nansum prod std std_mean sum var var_mean
    """,
    "tensor.shapes": "matmul",
    "tensor.sorting": "argsort bucketize msort searchsorted sort topk unique",
    "tensor.statistics": "bincount corrcoef cov histc histogram log_softmax nanquantile quantile softmax",
    "tensor.triangular": "cholesky cholesky_solve",
    "tensor.view_methods": "positive squeeze",
    "tensor.views": """
    adjoint atleast_1d atleast_2d atleast_3d broadcast_tensors flatten movedim narrow ravel unflatten
    as_strided=as_strided_view moveaxis=movedim
    """,
    "tensor": " ".join(f"{_name}=Tensor.{_name}" for _name in in_place_functions.NAMES.split()),
    "nn.functional.dropout": "dropout=torch_dropout",
}  # fmt: skip
explained.attach_methods(Tensor)
outs.attach(globals())
__getattr__, __dir__ = _later(globals(), _LATER, outs.attached)
__all__ = [_name for _name in __dir__() if not _name.startswith("_")]  # for `from minigrad import *`

if TYPE_CHECKING:
    from . import (
        backends,
        cuda,
        fft,
        func,
        linalg,
        nn,
        optim,
        random,
        special,
        testing,
        utils,
    )
