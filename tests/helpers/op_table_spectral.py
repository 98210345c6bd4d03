"""Fourier transforms. See `op_case`."""

from __future__ import annotations

from op_case import Case

SPECTRAL: list[Case] = [
    Case("fft", lambda L, a: L.fft.fft(a), ((2, 5),)),
    Case("ifft of a part", lambda L, a: L.fft.ifft(a, n=3, norm="ortho"), ((2, 4),)),
    Case("rfft", lambda L, a: L.fft.rfft(a), ((2, 4),), numbers="real"),
    Case("irfft", lambda L, a: L.fft.irfft(a, n=5, norm="forward"), ((2, 3),), numbers="complex"),
]
