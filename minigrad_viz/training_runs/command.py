"""`python -m minigrad_viz doctor train.py [arguments]`: run a script as `python train.py` would, then report.

The script has its own `__main__`, arguments, import path, output and exit code. With `--json` or `--sarif`
what it prints goes to the error stream, so the output is the report alone.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import json
import sys
import tokenize
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from ..words import CATALOGUES, text
from .doctor import Doctor, doctor

FOUND = 3  # the exit code where `--fail-on` is met


def command_options() -> argparse.ArgumentParser:
    """The command line; what follows the script belongs to the script."""
    parser = argparse.ArgumentParser(prog="python -m minigrad_viz doctor", description=text("doctor_about"))
    parser.add_argument("--json", action="store_true", help=text("doctor_help_json"))
    parser.add_argument("--sarif", action="store_true", help=text("doctor_help_sarif"))
    parser.add_argument("--html", metavar="FILE", type=Path, help=text("doctor_help_html"))
    parser.add_argument("--fail-on", choices=("certain", "likely"), help=text("doctor_help_fail"))
    parser.add_argument(
        "--silence", metavar="KEY", action="append", default=[], help=text("doctor_help_silence")
    )
    parser.add_argument("--record", metavar="STEP", type=int, default=0, help=text("doctor_help_record"))
    parser.add_argument("--lang", choices=list(CATALOGUES), help=text("doctor_help_lang"))
    parser.add_argument("script", nargs=argparse.REMAINDER, help=text("doctor_help_script"))
    return parser


def run_command(arguments: list[str]) -> int:
    """Run the script under a doctor and report; the script's exit code, or 3 where `--fail-on` is met."""
    parser = command_options()
    given = parser.parse_args(arguments)
    if not given.script:
        parser.error(text("doctor_help_script"))
    path = Path(given.script[0])
    try:
        with tokenize.open(path) as file:
            source = file.read()
        code = compile(source, str(path), "exec")
    except OSError as problem:
        print(f"{path}: {problem.strerror or problem}", file=sys.stderr)
        return 2
    except (SyntaxError, ValueError) as problem:
        traceback.print_exception(problem, limit=0)
        return 1
    d = doctor(silence=given.silence, record=given.record, lang=given.lang, show=False)
    silent = given.json or given.sarif
    with contextlib.redirect_stdout(sys.stderr) if silent else contextlib.nullcontext():
        status = run_script(code, given.script, d)
    sys.stdout.flush()
    if given.json:
        print(json.dumps(d.json(), ensure_ascii=False, indent=1))
    elif given.sarif:
        print(json.dumps(d.sarif(), ensure_ascii=False, indent=1))
    else:
        print(d.text())
    if given.html is not None:
        try:
            d.save(given.html)
        except OSError as problem:
            print(f"{given.html}: {problem.strerror or problem}", file=sys.stderr)
            return status or 1
        print(text("doctor_written", given.lang, path=given.html.absolute()), file=sys.stderr)
    return status or (FOUND if is_met(d, given.fail_on) else 0)


def is_met(d: Doctor, least: str | None) -> bool:
    """Whether there is a finding that is at least this certain."""
    if least is None:
        return False
    return any(least == "likely" or finding.certainty == "certain" for finding in d.findings)


def run_script(code: Any, words: list[str], d: Doctor) -> int:
    """Run the code of a script as Python does, watched by a doctor; its exit code."""
    module: Any = ModuleType("__main__")
    module.__dict__.update(__file__=words[0], __builtins__=builtins, __spec__=None, __cached__=None)
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv, sys.modules["__main__"] = list(words), module
    folder = str(Path(words[0]).resolve().parent)
    sys.path[0:1] = [folder]
    try:
        with d:
            exec(code, module.__dict__)
    except SystemExit as left:
        return exit_code(left.code)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", file=sys.stderr)
        return 130
    except BaseException as error:
        ours = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, ours)
        return 1
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = before
    return 0


def exit_code(value: object) -> int:
    """The exit code that `sys.exit(value)` gives."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1
