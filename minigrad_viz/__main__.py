"""`python -m minigrad_viz`: trace a program, or take a saved trace, and print its graph.

Files are written where `-o` says. Only the built-in example has a picture without being asked: it shows what
there is to see.
"""

from __future__ import annotations

import io
import sys
import traceback
from pathlib import Path
from typing import Any

from .predicting.asking import interview
from .shell.options import DEFAULTS, OPTIONS, Reader, report_options
from .shell.report import Report
from .shell.run import load, trace_file, trace_source
from .words import text

EXAMPLE = """\
import minigrad as torch

x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
z = torch.log(y)

z.backward()

print('x.grad', x.grad)
"""


def options() -> Reader:
    """The command line: the options of `%%autograd`, but for the forms of the graph in a notebook."""
    reader = Reader(
        prog="python -m minigrad_viz", description=text("command_about"), epilog=text("kernel_hint")
    )
    reader.add_argument("file", nargs="?", type=Path, default=None, help=text("command_file"))
    return reader.take(option for option in OPTIONS if option.key != "show")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 if the program ended well and all files were written, 1 if not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # arrows and Hangul, where the terminal lacks them
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["kernel"]:
        from .shell.kernel import main as kernel

        return kernel(arguments[1:])
    given = {"file": None, **DEFAULTS, **vars(options().parse_args(arguments))}
    return trace(given["file"], given)


def trace(file: Path | None, given: dict[str, Any]) -> int:
    """Run the program in `file`, or the example, and show it; or show the trace in `file`."""
    settings = report_options(given)
    error: BaseException | None = None
    try:
        if file is None:
            print(EXAMPLE)
            report, error = trace_source(EXAMPLE, "<example>", **settings)
        elif file.suffix.lower() == ".json":
            report = load(file, **settings)
        else:
            report, error = trace_file(file, **settings)
    except OSError as problem:
        print(f"{file}: {problem.strerror or problem}", file=sys.stderr)
        return 1
    except SyntaxError as problem:
        traceback.print_exception(problem, limit=0)
        return 1
    except ValueError as problem:
        print(f"{file}: {problem}", file=sys.stderr)
        return 1
    if error is not None:
        skip = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, skip)
    if given["predict"]:  # all is shown when all is answered
        report.predict = not interview(report.questions, input, print, given["lang"])
    table = given["table"] is not False
    print(report.text(given["steps"], table=table) + "\n")
    files = given["output"] or (["code_04.svg"] if file is None else [])
    how: dict[str, Any] = {"table": table, "embed_fonts": given["embed_fonts"]}
    written = [write(report, Path(path), given["lang"], how) for path in files]
    if not files:
        print(text("command_hint", given["lang"]))
    return 0 if all(written) and error is None else 1


def write(report: Report, path: Path, lang: str | None, how: dict[str, Any]) -> bool:
    """Save what the ending of `path` says; say where it went, or why it could not be written."""
    try:
        report.save(path, **how)
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"{path}: {problem}", file=sys.stderr)
        return False
    print(text("command_written", lang, path=path.absolute()))
    return True


if __name__ == "__main__":
    sys.exit(main())
