"""`python -m minigrad_viz`: trace a program, print its graph and state table, write its picture."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from pathlib import Path

from .run import Report, trace_file, trace_source

EXAMPLE = """\
import minigrad as torch

x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
z = torch.log(y)

z.backward()

print('x.grad', x.grad)
"""


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m minigrad_viz",
        description="Run a program, print the graph of its tensors and their state, and write the picture.",
    )
    add = parser.add_argument
    add(
        "file",
        nargs="?",
        type=Path,
        help="the program (default: a built-in example, x ** 3 and its logarithm)",
    )
    add(
        "-o",
        "--output",
        type=Path,
        help="where the picture goes: .svg .dot .txt, with dot installed .png .pdf",
    )
    add("--lang", choices=("en", "ko"), help="language of what is shown")
    add("--detail", choices=("normal", "full"), default="normal", help="rows on each station")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 if the program ended well and the picture was written, 1 if not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # arrows and Hangul, where the terminal lacks them
    given = options().parse_args(arguments)
    settings = {"lang": given.lang, "detail": given.detail}
    try:
        if given.file is None:
            print(EXAMPLE)
            report, error = trace_source(EXAMPLE, "<example>", **settings)
        else:
            report, error = trace_file(given.file, **settings)
    except OSError as problem:
        print(f"{given.file}: {problem.strerror or problem}", file=sys.stderr)
        return 1
    except SyntaxError as problem:
        traceback.print_exception(problem, limit=0)
        return 1
    if error is not None:
        skip = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, skip)
    print(report.text())
    written = write(report, given.output or Path((given.file.stem if given.file else "code_04") + ".svg"))
    return 0 if written and error is None else 1


def write(report: Report, path: Path) -> bool:
    """Save the picture; say where it went, or why it could not be drawn."""
    try:
        report.picture.save(path)
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"{path}: {problem}", file=sys.stderr)
        return False
    print(f"\n{path}")
    return True


if __name__ == "__main__":
    sys.exit(main())
