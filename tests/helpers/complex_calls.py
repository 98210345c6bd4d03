"""Calls on complex numbers, right and wrong ones: what they give is compared in `test_complex`."""

from __future__ import annotations

CALLS = """
z + 1 | z - 1j | 1j - z | -z | z * r | r * z | z / 2j | 2j / z | z @ z | r + 1j | r * 1j
i * 1j | i / 1j | d * 1j | d + z | r * w | s * r | w * L.tensor(2.0) | t * r
1j + L.tensor(True) | d * s | z**2 | z**0.5 | z**1j | r**1j | 2**z | z**z | z**r | r**z
z**-1 | z**0 | i**1j | z**i | z.exp() | z.log() | z.sqrt() | z.sin() | z.cos() | z.tanh()
z.sigmoid() | z.reciprocal() | z.neg() | z.abs() | abs(w) | L.abs(z).dtype.is_complex | z.sgn()
z.sign() | z.relu() | z.angle() | r.angle() | i.angle()
L.angle(L.tensor([float('nan'), -1.0, -0.0])) | L.sgn(L.tensor([0j, complex('nan')])) | z < z | z < 1
z >= r | r > 1j | z <= z | z == z | z != 1 | z == 1 + 2j | ~z | z.argmax() | z.sum() | m.sum(0)
z.mean() | m.mean(1, keepdim=True) | L.zeros_like(z) | L.ones_like(z) | z.dot(z) | L.vdot(z, z)
L.dot(z, r) | L.vdot(z, r) | L.vdot(z, L.ones(3, dtype=L.complex64)) | L.vdot(m, z)
L.vdot(r, r + 1) | m @ z | z @ m | m @ m | m @ r | m.mm(r) | L.bmm(m[None], m[None]) | z.conj()
z.conj().is_conj() | z.conj().conj().is_conj() | r.conj() is r | r.is_conj() | z.is_conj()
z.conj().clone().is_conj() | z.conj()[0].is_conj() | (z.conj() * 1).is_conj()
z.conj().t().is_conj() | z.conj().to(L.complex128) | z.conj().to(L.complex64).is_conj()
z.conj().detach().is_conj() | z.conj().data.is_conj() | z.conj().contiguous().is_conj()
z.conj().resolve_conj() | z.conj().unbind()[1] | z.resolve_conj() is z | z.resolve_neg() is z
z.conj().imag | z.conj().imag.is_neg() | z.conj().real | z.conj().imag.resolve_neg()
z.conj().imag.resolve_neg().is_neg() | z.conj().imag * 2 | z.conj().imag[1] | z.conj().numpy()
z.conj().imag.numpy() | z.conj().resolve_conj().numpy().tolist() | z.numpy().tolist()
z.conj().tolist() | s.conj().item() | str(z.conj()) | repr(z.conj().imag) | complex(s.conj())
bool(s) | L.view_as_real(z.conj()) | L.view_as_real(z) | L.view_as_real(r) | L.view_as_real(s)
z.view(2, 1) | L.view_as_complex(r) | L.view_as_complex(L.zeros(2, 3))
L.view_as_complex(L.zeros(2, 2, dtype=L.int32)) | L.view_as_complex(L.tensor(1.0))
L.view_as_complex(L.zeros(2, 3).t()) | L.view_as_complex(d) | L.view_as_complex(L.zeros(2, 5)[:, :2])
L.view_as_complex(L.zeros(4)[1:3]) | L.complex(r, r) | L.complex(d, d) | L.complex(r, L.zeros(3))
L.complex(r, d) | L.complex(i, i) | L.complex(L.zeros(2, 1), L.ones(3))
L.complex(L.tensor(1.0), L.tensor(2.0)) | L.polar(r, r) | L.polar(d, d) | L.polar(i, r)
L.polar(r, d) | z.real | z.imag | s.real | s.imag | r.real is r | r.imag | L.imag(r) | L.real(z)
z.H | m.H | m.mH | m.adjoint() | m.mH.is_conj() | m.mH.mH
L.conj(z) | L.resolve_conj(z) | L.is_complex(z)
z.is_complex() | r.is_complex() | z.is_floating_point() | L.is_floating_point(r)
L.where(i > 1, z, r) | L.where(i > 1, z, 0.0) | L.where(i > 1, r, 1j) | L.cat([z, r])
L.stack([r, z]) | z.masked_fill(i > 1, 1j) | r.masked_fill(i > 1, 1j) | r.masked_fill(i, 1)
z.double() | z.float() | z.long() | z.bool() | z.cfloat() | z.cdouble() | r.cdouble()
r.to(L.complex64) | z.to(L.float64) | i.cfloat() | float(s) | int(s) | float(L.tensor(1 + 0j))
complex(s) | complex(L.tensor(2.0)) | s.item() | s.__index__() | f'{s}' | f'{s:.2f}' | z.tolist()
z.item() | L.full((2,), 1j) | L.ones(2, dtype=L.complex64) | L.arange(3, dtype=L.complex64)
L.linspace(0, 1, 3, dtype=L.complex64) | L.zeros(2, dtype=L.complex128) | L.tensor([1, 2.0, 3j])
L.tensor([True, 1j]) | L.tensor(1j, dtype=L.float32) | L.tensor([1j], dtype=L.float64)
L.tensor([1j], dtype=L.int64) | L.tensor([1, 2], dtype=L.complex64) | L.tensor(z.conj())
L.tensor([s, 1]) | L.complex64.is_complex | L.float32.is_complex | L.complex64.to_real().is_complex
L.float64.to_complex().is_complex | r.clone().fill_(1j) | r.clone().add_(1j) | r.clone().mul_(z)
r.clone().copy_(z) | z.clone().copy_(r) | z.clone().add_(r) | z.clone().mul_(1j) | z.clone().div_(2)
z.clone().pow_(2) | z.clone().neg_() | z.clone().exp_() | z.clone().fill_(1j) | z.clone().zero_()
z.clone().sub_(z) | i.clone().add_(1j) | z.sum().backward() | z.requires_grad
L.tensor([1j], requires_grad=True) | z.expand(2, 2) | z[None, 1] | L.tensor(['a']) | z.diagonal()
m.diagonal().conj() | z.unfold(0, 1, 1) | m.split(1, 1)[1] | len(z)
"""
