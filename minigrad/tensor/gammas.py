"""Incomplete gamma functions and the zeta function of two variables."""

from __future__ import annotations

from typing import Any

from ..inplace import in_place
from ..ops import incomplete
from ..tensor_base import TensorBase
from .operands import choice, of_kinds
from .products import must_be_tensors


def igamma(input: Any, other: Any) -> Any:
    """The regularised lower incomplete gamma function: the integral of `t^(input-1) exp(-t)` from 0 to
    `other` as a part of that to infinity.
    """
    must_be_tensors("igamma", input=input, other=other)
    return incomplete.igamma(input, other)


def igammac(input: Any, other: Any) -> Any:
    """The regularised upper incomplete gamma function: 1 - `igamma`."""
    must_be_tensors("igammac", input=input, other=other)
    return incomplete.igammac(input, other)


@choice
def zeta(input: Any, other: Any) -> Any:
    """Hurwitz's zeta function: the sum of `(other + k)^-input` over all k ≥ 0; one may be a number."""
    ops = incomplete.special_zeta, incomplete.zeta_by_number, incomplete.zeta_of_number
    return of_kinds("special_zeta", input, other, *ops), (input, other)


class Gammas(TensorBase):
    """Incomplete gamma functions."""

    __slots__ = ()

    igamma, igammac = igamma, igammac

    def igamma_(self, other: Any) -> Any:
        """`igamma` in place."""
        return in_place(incomplete.igamma.op, self, other)

    def igammac_(self, other: Any) -> Any:
        """`igammac` in place."""
        return in_place(incomplete.igammac.op, self, other)
