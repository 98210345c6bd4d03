"""Methods that few programs need: their modules are loaded when one of them is first used.

That is 4 ms of importing minigrad, a sixth. Each method is defined in a class of its module; one that is
added there is added here, by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..later import late_modules
from ..tensor_base import TensorBase
from .late import Late

METHODS = {
    "contractions.Contractions": "matrix_power",
    "cumulative.Cumulative": "cumsum cumprod cummax cummin logcumsumexp diff cumsum_ cumprod_",
    "factors.Factors": "pinverse qr svd",
    "gammas.Gammas": "igamma igammac igamma_ igammac_",
    "least_squares.LeastSquares": "geqrf matrix_exp orgqr ormqr",
    "lu.LU": "lu lu_solve",
    "matrices.Matrices": "inverse det logdet slogdet",
    "products.Products": """
    addmm addmv addr addbmm baddbmm bmm outer ger inner cross addmm_ addmv_ addr_ addbmm_ baddbmm_
    """,
    "sorting.Sorting": "sort argsort msort topk unique unique_consecutive",
    "spectra.Spectra": "stft istft",
    "statistics.Statistics": """
    norm dist renorm trace softmax log_softmax quantile nanquantile renorm_ cov corrcoef histc bincount
    histogram
    """,
    "triangular.Triangular": "cholesky cholesky_inverse cholesky_solve triangular_solve",
    "view_copies.ViewCopies": "narrow_copy",
}  # fmt: skip
# Modules of functions alone, which those need.
late_modules(__package__, "differences distances einsums grids lowrank matrix_norms norms")


def waiting(path: str, names: str) -> dict[str, Late]:
    """The methods of a class, named as `module.Class`, which wait for their module."""
    module, _, kind = path.partition(".")
    (home,) = late_modules(__package__, module)
    return {name: Late(home, f"{kind}.{name}") for name in names.split()}


if TYPE_CHECKING:
    from .contractions import Contractions
    from .cumulative import Cumulative
    from .factors import Factors
    from .gammas import Gammas
    from .least_squares import LeastSquares
    from .lu import LU
    from .matrices import Matrices
    from .products import Products
    from .sorting import Sorting
    from .spectra import Spectra
    from .statistics import Statistics
    from .triangular import Triangular
    from .view_copies import ViewCopies

    class Families(
        Contractions, Cumulative, Factors, Gammas, LeastSquares, LU, Matrices, Products, Sorting,
        Spectra, Statistics, Triangular, ViewCopies,
    ):  # fmt: skip
        """Products and factors of matrices, sorting, cumulative sums, statistics and the like."""

        __slots__ = ()

else:
    members = {name: late for path, names in METHODS.items() for name, late in waiting(path, names).items()}
    Families = type("Families", (TensorBase,), {"__module__": __name__, "__slots__": (), **members})
