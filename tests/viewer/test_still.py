"""A picture as an image in a page: what is left out of it, and that nothing is missed."""

from __future__ import annotations

import html
import re
import urllib.parse
import xml.etree.ElementTree as ET

import pytest
from cells import CELLS, traced

import minigrad
from minigrad_viz import draw
from minigrad_viz.drawing.export import address, bare, image, split_picture
from minigrad_viz.drawing.style import DARK, LIGHT
from minigrad_viz.shell.report import Report

CUBE = Report(traced(CELLS[4]), lang="en")


@pytest.fixture(params=CELLS)
def picture(request):
    return Report(traced(CELLS[request.param]), lang="en").picture


def test_every_colour_that_is_named_is_there(picture):
    style = re.findall(r"<style>(.*?)</style>", split_picture(picture.svg(), picture.prefix).still, re.S)[0]
    defined, used = set(re.findall(r"--(\w+):", style)), set(re.findall(r"var\(--(\w+)\)", style))
    assert used <= defined
    assert style.count("--bg:") == 4, "light and dark, and as a page says itself"


def test_what_an_image_leaves_out(picture):
    svg = picture.svg()
    still, head, groups = split_picture(svg, picture.prefix)
    ET.fromstring(still)
    assert not re.search(r"<title>|<desc| id=", still) and svg.startswith(head)
    assert len(groups) == len(re.findall(r"<g[ >]", still)) == len(re.findall(r"<g[ >]", svg))
    said = [title for _, title in (group for group in groups if len(group) == 2)]
    assert said == re.findall(r"<title>(.*?)</title>", svg, re.S)
    assert [group[0] for group in groups if group and group[0]] == re.findall(
        f'<g[^>]* id="{picture.prefix}([^"]*)"', svg
    )


def test_text_is_left_alone():
    """What is drawn there is the same text in the same order."""
    svg = CUBE.picture.svg()
    texts = re.compile(r"<text[^>]*>.*?</text>")
    assert texts.findall(split_picture(svg, CUBE.picture.prefix).still) == texts.findall(svg)
    assert texts.findall(bare(svg)) == texts.findall(svg)
    assert "<style" not in bare(svg)


@pytest.mark.parametrize(
    "svg", ['<svg a="1"><text>it\'s 100% #1\n&lt;b&gt; 한글 %41</text></svg>', CUBE.picture.svg()]
)
def test_an_address_is_read_back(svg):
    found = re.fullmatch(
        r'<img src="data:image/svg\+xml,([^"]*)" alt="a&#10;&lt;b&gt;" style="[^"]*">', image(svg, "a\n<b>")
    )
    assert found is not None and "\n" not in found[1] and "#" not in found[1].replace("&#", "")
    assert address(svg) == "data:image/svg+xml," + html.unescape(found[1]).replace("&", "&amp;")
    told = urllib.parse.unquote(html.unescape(found[1]))
    one, other = (ET.canonicalize(each).replace("'", '"') for each in (told, svg))  # in its style, too
    assert one == other


def test_what_graphviz_drew_is_left_alone():
    x = minigrad.tensor(5.0, requires_grad=True)
    svg = draw(x**3, style="torchviz").svg()
    assert split_picture(svg, "") is None and svg == bare(svg)


@pytest.mark.parametrize(
    "theme, paper", [("auto", LIGHT["bg"]), ("light", LIGHT["bg"]), ("dark", DARK["bg"])]
)
def test_a_saved_file_has_the_colors_themselves(tmp_path, theme, paper):
    """Other programs do not know CSS variables, and show what is drawn with them black or not at all."""
    saved = Report(traced(CELLS[19]), lang="en", theme=theme).picture.save(tmp_path / "a.svg").read_text()
    assert (
        "var(" not in saved
        and "@media" not in saved
        and "--" not in saved
        and "auto" not in saved.split("</style>")[0].split("<style>")[1]
    )
    assert f".mg .paper{{fill:{paper}}}" in saved
    colors = {color for color in (DARK if theme == "dark" else LIGHT).values() if f":{color}" in saved}
    assert len(colors) > 8
    ET.fromstring(saved)
