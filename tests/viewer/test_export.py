"""PNG and PDF without a system program; each file is opened by another program and compared by its pixels."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from cells import CELLS, traced

from minigrad_viz.drawing import export
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.shell.report import Report

for extra in ("resvg_py", "svg2pdf_py", "PIL"):
    pytest.importorskip(extra)
from PIL import Image, ImageChops, ImageStat  # noqa: E402  # after it was found


def picture(lang: str = "en") -> Picture:
    return Report(traced(CELLS[4]), lang=lang).picture


def on_white(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """An image without transparency, in gray and of this size."""
    paper = Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image.convert("RGBA"))
    return paper.convert("L").resize(size)


def difference(first: Image.Image, second: Image.Image) -> float:
    """How far two images differ on average, of 255 shades."""
    size = (first.width // 4, first.height // 4)
    return ImageStat.Stat(ImageChops.difference(on_white(first, size), on_white(second, size))).mean[0]


def test_png_and_pdf_look_alike(tmp_path):
    pdfium = pytest.importorskip("pypdfium2")
    made = picture()
    png = Image.open(made.save(tmp_path / "graph.png"))
    document = pdfium.PdfDocument(made.save(tmp_path / "graph.pdf").read_bytes())
    try:
        page = document[0].render(scale=png.width / document[0].get_width()).to_pil()
        words = document[0].get_textpage().get_text_range()
    finally:
        document.close()
    assert difference(png, page) < 1.0 and "PowBackward0" in words and "leaf" in words
    blank = Image.new("RGB", png.size, "white")
    assert difference(png, blank) > 5.0


@pytest.mark.browser
def test_png_looks_as_in_a_browser(tmp_path, browser):
    made = picture()
    png = Image.open(made.save(tmp_path / "graph.png"))
    page = browser.new_page(device_scale_factor=2, viewport={"width": 1200, "height": 800})
    page.goto(made.save(tmp_path / "graph.svg").as_uri())
    seen = Image.open(io.BytesIO(page.locator("svg").screenshot(omit_background=True)))
    page.close()
    assert difference(png, seen.resize(png.size)) < 4.0


def test_hangul_is_drawn_or_refused(tmp_path, monkeypatch):
    if export.is_drawn("한", export.font_files()):
        assert picture("ko").save(tmp_path / "graph.png").stat().st_size > 10_000
    monkeypatch.setattr(export, "is_drawn", lambda sign, fonts: sign == "a")
    with pytest.raises(export.NoFont, match="글꼴"):
        picture("ko").save(tmp_path / "other.pdf")
    assert not (tmp_path / "other.pdf").exists()
    picture("en").save(tmp_path / "other.pdf")


def test_a_character_that_no_font_has():
    assert export.is_drawn("a", ()) and not export.is_drawn("\U0010fffc", ())


def font_with(sign: str, path: Path) -> str:
    """The file of a font in which one character more looks like H."""
    ttf, manager = pytest.importorskip("fontTools.ttLib"), pytest.importorskip("matplotlib.font_manager")
    with ttf.TTFont(manager.findfont("DejaVu Sans")) as font:
        for table in font["cmap"].tables:
            if table.format == 12:
                table.cmap[ord(sign)] = "H"
        font.save(path)
    return str(path)


def test_a_font_can_be_named(tmp_path, monkeypatch):
    """By the file that the message asks for: in PNG and in PDF."""
    sign = "\U0010fffc"
    svg = export.ONE.format(style=f"font:30px {export.SANS}".replace('"', "'"), sign=sign)
    monkeypatch.setenv("MINIGRAD_FONT", font_with(sign, tmp_path / "more.ttf"))
    assert export.is_drawn(sign, export.font_files())
    image = Image.open(io.BytesIO(export.draw_png(svg, 1.0))).convert("RGBA")
    h = Image.open(io.BytesIO(export.draw_png(svg.replace(sign, "H"), 1.0)))
    assert image.getbbox()[3] == h.getbbox()[3] == 30
    monkeypatch.delenv("MINIGRAD_FONT")
    without = export.draw_pdf(svg)
    monkeypatch.setenv("MINIGRAD_FONT", str(tmp_path / "more.ttf"))
    assert len(export.draw_pdf(svg)) != len(without)


def test_a_report_and_the_command_line_write_them(tmp_path, monkeypatch):
    from minigrad_viz.__main__ import main

    monkeypatch.chdir(tmp_path)
    assert Report(traced(CELLS[4]), lang="en").save("cell.png").read_bytes().startswith(b"\x89PNG")
    assert main(["-o", "graph.pdf"]) == 0
    assert (tmp_path / "graph.pdf").read_bytes().startswith(b"%PDF")


def test_without_the_extra_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "svg2pdf_py", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r'pip install "minigrad-viz\[export\]"'):
        picture().save(tmp_path / "graph.pdf")
