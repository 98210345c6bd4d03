"""A film of a cell: its steps as pages, one after the other, each as long as it takes to read.

GIF and WebP are written by Pillow, MP4 by the program ffmpeg. Pages are drawn by resvg, as PNG files are.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..drawing.export import draw_png, what_export_needs
from ..drawing.graphviz_wasm import LayoutUnavailable
from ..steps.frames import Frame
from ..words import text
from .step_pages import StepPages

FILMS = (".gif", ".webp", ".mp4")
BEATS = 1400, 4000  # milliseconds that a step stands, at least and at most: those of the player
READING = 15  # milliseconds for each letter that stands below the picture
BETWEEN, BLEND = 3, 80  # pictures between two steps, with motion, and milliseconds of each
COLORS = 96  # of a GIF: more only make letters smoother, and the file larger


def save_film(path: Path, pages: StepPages, motion: bool = False) -> None:
    """Write the steps as .gif, .webp or .mp4; with `motion` each step moves smoothly into the next.
    LayoutError where the extra "export" is not installed, or ffmpeg for .mp4."""
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise LayoutUnavailable(text("film_needs_ffmpeg", pages.lang))
    try:
        shots = list(moving(pages) if motion else still(pages))
    except ImportError as error:
        raise LayoutUnavailable(what_export_needs(error, pages.lang)) from None
    if path.suffix.lower() == ".mp4":
        write_mp4(path, shots)
        return
    images, times = zip(*shots, strict=True)
    options: dict[str, Any] = {"quality": 80, "method": 4}
    if path.suffix.lower() == ".gif":
        images, options = tuple(image.quantize(COLORS, dither=0) for image in images), {"optimize": True}
    images[0].save(path, save_all=True, append_images=images[1:], duration=list(times), loop=0, **options)


def beat(frame: Frame) -> int:
    """How many milliseconds a step is shown."""
    letters = len(frame.text) + sum(len(line.text) for line in frame.lines)
    return max(BEATS[0], min(BEATS[1], READING * letters))


def page_image(pages: StepPages, step: int, way: float = 1.0) -> Any:
    """The page of a step as an image."""
    from PIL import Image

    return Image.open(io.BytesIO(draw_png(pages.svg(step, way), 1.0, pages.lang))).convert("RGB")


def still(pages: StepPages) -> Iterator[tuple[Any, int]]:
    """Each page as an image, with its time."""
    for step, frame in enumerate(pages.frames, 1):
        yield page_image(pages, step), beat(frame)


def moving(pages: StepPages) -> Iterator[tuple[Any, int]]:
    """The same, with pictures between the steps: gradients travel along their arrows; where none flow, one
    step fades into the next."""
    from PIL import Image

    before = None
    for step, (page, time) in enumerate(still(pages), 1):
        shares = [i / (BETWEEN + 1) for i in range(1, BETWEEN + 1)]
        if pages.flows(step):
            yield from ((page_image(pages, step, share), BLEND) for share in shares)
        elif before is not None:
            yield from ((Image.blend(before, page, share), BLEND) for share in shares)
        yield page, time
        before = page


def write_mp4(path: Path, shots: list[tuple[Any, int]]) -> None:
    """Write images as a film that every browser plays. RuntimeError with what ffmpeg says if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        lines = ["ffconcat version 1.0"]
        for i, (image, time) in enumerate(shots):
            image.save(Path(folder, f"{i}.png"))
            lines += [f"file {i}.png", f"duration {time / 1000}"]
        lines.append(f"file {len(shots) - 1}.png")  # ffmpeg takes a duration as the way to the next file
        Path(folder, "shots.txt").write_text("\n".join(lines), encoding="utf-8")
        command = [
            "ffmpeg", "-y", "-loglevel", "error", "-f", "concat", "-i", "shots.txt", "-vf", "fps=25",
            "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path.resolve()),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
