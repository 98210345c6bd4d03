"""A picture as TikZ, for a paper: each path, rectangle and text as a command of its own, with its numbers.

Formulas are the LaTeX of their trees. All other text is escaped; signs that LaTeX's fonts lack become
mathematics, and letters of other alphabets stay as they are, for LuaLaTeX and XeLaTeX.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from ..drawing.style import MARGIN, num
from ..player.still import SVG
from ..steps.frames import Frame
from ..words import clean
from .cascade import Style, sheet_rules, styled_parts

POINT = 0.75  # points in a pixel
NUMBERS = re.compile(r"[MLHVCAZmlhvcaz]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "A": 7, "Z": 0}
PLACE = re.compile(r"translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)")
PLAIN = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "\xa0": "~", "…": r"\ldots{}",
    "“": "``", "”": "''", "’": "'", "–": "--", "—": "---", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
MATH = {
    "−": "-", "×": r"\times", "·": r"\cdot", "→": r"\to", "←": r"\leftarrow", "∂": r"\partial", "±": r"\pm",
    "∅": r"\varnothing", "≤": r"\le", "≥": r"\ge", "≈": r"\approx", "≠": r"\ne", "∞": r"\infty",
    "√": r"\surd", "σ": r"\sigma", "γ": r"\gamma", "⊙": r"\odot", "ᵀ": r"^{\top}", "ᵢ": "_{i}",
    "⁻": "^{-}", "‖": r"\Vert", "✓": r"\checkmark",
}  # fmt: skip
ACCENTS = {"\u0304": r"\bar", "\u0305": r"\overline", "\u0307": r"\dot", "\u0302": r"\hat"}
Point = tuple[float, float]


def tikz_document(pictures: Sequence[str]) -> str:
    """Some pictures as a document with a page for each."""
    head = "\\documentclass[tikz,border=6pt]{standalone}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n"
    return head + "\n".join(pictures) + "\\end{document}\n"


def tikz_picture(tree: ElementTree.Element, frame: Frame | None = None) -> str:
    """A picture with resolved colors, and below it what its step says. Needs the packages tikz, amsmath and
    amssymb."""
    style = "".join(one.text or "" for one in tree.iter(f"{{{SVG}}}style"))
    commands = list(drawn_parts(tree, style))
    if frame is not None:
        left, top, *_ = map(float, tree.get("viewBox", "0 0 0 0").split())
        commands += list(caption(frame, left + MARGIN, top + float(tree.get("height", 0)) + MARGIN))
    colors = sorted({color for command in commands for color in re.findall(r"=mg([0-9A-F]{6})", command)})
    defined = [f"\\definecolor{{mg{color}}}{{HTML}}{{{color}}}" for color in colors]
    inside = "".join(f"  {line}\n" for line in (*defined, *commands))
    return f"\\begin{{tikzpicture}}[x={POINT}pt,y=-{POINT}pt]\n{inside}\\end{{tikzpicture}}\n"


def caption(frame: Frame, x: float, y: float) -> Iterator[str]:
    """The sentence of a step, and its arithmetic as formulas."""
    lines = [tex(clean(frame.text)), *(f"${line.latex}$" for line in frame.lines if line.latex)]
    for i, line in enumerate(lines):
        at = f"({num(x)},{num(y + i * 24)})"
        yield f"\\node[anchor=base west,inner sep=0pt] at {at} {{{line}}};"


def drawn_parts(tree: ElementTree.Element, css: str) -> Iterator[str]:
    """A command for each part of a picture that is to be seen."""
    places: dict[ElementTree.Element, Point] = {tree: (0.0, 0.0)}
    for element, style in styled_parts(tree, sheet_rules(css)):
        x, y = places[element]
        if moved := PLACE.search(element.get("transform", "")):
            x, y = x + float(moved[1]), y + float(moved[2])
        places |= dict.fromkeys(element, (x, y))
        kind = element.tag.rpartition("}")[2]
        if style.get("display") == "none" or style.get("visibility") == "hidden":
            continue
        if kind == "text":
            yield from text_node(element, style, x, y)
        elif element.get("class") == "paper":
            continue  # a page has its own
        elif kind in ("path", "rect", "circle") and (options := paint(style)):
            shape = {"path": path_shape, "rect": rect_shape, "circle": circle_shape}[kind](element, x, y)
            corners = f",rounded corners={num(float(element.get('rx', 0)) * POINT)}pt" * (kind == "rect")
            yield f"\\path[{options}{corners}] {shape};"


def paint(style: Style) -> str:
    """How a shape is filled and drawn; "" if it is not seen."""
    options = []
    for name, key in (("fill", "fill"), ("draw", "stroke")):
        color = style.get(key, "#000" if key == "fill" else "none")
        if color != "none":
            options.append(f"{name}={color_name(color)}")
            opacity = float(style.get(f"{key}-opacity", 1)) * float(style.get("opacity", 1))
            options += [f"{name} opacity={opacity:g}"] if opacity < 1 else []
    if any(option.startswith("draw=") for option in options):
        options.append(f"line width={num(float(style.get('stroke-width', 1)) * POINT)}pt")
        dashes = [float(n) * POINT for n in re.findall(r"[\d.]+", style.get("stroke-dasharray", ""))]
        if len(dashes) == 2:
            options.append(f"dash pattern=on {num(dashes[0])}pt off {num(dashes[1])}pt")
    return ",".join(options)


def color_name(color: str) -> str:
    """The name under which a color is defined."""
    digits = color.lstrip("#").upper()
    return "mg" + (digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))


def coordinate(x: float, y: float) -> str:
    """A place; 0 has no sign."""
    return f"({num(round(x, 1) + 0.0)},{num(round(y, 1) + 0.0)})"


def rect_shape(element: ElementTree.Element, x: float, y: float) -> str:
    left, top, width, height = (float(element.get(name, 0)) for name in ("x", "y", "width", "height"))
    return f"{coordinate(x + left, y + top)} rectangle {coordinate(x + left + width, y + top + height)}"


def circle_shape(element: ElementTree.Element, x: float, y: float) -> str:
    cx, cy, r = (float(element.get(name, 0)) for name in ("cx", "cy", "r"))
    return f"{coordinate(x + cx, y + cy)} circle[radius={num(r * POINT)}pt]"


def path_shape(element: ElementTree.Element, x: float, y: float) -> str:
    """The data of a path in TikZ's words, all of its places absolute."""
    words, parts, command = NUMBERS.findall(element.get("d", "")), [], ""
    at = start = (0.0, 0.0)
    while words:
        if words[0].isalpha():
            command = words.pop(0)
        count = ARGUMENTS[command.upper()]
        given = [float(word) for word in words[:count]]
        del words[:count]
        dx, dy = at if command.islower() else (0.0, 0.0)
        kind = command.upper()
        if kind == "Z":
            parts.append("-- cycle")
            at = start
            continue
        if kind in "HV":
            end = (given[0] + dx, at[1]) if kind == "H" else (at[0], given[0] + dy)
        else:
            end = given[-2] + dx, given[-1] + dy
        target = coordinate(end[0] + x, end[1] + y)
        if kind == "M":
            parts.append(target)
            start, command = end, "l" if command == "m" else "L"
        elif kind == "C":
            first, second = ((given[i] + dx + x, given[i + 1] + dy + y) for i in (0, 2))
            parts.append(f".. controls {coordinate(*first)} and {coordinate(*second)} .. {target}")
        elif kind == "A":
            parts += arc_curves(at, end, given[0], bool(given[3]), bool(given[4]), (x, y))
        else:
            parts.append(f"-- {target}")
        at = end
    return " ".join(parts)


def arc_curves(
    begin: Point, end: Point, radius: float, large: bool, sweep: bool, moved: Point
) -> Iterator[str]:
    """An arc of a circle as curves of at most a quarter each."""
    dx, dy = (end[0] - begin[0]) / 2, (end[1] - begin[1]) / 2
    half = math.hypot(dx, dy)
    if half == 0 or radius == 0:
        return
    radius = max(radius, half)
    height = math.sqrt(radius**2 - half**2) * (1 if large == sweep else -1) / half
    center = begin[0] + dx + height * dy, begin[1] + dy - height * dx
    first, last = (math.atan2(p[1] - center[1], p[0] - center[0]) for p in (begin, end))
    turn = (last - first) % (2 * math.pi) if sweep else -((first - last) % (2 * math.pi))
    count = max(1, math.ceil(abs(turn) / (math.pi / 2) - 1e-9))
    step = turn / count
    reach = 4 / 3 * math.tan(step / 4) * radius

    def on_circle(angle: float, along: float) -> str:
        x = center[0] + radius * math.cos(angle) - along * math.sin(angle) + moved[0]
        return coordinate(x, center[1] + radius * math.sin(angle) + along * math.cos(angle) + moved[1])

    for i in range(count):
        a, b = first + i * step, first + (i + 1) * step
        yield f".. controls {on_circle(a, reach)} and {on_circle(b, -reach)} .. {on_circle(b, 0)}"


def text_node(element: ElementTree.Element, style: Style, x: float, y: float) -> Iterator[str]:
    """A text with its anchor, color and font; the pieces inside it may be bold or slanted."""
    content = tex(element.text or "")
    for piece in element:
        classes = piece.get("class", "").split()
        bold = "\\bfseries" * ("name" in classes) + "\\itshape" * ("letter" in classes)
        inner = tex("".join(piece.itertext()))
        content += (f"{{{bold} {inner}}}" if bold else inner) + tex(piece.tail or "")
    if not content.strip():
        return
    anchor = {"middle": "base", "end": "base east"}.get(style.get("text-anchor", ""), "base west")
    size = float(style.get("font-size", 12)) * POINT
    family = "\\ttfamily" if "mono" in style.get("font-family", "") else "\\sffamily"
    weight = style.get("font-weight", "400")
    shape = "\\bfseries" * (weight == "bold" or (weight.isdigit() and int(weight) >= 600))
    shape += "\\itshape" * (style.get("font-style") == "italic")
    opacity = float(style.get("fill-opacity", 1)) * float(style.get("opacity", 1))
    options = f"anchor={anchor},inner sep=0pt,text={color_name(style.get('fill', '#000'))}"
    options += f",text opacity={opacity:g}" if opacity < 1 else ""
    at = coordinate(x + float(element.get("x", 0)), y + float(element.get("y", 0)))
    font = f"\\fontsize{{{num(size)}}}{{{num(size * 1.2)}}}\\selectfont{family}{shape}"
    yield f"\\node[{options},font={font}] at {at} {{{content}}};"


def tex(content: str) -> str:
    """Text for LaTeX: its own signs escaped, signs of mathematics and raised numbers as mathematics."""
    parts: list[str] = []
    for sign in unicodedata.normalize("NFD", content):
        if sign in ACCENTS and parts:
            parts[-1] = f"${ACCENTS[sign]}{{{parts[-1]}}}$"
        elif sign in MATH:
            parts.append(f"${MATH[sign]}$")
        elif (form := unicodedata.decomposition(sign)).startswith(("<super>", "<sub>")):
            plain = chr(int(form.split()[1], 16))
            parts.append(f"${'^' if form.startswith('<super>') else '_'}{{{plain}}}$")
        else:
            parts.append(PLAIN.get(sign, sign))
    return unicodedata.normalize("NFC", "".join(parts))
