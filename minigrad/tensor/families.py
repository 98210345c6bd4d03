"""All members of `Tensor` but those that it cannot do without: their modules are loaded when one of them is
first used.

Each is defined in a class of its module; one that is added there is added here, by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..later import late_modules
from ..tensor_base import TensorBase
from .late import Late

MEMBERS = {
    "arithmetic.Arithmetic": """
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __div__ __rdiv__ __pow__
    __rpow__ __neg__ __pos__ __abs__ add sub subtract mul multiply pow neg reciprocal exp log sqrt sin cos
    tanh sigmoid relu abs absolute sign
    """,
    "arithmetic.Comparison": "__hash__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __invert__",
    "arithmetic.InPlace": """
    add_ sub_ subtract_ mul_ multiply_ pow_ __iadd__ __isub__ __imul__ __ipow__ neg_ exp_ log_ sqrt_ sin_
    cos_ reciprocal_ abs_ absolute_ sgn_ sign_ tanh_ sigmoid_ relu_ copy_ fill_ zero_
    """,
    "binary.Binary": """
    div divide true_divide floor_divide fmod remainder clamp clip clamp_min clamp_max maximum minimum fmax
    fmin atan2 arctan2 hypot ldexp logaddexp logaddexp2 gcd lcm heaviside copysign xlogy float_power lerp
    addcmul addcdiv
    """,
    "binary.BinaryInPlace": """
    div_ divide_ true_divide_ floor_divide_ fmod_ remainder_ clamp_ clip_ clamp_min_ clamp_max_ atan2_
    arctan2_ hypot_ ldexp_ heaviside_ copysign_ xlogy_ gcd_ lcm_ lerp_ addcmul_ addcdiv_ __itruediv__
    __idiv__ __ifloordiv__ __imod__ float_power_
    """,
    "casts.Casts": """
    to half float double char short int long byte bool cfloat cdouble bfloat16 chalf type type_as
    is_nonzero
    """,
    "comparing.Bits": """
    bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift bitwise_and_ bitwise_or_
    bitwise_xor_ bitwise_left_shift_ bitwise_right_shift_ __and__ __or__ __xor__ __rand__ __ror__ __rxor__
    __lshift__ __rshift__ __rlshift__ __rrshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__
    __floordiv__ __rfloordiv__ __mod__ __rmod__ bitwise_not bitwise_not_
    """,
    "comparing.Comparing": """
    eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
    isclose allclose equal eq_ ne_ lt_ le_ gt_ ge_ not_equal_ less_ less_equal_ greater_ greater_equal_
    logical_and_ logical_or_ logical_xor_ logical_not logical_not_
    """,
    "complexes.Complexes": """
    is_complex is_floating_point is_conj is_neg conj conj_physical conj_physical_ resolve_conj resolve_neg
    real imag angle sgn vdot
    """,
    "contractions.Contractions": "matrix_power",
    "copying.Copying": "__deepcopy__ __reduce_ex__",
    "cumulative.Cumulative": "cumsum cumprod cummax cummin diff cumsum_ cumprod_",
    "elementary.Elementary": """
    negative acos asin atan acosh asinh atanh arccos arcsin arctan arccosh arcsinh arctanh tan sinh cosh
    sinc deg2rad rad2deg exp2 expm1 rsqrt square logit log1p log10 log2 erf erfc erfinv igamma igammac
    lgamma digamma i0 polygamma
    """,
    "elementary.ElementaryInPlace": """
    negative_ acos_ asin_ atan_ acosh_ asinh_ atanh_ arccos_ arcsin_ arctan_ arccosh_ arcsinh_ arctanh_
    tan_ sinh_ cosh_ sinc_ deg2rad_ rad2deg_ exp2_ expm1_ rsqrt_ log1p_ log10_ log2_ erf_ erfc_ erfinv_
    igamma_ igammac_ lgamma_ digamma_ i0_ square_ logit_ polygamma_
    """,
    "elementary.Rounding": """
    ceil floor trunc frac fix round nan_to_num isfinite isinf isnan isposinf isneginf isreal signbit ceil_
    floor_ trunc_ frac_ fix_ round_ nan_to_num_
    """,
    "factors.Factors": "pinverse qr svd",
    "gathering.Gathering": """
    gather take put index_select index_copy masked_select masked_scatter index_put index_add index_fill
    scatter scatter_add take_along_dim nonzero argwhere where masked_fill
    """,
    "gathering.WritingAtIndices": """
    index_put_ index_add_ index_copy_ index_fill_ put_ scatter_ scatter_add_ masked_fill_ masked_scatter_
    """,
    "indexing.Indexing": "__getitem__ __setitem__ __len__",
    "making.Exchange": """
    device layout cpu get_device is_cuda is_cpu is_sparse cuda __array_wrap__
    """,
    "making.Making": "new_zeros new_ones new_empty new_full new_empty_strided new_tensor",
    "making.Random": "uniform_ normal_ random_ exponential_ bernoulli_ bernoulli multinomial",
    "matrices.Matrices": "inverse det logdet slogdet",
    "memory.Memory": """
    _base _is_view is_inference resize_ resize_as_ set_ t_ transpose_ swapdims_ swapaxes_ unsqueeze_
    squeeze_ as_strided_
    """,
    "parts.Parts": """
    unbind split split_with_sizes chunk tensor_split hsplit vsplit dsplit unsafe_split
    unsafe_split_with_sizes unsafe_chunk __iter__
    """,
    "products.Products": "addmm addmv addr baddbmm bmm outer ger inner cross addmm_ addmv_ addr_ baddbmm_",
    "properties.Applied": "__contains__ __reversed__ __delitem__ apply_ _written fill_diagonal_",
    "properties.Properties": """
    is_meta is_nested is_quantized is_mkldnn is_mps is_xpu is_xla is_ipu is_maia is_mtia is_vulkan
    is_sparse_csr coalesce is_coalesced indices values is_same_size is_signed itemsize nbytes name
    grad_dtype ndimension is_shared is_pinned is_distributed share_memory_ pin_memory to_dense dense_dim
    sparse_dim untyped_storage storage as_subclass new
    """,
    "rearranging.Rearranging": """
    fliplr flipud diag diagflat kron repeat_interleave flip roll rot90 repeat tile tril triu tril_ triu_
    sum_to_size
    """,
    "reductions.Reductions": """
    sum nansum mean nanmean prod max min amax amin aminmax argmax argmin all any count_nonzero median
    nanmedian kthvalue var std logsumexp
    """,
    "shapes.Algebra": "dot mv mm matmul __matmul__ __rmatmul__",
    "sorting.Sorting": "sort argsort msort topk unique",
    "statistics.Statistics": """
    norm dist trace softmax log_softmax quantile nanquantile cov corrcoef histc bincount histogram
    """,
    "triangular.Triangular": "cholesky cholesky_solve",
    "view_methods.Views": """
    view reshape view_as reshape_as expand_as expand unsqueeze broadcast_to flatten unflatten ravel
    squeeze select narrow diagonal diag_embed unfold as_strided permute transpose swapdims swapaxes
    movedim moveaxis t adjoint stride is_contiguous data_ptr nelement positive storage_offset
    """,
}  # fmt: skip
# Modules without such a class, which those need.
HELPERS = "differences distances einsums grids least_squares matrix_norms norms storages views"
late_modules(__package__, HELPERS)


def waiting(path: str, names: str) -> dict[str, Late]:
    """The members of a class, named as `module.Class`, which wait for their module."""
    module, _, kind = path.partition(".")
    (home,) = late_modules(__package__, module)
    return {name: Late(home, f"{kind}.{name}") for name in names.split()}


if TYPE_CHECKING:
    from .arithmetic import Arithmetic, Comparison, InPlace
    from .binary import Binary, BinaryInPlace
    from .casts import Casts
    from .comparing import Bits, Comparing
    from .complexes import Complexes
    from .contractions import Contractions
    from .copying import Copying
    from .cumulative import Cumulative
    from .elementary import Elementary, ElementaryInPlace, Rounding
    from .factors import Factors
    from .gathering import Gathering, WritingAtIndices
    from .indexing import Indexing
    from .making import Exchange, Making, Random
    from .matrices import Matrices
    from .memory import Memory
    from .parts import Parts
    from .products import Products
    from .properties import Applied, Properties
    from .rearranging import Rearranging
    from .reductions import Reductions
    from .shapes import Algebra
    from .sorting import Sorting
    from .statistics import Statistics
    from .triangular import Triangular
    from .view_methods import Views

    class Families(
        Algebra, Applied, Arithmetic, Binary, BinaryInPlace, Bits, Casts, Comparing, Comparison,
        Complexes, Contractions, Copying, Cumulative, Elementary, ElementaryInPlace, Exchange,
        Factors, Gathering, Indexing, InPlace, Making, Matrices, Memory,
        Parts, Products, Properties, Random, Rearranging, Reductions, Rounding, Sorting,
        Statistics, Triangular, Views, WritingAtIndices,
    ):  # fmt: skip
        """What the modules above define."""

        __slots__ = ()

else:
    members = {name: late for path, names in MEMBERS.items() for name, late in waiting(path, names).items()}
    Families = type("Families", (TensorBase,), {"__module__": __name__, "__slots__": (), **members})
