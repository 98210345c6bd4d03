"""Ops of complex numbers. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case, each, pairs


def mask(L: Any, *a: Any) -> Any:
    """Where the first of some tensors is large."""
    return a[0].detach().abs() > 1.3


COMPLEX: list[Case] = [
    *each("conj", lambda L, a: a.conj()),
    *each("conj of conj", lambda L, a: L.conj(a.conj())),
    *each("real", lambda L, a: a.real),
    *each("angle", lambda L, a: a.angle(), -2, 2),
    *each("sgn", lambda L, a: L.sgn(a), -2, 2),
    *each("imag", lambda L, a: L.imag(a), numbers="complex"),
    *each("resolve_conj", lambda L, a: a.conj().resolve_conj(), numbers="complex"),
    *each("real of conj", lambda L, a: a.conj().real, numbers="complex"),
    *each("imag of conj", lambda L, a: a.conj().imag, numbers="complex"),
    *each("resolve_neg", lambda L, a: a.conj().imag.resolve_neg(), numbers="complex"),
    *each("conj times", lambda L, a: a.conj() * a),
    *each("conj and more", lambda L, a: a.conj().exp() / a.conj()),
    *each("view_as_real", lambda L, a: L.view_as_real(a), numbers="complex"),
    *each("view_as_real of conj", lambda L, a: L.view_as_real(a.conj().resolve_conj()), numbers="complex"),
    *each("mul complex number", lambda L, a: a * (1 + 2j)),
    *each("add complex number", lambda L, a: 1j + a),
    *each("sub complex number", lambda L, a: 1j - a),
    *each("div complex number", lambda L, a: a / (1 + 2j)),
    *each("complex number div", lambda L, a: 2j / a),
    *each("pow complex number", lambda L, a: a ** (0.5 + 1j)),
    *each("complex number pow", lambda L, a: (1 + 0.5j) ** a),
    *each("zero pow complex", lambda L, a: 0**a, numbers="complex", smooth=False),
    *each("to complex128", lambda L, a: a.to(L.complex128) * 1j, smooth=False),
    *each("to complex64", lambda L, a: a.cfloat() * 2, smooth=False),
    *each("complex to real", lambda L, a: a.to(L.float32) * 2, numbers="complex", smooth=False),
    *pairs("add alpha complex", lambda L, a, b: L.add(a, b, alpha=2j), numbers="complex"),
    *pairs("sub alpha complex", lambda L, a, b: L.sub(a, b, alpha=1 + 2j), numbers="complex"),
    *pairs("complex", lambda L, a, b: L.complex(a, b), numbers="real"),
    *pairs("polar", lambda L, a, b: L.polar(a, b), numbers="real"),
    *pairs("real and complex", lambda L, a, b: a.real * b + b / a.real - a.real, numbers="complex"),
    *pairs("real to complex", lambda L, a, b: a.real**b, numbers="complex"),
    *pairs("complex to real power", lambda L, a, b: a**b.real, numbers="complex"),
    *pairs("where complex", lambda L, a, b: L.where(mask(L, a), a, b)),
    Case("view_as_complex", lambda L, a: L.view_as_complex(a), ((3, 2),), numbers="real"),
    Case("view_as_complex row", lambda L, a: L.view_as_complex(a), ((2,),), numbers="real"),
    Case("vdot", lambda L, a, b: L.vdot(a, b), ((3,), (3,))),
    Case("vdot method", lambda L, a, b: a.vdot(b), ((1,), (1,))),
    Case("stack real and complex", lambda L, a, b: L.stack([a.real, b]), ((3,), (3,))),
    Case("cat real and complex", lambda L, a, b: L.cat([a.real, b, a]), ((3,), (2,))),
    Case("conj of mm", lambda L, a, b: a.mH @ b, ((2, 3), (2, 2))),
    Case("conj view mm", lambda L, a, b: (a @ b).conj().t(), ((2, 3), (3, 2))),
    Case("sgn at zero", lambda L, a: a.sgn(), ([0.0, 1.5, -2.0],), smooth=False, twice=False),
    Case("angle at zero", lambda L, a: a.angle(), ([0.0, 1.5, -2.0],), smooth=False, twice=False),
    Case("power spectrum", lambda L, a: (a * a.conj()).real.sum(), ((2, 3),)),
]
