"""`python -m minigrad_viz`: trace a program, or take a saved trace, and print its graph.

Files are written where `-o` says. Only the built-in example has a picture without being asked: it shows what
there is to see.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .comparing.comparison import Comparison
from .predicting.question import interview
from .sharing.explanation_files import explanations_json, explanations_sarif
from .shell.options import DEFAULTS, OPTIONS, Reader, report_options
from .shell.report import Report
from .shell.run import load, trace_file, trace_source
from .trace.events import Trace
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
    """The command line: the options of `%%autograd`, except the forms of the graph in a notebook."""
    reader = Reader(
        prog="python -m minigrad_viz", description=text("command_about"), epilog=text("kernel_hint")
    )
    reader.add_argument("file", nargs="?", type=Path, default=None, help=text("command_file"))
    reader.add_argument("--vs", metavar="TRACE.json", type=Path, default=None, help=text("command_vs"))
    reader.add_argument("--findings", metavar="FILE", type=Path, default=None, help=text("command_findings"))
    reader.add_argument("--sarif", metavar="FILE", type=Path, default=None, help=text("command_sarif"))
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
    if arguments[:1] == ["answers"]:
        from .sharing.class_answers import answers_command

        return answers_command(arguments[1:])
    if arguments[:1] == ["doctor"]:
        from .training_runs.command import run_command as doctor

        return doctor(arguments[1:])
    reader = options()
    arguments, passed = split(arguments, reader)
    given = {
        "file": None,
        "vs": None,
        "findings": None,
        "sarif": None,
        **DEFAULTS,
        **vars(reader.parse_args(arguments)),
    }
    return trace(given["file"], given, passed)


def split(arguments: list[str], reader: Reader) -> tuple[list[str], list[str]]:
    """The arguments that are ours, up to the program, and what follows it, which is the program's."""
    place = 0
    while place < len(arguments):
        word = arguments[place]
        if not word.startswith("-"):
            end = len(arguments) if word.lower().endswith(".json") else place + 1
            return arguments[:end], arguments[end:]
        action = reader._option_string_actions.get(word)
        place += 2 if action is not None and action.nargs is None else 1
    return arguments, []


def trace(file: Path | None, given: dict[str, Any], passed: list[str]) -> int:
    """Run the program in `file`, or the example, and show it; or show the trace in `file`."""
    settings = report_options(given)
    error: BaseException | None = None
    reading = file
    try:
        if file is None:
            print(EXAMPLE)
            report, error = trace_source(EXAMPLE, "<example>", **settings)
        elif file.suffix.lower() == ".json":
            report = load(file, **settings)
        else:
            report, error = trace_file(file, passed, **settings)
        reading = given["vs"]
        known = None if reading is None else Trace.load(reading)
    except OSError as problem:
        print(f"{reading}: {problem.strerror or problem}", file=sys.stderr)
        return 1
    except SyntaxError as problem:
        traceback.print_exception(problem, limit=0)
        return 1
    except ValueError as problem:
        print(f"{reading}: {problem}", file=sys.stderr)
        return 1
    if error is not None:
        skip = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, skip)
    if known is not None:
        names = given["vs"].name, "" if file is None else file.name
        return show_comparison(Comparison(known, report.trace, names, lang=given["lang"]), given, error)
    if report.predict:  # all is shown when all is answered
        report.predict = not interview(report.questions, input, print, given["lang"])
    table = given["table"]
    print(report.text(given["steps"], table=table is not False) + "\n")
    files = given["output"] or (["code_04.svg"] if file is None else [])
    how: dict[str, Any] = {"table": table, "embed_fonts": given["embed_fonts"]}
    written = [write(report, Path(path), given["lang"], how) for path in files]
    written += write_findings(report, given)
    if not written:
        print(text("command_hint", given["lang"]))
    return 0 if all(written) and error is None else 1


def show_comparison(compared: Comparison, given: dict[str, Any], error: BaseException | None) -> int:
    """Print how two runs differ, and write the files that were asked for."""
    print(compared.text() + "\n")
    written = [write(compared, Path(path), given["lang"], {}) for path in given["output"]]
    return 0 if all(written) and error is None else 1


def write_findings(report: Report, given: dict[str, Any]) -> list[bool]:
    """Write what is explained to the files that were asked for; whether each could be written."""
    told = report.diagnosed, report.trace.error, str(given["file"] or "<example>")
    written = []
    for path, made in ((given["findings"], explanations_json), (given["sarif"], explanations_sarif)):
        if path is not None:
            content = json.dumps(made(*told), ensure_ascii=False, indent=1) + "\n"
            written.append(attempt(partial(path.write_text, content, "utf-8"), path, given["lang"]))
    return written


def write(report: Report | Comparison, path: Path, lang: str | None, how: dict[str, Any]) -> bool:
    """Save what the ending of `path` says; say where it went, or why it could not be written."""
    return attempt(lambda: report.save(path, **how), path, lang)


def attempt(save: Callable[[], object], path: Path, lang: str | None) -> bool:
    """Write a file; say where it went, or why it could not be written."""
    try:
        save()
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"{path}: {problem}", file=sys.stderr)
        return False
    print(text("command_written", lang, path=path.absolute()))
    return True


if __name__ == "__main__":
    sys.exit(main())
