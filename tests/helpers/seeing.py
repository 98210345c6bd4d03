"""How colors look with color blindness, and how different they look."""

from __future__ import annotations

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
# IEEE Transactions on Visualization and Computer Graphics 15(6), 2009: the matrices of severity 1.0, for
# linear RGB. Of achromatopsia only the luminance is left (ITU-R BT.709).
VISIONS = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
    "achromatopsia": ((0.2126, 0.7152, 0.0722),) * 3,
}  # fmt: skip


def linear(colour):
    """Linear RGB, 0 to 1, of `#fff`, `#ffffff` or (255, 255, 255)."""
    if isinstance(colour, str):
        digits = colour.removeprefix("#")
        digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
        colour = [int(digits[i : i + 2], 16) for i in (0, 2, 4)]
    shares = [c / 255 for c in colour]
    return [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]


def seen(rgb, vision):
    """What is seen of linear RGB."""
    return [min(1.0, max(0.0, sum(a * b for a, b in zip(row, rgb)))) for row in VISIONS[vision]]


def lab(rgb):
    """CIELAB (D65) of linear RGB."""
    r, g, b = rgb
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(one, other, vision="usual"):
    """The difference of two colors as ΔE*ab (CIE 1976); about 2.3 can just be seen."""
    pair = (lab(seen(linear(colour), vision)) for colour in (one, other))
    return sum((a - b) ** 2 for a, b in zip(*pair)) ** 0.5


def contrast(one, other):
    """The contrast ratio of two colors, 1 to 21 (WCAG 2)."""
    low, high = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other)))
    return (high + 0.05) / (low + 0.05)
