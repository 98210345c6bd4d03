"""What readers can see: colors with color blindness, contrast, and motion."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab import find_chromium
from pictures import SVG, draw, parse, polyline
from seeing import VISIONS, apart, contrast, linear
from signed import SIGNED, second_backward, with_card, with_deck
from sketches import GRAPHS, code_4, code_9, many_uses

import minigrad_viz
from minigrad_viz.drawing.style import DARK, LIGHT, css, rules
from minigrad_viz.trace.graph import SavedChip

THEMES = {"light": LIGHT, "dark": DARK}
ENOUGH = 10.0  # ΔE*ab that is seen at a glance; 2.3 can just be seen side by side

# Pairs of colors that must look different, and what besides the color distinguishes them.
PAIRS = {
    ("leaf", "node"): "place", ("root", "node"): "place", ("chip", "node"): "shape",
    ("leaf", "root"): "role", ("leaf", "head"): "role", ("root", "head"): "role",
    ("chip", "freed"): "struck", ("error", "node"): "label", ("error", "head"): "label",
    ("error", "chip"): "label", ("error", "active"): "border", ("active", "node"): "border",
    ("active", "leaf"): "border", ("active", "root"): "border", ("active", "head"): "border",
    ("grad", "line"): "heads",
}  # fmt: skip
# Where color alone is not enough.
NOT_BY_COLOUR = {
    ("light", "achromatopsia"): {("active", "node"), ("active", "head"), ("grad", "line")},
    ("dark", "achromatopsia"): {
        ("leaf", "root"), ("active", "leaf"), ("active", "root"), ("error", "active"),
    },
    ("dark", "tritanopia"): {("leaf", "root")},
    ("dark", "protanopia"): {("error", "active")},
}  # fmt: skip


def test_the_measures_are_right():
    """Against published values: white on black, the primaries, and what is grey to everybody."""
    assert contrast("#fff", "#000") == pytest.approx(21) and contrast("#767676", "#fff") == pytest.approx(
        4.54, abs=0.01
    )
    assert apart("#fff", "#000") == pytest.approx(100, abs=0.1)
    assert apart("#f00", "#0f0") == pytest.approx(170.6, abs=0.5)
    for vision in VISIONS:
        assert apart("#808080", "#fff", vision) == pytest.approx(apart("#808080", "#fff"), abs=0.5)
    assert apart("#D55E00", "#009E73", "deuteranopia") < 0.6 * apart("#D55E00", "#009E73")
    assert linear("#fff") == linear((255, 255, 255)) == [1, 1, 1]


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", THEMES)
def test_what_differs_is_told_apart(theme, vision):
    colours = THEMES[theme]
    close = {pair for pair in PAIRS if apart(colours[pair[0]], colours[pair[1]], vision) < ENOUGH}
    assert close == NOT_BY_COLOUR.get((theme, vision), set())


def test_none_of_it_is_told_by_colour_alone():
    told = set()
    root, elements = parse(draw(code_9(), lang="en")[0])
    roles = {
        e.get("class"): e.find(SVG + "text[@class='role']")
        for e in root.iter()
        if "card" in (e.get("class") or "")
    }
    assert (roles["card leaf"].text, roles["card root"].text, roles["card result"]) == ("leaf", "root", None)
    told.add("role")
    head, deck = (elements[id].find(f"{SVG}path") for id in ("s0-c0", "s0-d"))
    assert deck.get("d").split("a")[0] != head.get("d").split("a")[0], "the node stands below the tensor"
    told.add("place")
    assert (
        elements["s1-k0"].find(SVG + "rect").get("rx") == "4" and elements["s1-d"].find(SVG + "rect") is None
    )
    told.add("shape")
    assert re.search(r"\.chip\.freed text\{[^}]*line-through", rules())
    told.add("struck")
    _, failed = parse(draw(second_backward(), lang="en")[0])
    assert "stopped here" in "".join(failed["s2-d"].itertext()), "and bold on a thick border"
    told.add("label")
    for colours in THEMES.values():  # an active part has a border of ink, one that failed a red one
        for vision in VISIONS:
            assert apart(colours["ink"], "#7a2f00", vision) > ENOUGH
            assert apart(colours["ink"], colours["nodeline"], vision) > ENOUGH
            assert apart(colours["ink"], colours["leafline"], vision) > ENOUGH
    assert re.search(r"\.card\.active>\.head\{[^}]*stroke:var\(--ink\);stroke-width:2", rules())
    told.add("border")
    there, back = (polyline(elements[id].find(SVG + "path").get("d")) for id in ("r2", "r2-g"))
    assert (there[-1][0] - there[0][0]) * (back[-1][0] - back[0][0]) < 0 and "r2-p" in elements
    told.add("heads")
    assert told == set(PAIRS.values())


def test_error_and_cause_differ_in_black_and_white():
    for part in (
        "deck.cause>.box",
        "card.cause>.box",
        "edge.cause path",
        "chip.cause rect",
        "tag.cause rect",
    ):
        rule = next(rule for rule in rules().split("}") if part in rule)
        assert "stroke-dasharray" in rule
    assert "dash" not in re.search(r"\.deck\.error>\.box,[^}]*", rules())[0]


# ------------------------------------------------------------------------------------------------- contrast

CONTRAST = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const painted = (shape) => {
    const style = getComputedStyle(shape);
    return style.fill !== 'none' && style.display !== 'none' && Number(style.fillOpacity) > 0.7;
  };
  const ground = (text) => {
    const middle = text.getBoundingClientRect();
    const [x, y] = [middle.left + middle.width / 2, middle.top + middle.height / 2];
    for (let group = text.parentNode; group; group = group.parentNode) {
      if (group.localName === 'svg') return group.querySelector('.paper');
      const shapes = [...group.children].filter((shape) => {
        if (!['rect', 'path'].includes(shape.localName) || shape.classList.contains('tip')) return false;
        const box = shape.getBoundingClientRect();
        return painted(shape) && box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
      });
      if (shapes.length && !group.matches('.edge, .cut, .fog')) return shapes.at(-1);
    }
  };
  const found = [];
  for (const text of document.querySelectorAll('svg text')) {
    if (getComputedStyle(text).display === 'none') continue;
    for (const part of [text, ...text.querySelectorAll('tspan')]) {
      if (part === text && text.querySelector('tspan')) continue;
      const style = getComputedStyle(part);
      let faint = Number(style.fillOpacity);
      const classes = [];
      for (let e = part; e.localName !== 'svg'; e = e.parentNode) {
        faint *= Number(getComputedStyle(e).opacity);
        classes.push(...e.classList);
      }
      const below = channels(getComputedStyle(ground(text)).fill);
      const ink = channels(style.fill).slice(0, 3).map((c, i) => faint * c + (1 - faint) * below[i]);
      found.push([classes, ink, below.slice(0, 3), text.textContent]);
    }
  }
  return found;
}"""
STATE = """(state) => {
  const parts = document.querySelectorAll('.station,.card,.deck,.chip,.pill,.row,.edge');
  for (const part of parts) {
    part.dataset.own ??= part.getAttribute('class');
    part.setAttribute('class', `${part.dataset.own} ${state}`.trim());
  }
}"""


@pytest.fixture(scope="module", params=THEMES)
def page(request, browser):
    """A page with pictures of every kind, in one theme."""
    theme = request.param
    graphs = {
        **{name: GRAPHS[name] for name in ("code_1", "code_9", "code_18", "hangul", "fan_in_20")},
        **SIGNED,
    }
    pictures = [draw(make(), theme=theme, prefix=f"{name}-")[0] for name, make in graphs.items()]
    pictures += [draw(packed(), theme=theme, prefix="packed-")[0]]
    page = browser.new_page()
    page.set_content("<!doctype html><meta charset='utf-8'>" + "".join(pictures))
    yield page
    page.close()


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
@pytest.mark.parametrize("state", ["", "active", "error", "cause"])
def test_every_text_can_be_read_on_its_ground(page, state):
    """WCAG 2: a contrast of 4.5 to 1 for text of this size, whatever the part is in the middle of."""
    page.evaluate(STATE, state)
    texts = page.evaluate(CONTRAST)
    bad = {
        (*classes, said, round(contrast(ink, ground), 2))
        for classes, ink, ground, said in texts
        if contrast(ink, ground) < 4.5
    }
    assert not bad
    seen = {one for classes, *_ in texts for one in classes}
    assert coloured() - seen <= {"was", "old", "map", "active", "error", "cause"}, (
        "every class that gives text a colour was there"
    )
    assert not state or state in seen


def packed():
    """What the other graphs do not have: packed values, a node that was left out, references."""
    deck = code_4().stations[2].deck
    saved = tuple(deck.saved[0]._replace(packed="a file", freed=freed) for freed in (False, True))
    graph = with_card(
        with_deck(many_uses(20), 2, saved=(*saved, *(SavedChip(f"n{i}", "(1, 2, 3)") for i in range(9)))),
        2,
        asked=True,
    )
    return with_deck(graph, 3, skipped=True)


def coloured():
    """The classes in selectors that color text."""
    found = set()
    for selectors, rule in re.findall(r"([^{}]+)\{([^}]*)\}", rules()):
        for selector in selectors.split(","):
            if "fill:" in rule and re.search(
                r"text$|\.(fn|name|role|key|say|note|kept|gone|dim)$", selector.strip()
            ):
                found |= set(re.findall(r"\.([\w-]+)", re.sub(r":not\([^)]*\)", "", selector))) - {"mg"}
    return found


# --------------------------------------------------------------------------------------------------- motion


FILES = [p for p in sorted(Path(minigrad_viz.__file__).parent.rglob("*")) if p.suffix in (".css", ".py")]
SHEETS = {"picture": css("auto"), **{path.name: path.read_text(encoding="utf-8") for path in FILES}}


def test_nothing_moves_for_those_who_asked_for_less_motion():
    """Transitions and animations stand under `prefers-reduced-motion: no-preference` and nowhere else."""
    assert [name for name, sheet in SHEETS.items() if moving(sheet)] == []


def moving(sheet):
    """Whether a style sheet moves anything for those who asked for less motion."""
    kept, depth = [], 0
    for piece in re.split(r"(@media[^{]*no-preference\)\s*\{|[{}])", sheet):
        if depth or piece.startswith("@media"):
            depth += {"}": -1}.get(piece, 1 if piece.endswith("{") else 0)
        else:
            kept.append(piece)
    return re.search(r"(?<![\w-])(transition|animation)(-\w+)?\s*:", "".join(kept)) is not None


def test_the_guard_finds_motion():
    outside = "a{transition:fill 1s}"
    inside = "@media (prefers-reduced-motion: no-preference) { a{transition:fill 1s} }"
    assert not moving(inside + "b{fill:red}")
    assert moving(outside) and moving(inside + outside) and moving(outside + inside)
    assert "transition:" in SHEETS["stepper.css"], "there is something to guard"


def test_scripts_ask_before_they_scroll_smoothly():
    for path in (Path(minigrad_viz.__file__).parent / "player").glob("*.js"):
        source = path.read_text(encoding="utf-8")
        if "smooth" in source or ".animate(" in source:
            assert "prefers-reduced-motion: reduce" in source, path.name
