"""What a class answered, as a table and as a plot: which questions were answered how often, and which
mistakes were made.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..drawing.export import draw_png, what_export_needs
from ..drawing.style import LIGHT, num, xml_with_spaces
from ..predicting.answer_log import Answer, read_answers
from ..words import CATALOGUES, language, shorten, text
from ..words.display_text import columns, text_pixels
from .step_pages import FONTS

PLACES = re.compile(r"\{[^{}]*\}")  # what is filled into a sentence
BAR = 30  # columns of the longest bar
MISTAKES = 3  # of a question, the most frequent
WIDTH, EDGE, ROW, LINE = 900.0, 24.0, 34.0, 20.0  # pixels of the plot, and of its lines


class Tally(NamedTuple):
    """How often a question was answered, how often it was right, and its mistakes by key."""

    question: str
    answers: int
    right: int
    mistakes: tuple[tuple[str, int], ...]


def count_answers(answers: Iterable[Answer], lang: str | None = None) -> list[Tally]:
    """The answers by question; the most frequent mistakes come first."""
    by_question: dict[str, list[Answer]] = {}
    for answer in answers:
        by_question.setdefault(answer.question, []).append(answer)
    other = text("answers_other", lang)
    found = []
    for question, its_answers in sorted(by_question.items()):
        wrong = [answer for answer in its_answers if not answer.right]
        mistakes = Counter(key for answer in wrong for key in answer.keys or (other,))
        counted = tuple(mistakes.most_common(MISTAKES))
        found.append(Tally(question, len(its_answers), len(its_answers) - len(wrong), counted))
    return found


def answers_text(tallies: Sequence[Tally], lang: str | None = None) -> str:
    """A table of the questions: how many answers, how many right, as a bar; below each its mistakes."""
    if not tallies:
        return text("answers_none", lang)
    most = max(tally.answers for tally in tallies)
    width = max(columns(tally.question) for tally in tallies)
    lines = [headline(tallies, lang)]
    for tally in tallies:
        good = round(BAR * tally.right / most)
        bar = "█" * good + "░" * (round(BAR * tally.answers / most) - good)
        name = tally.question + " " * (width - columns(tally.question))
        lines.append(f"{name}  {bar:<{BAR}}  {tally.right} / {tally.answers}")
        lines += [f"{'':{width}}    {mistake_line(key, n, lang)}" for key, n in tally.mistakes]
    return "\n".join(lines)


def headline(tallies: Sequence[Tally], lang: str | None) -> str:
    """What is above table and plot."""
    answers = sum(tally.answers for tally in tallies)
    return text("answers_head", lang, answers=answers, questions=len(tallies))


def mistake_line(key: str, count: int, lang: str | None) -> str:
    """How often a mistake was made, its key, and what is said to whoever makes it, with dots for names."""
    said = CATALOGUES[lang or language()].get(key)
    return f"{count} × {key}" + (f": {PLACES.sub('…', said)}" if said else "")


def answers_svg(tallies: Sequence[Tally], lang: str | None = None) -> str:
    """The same as a plot: a bar for each question, filled as far as the answers were right."""
    most = max((tally.answers for tally in tallies), default=1)
    left = EDGE + max((text_pixels(tally.question, 14) for tally in tallies), default=0) + 12
    room = max(120.0, WIDTH - left - EDGE - 70)
    parts = [
        plot_text(headline(tallies, lang) if tallies else text("answers_none", lang), EDGE, EDGE + 16, 16)
    ]
    y = EDGE + 40
    for tally in tallies:
        whole, good = (room * n / most for n in (tally.answers, tally.right))
        bar = f'x="{num(left)}" y="{num(y)}" height="18" rx="3"'
        parts += [
            plot_text(tally.question, EDGE, y + 14, 14),
            f'<rect {bar} width="{num(whole)}" fill="{LIGHT["bg"]}" stroke="{LIGHT["grad"]}"/>',
            f'<rect {bar} width="{num(good)}" fill="{LIGHT["grad"]}"/>',
            plot_text(f"{tally.right} / {tally.answers}", left + whole + 8, y + 14, 14),
        ]
        y += ROW
        for key, count in tally.mistakes:
            line = shorten(mistake_line(key, count, lang), int(room / 6.5) + 10)
            parts.append(plot_text(line, left, y, 13, "mute"))
            y += LINE
        y += 6 if tally.mistakes else 0
    height = num(y + EDGE / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{num(WIDTH)}" height="{height}" '
        f'viewBox="0 0 {num(WIDTH)} {height}"><style>{FONTS}</style>'
        f'<rect width="100%" height="100%" fill="{LIGHT["bg"]}"/>'
        f"{''.join(parts)}</svg>"
    )


def plot_text(content: str, x: float, y: float, size: float, ink: str = "ink") -> str:
    """A text of the plot."""
    return (
        f'<text class="said" x="{num(x)}" y="{num(y)}" font-size="{num(size)}" fill="{LIGHT[ink]}">'
        f"{xml_with_spaces(content)}</text>"
    )


def save_plot(path: Path, tallies: Sequence[Tally], lang: str | None = None) -> None:
    """Write the plot as .svg or .png. ValueError for another ending; LayoutError where a .png needs the extra
    "export"."""
    svg = answers_svg(tallies, lang)
    if path.suffix.lower() == ".svg":
        path.write_text(svg, encoding="utf-8")
    elif path.suffix.lower() == ".png":
        try:
            path.write_bytes(draw_png(svg, 2.0, lang))
        except ImportError as error:
            raise ValueError(what_export_needs(error, lang)) from None
    else:
        raise ValueError(text("option_ending", lang, option="-o", value=path, endings=".svg, .png"))


def answers_command(arguments: list[str]) -> int:
    """`python -m minigrad_viz answers FILE … -o PLOT`: print the table and write the plot; 1 if a file cannot
    be read or written."""
    parser = argparse.ArgumentParser(prog="python -m minigrad_viz answers", description=text("answers_about"))
    parser.add_argument("file", nargs="+", type=Path, help=text("answers_file"))
    parser.add_argument("--lang", choices=list(CATALOGUES), help=text("option_lang"))
    parser.add_argument("-o", "--output", metavar="PLOT", type=Path, help=text("answers_plot"))
    given = parser.parse_args(arguments)
    try:
        tallies = count_answers(read_answers(given.file), given.lang)
        print(answers_text(tallies, given.lang))
        if given.output is not None:
            save_plot(given.output, tallies, given.lang)
            print(text("command_written", given.lang, path=given.output.absolute()))
    except OSError as problem:
        print(f"{problem.filename}: {problem.strerror}", file=sys.stderr)
        return 1
    except (RuntimeError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0
