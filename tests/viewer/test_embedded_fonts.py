"""An .svg file that carries the glyphs that it uses, and no others."""

from __future__ import annotations

import base64
import html
import io
import re
import sys

import pytest
from cells import CELLS, traced

from minigrad_viz.drawing.graphviz_wasm import LayoutUnavailable
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.shell.report import Report

pytest.importorskip("matplotlib")
from fontTools.ttLib import TTFont
from matplotlib.font_manager import fontManager

DATA = re.compile(r"font-family:([\w-]+);font-weight:([\d ]+);src:url\(data:font/woff;base64,([^)]*)\)")
WORDS = re.compile(r"<(style|title|desc)\b.*?</\1>|<[^>]*>", re.S)


def picture(lang: str = "en", **options) -> Picture:
    return Report(traced(CELLS[4]), lang=lang, **options).picture


def fonts(svg: str) -> list[tuple[str, str, set[str]]]:
    """Family, weight and characters of each font that a file carries."""
    return [
        (family, weight, set(map(chr, TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap())))
        for family, weight, data in DATA.findall(svg)
    ]


def test_only_the_glyphs_that_are_used(tmp_path):
    svg = picture().save(tmp_path / "graph.svg", embed_fonts=True).read_text(encoding="utf-8")
    used = set(html.unescape(WORDS.sub("", svg))) - {"\n", "\xa0"}
    carried = fonts(svg)
    assert [(family, weight) for family, weight, _ in carried] == [
        ("mg-mono", "400"), ("mg-mono", "700"), ("mg-sans", "400"),
    ]  # fmt: skip
    assert all(characters <= used for *_, characters in carried)
    assert set.union(*(characters for *_, characters in carried)) == used
    assert "font:12px mg-mono," in svg and "font:11px mg-sans," in svg and len(svg) < 80_000


def test_without_the_option_no_font_is_inside(tmp_path):
    assert not fonts(picture().save(tmp_path / "graph.svg").read_text(encoding="utf-8"))


def test_hangul_comes_from_an_installed_font(tmp_path):
    if not any("CJK" in entry.name for entry in fontManager.ttflist):
        pytest.skip("no installed font has Hangul")
    svg = picture("ko").save(tmp_path / "graph.svg", embed_fonts=True).read_text(encoding="utf-8")
    assert [weight for *_, weight, _ in fonts(svg)][-2:] == ["400 700", "400 700"]
    assert "잎" in set.union(*(characters for *_, characters in fonts(svg)))


def test_what_cannot_be_embedded_says_why(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="Only pictures in the style"):
        picture(style="graphviz").save(tmp_path / "graph.svg", embed_fonts=True)
    monkeypatch.setitem(sys.modules, "matplotlib.font_manager", None)
    with pytest.raises(LayoutUnavailable, match="pip install matplotlib"):
        picture().save(tmp_path / "graph.svg", embed_fonts=True)
    assert not (tmp_path / "graph.svg").exists()


@pytest.mark.browser
def test_a_browser_takes_the_fonts_of_the_file(tmp_path, browser):
    page = browser.new_page()
    page.goto(picture().save(tmp_path / "graph.svg", embed_fonts=True).as_uri())
    page.evaluate("document.fonts.ready")
    loaded = page.evaluate("[...document.fonts].map(font => [font.family, font.weight, font.status])")
    page.close()
    assert sorted(loaded) == [
        ["mg-mono", "400", "loaded"],
        ["mg-mono", "700", "loaded"],
        ["mg-sans", "400", "loaded"],
    ]
