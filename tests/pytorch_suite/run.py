"""Run PyTorch's `test_autograd.py` on minigrad and print one JSON object per test.

    python tests/pytorch_suite/run.py FOLDER [--names FILE] [--record FILE]

FOLDER is PyTorch's `test` directory, or one that holds its `test_autograd.py`, `autograd/` and `expect/`. A
second process runs the tests one by one. This one watches the clock: when a test takes too long or ends
the process, that is its verdict, and a new process continues with the next test.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIMIT = 60.0  # seconds for one test, and for importing the file


@dataclass
class Verdict:
    name: str
    verdict: str  # passed, failed, skipped, "expected failure", timeout or crashed
    error: str = ""


class Worker:
    """The process that runs the tests. Its answers come through a queue, so waiting for one can end."""

    def __init__(self, folder: Path) -> None:
        paths = [str(HERE / "child"), str(HERE), str(HERE.parents[1])]
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "worker.py"), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")  # the process has ended

    def ask(self, request: str, limit: float) -> Any:
        """The answer to a request: None when the process ended. TimeoutError when it takes too long."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
            line = self.lines.get(timeout=limit)
        except queue.Empty:
            raise TimeoutError from None
        except BrokenPipeError:
            return None
        return json.loads(line) if line else None

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


def run(folder: Path, names: Iterable[str] | None = None, limit: float = LIMIT) -> Iterator[Verdict]:
    """The verdict of each test of `folder`, or of those named. A name that is not in the file has failed."""
    worker = Worker(folder)
    try:
        found = worker.ask("names", LIMIT)
        if found is None:
            raise RuntimeError(f"{folder / 'test_autograd.py'} could not be imported")
        for name in found if names is None else names:
            try:
                answer = worker.ask(name, limit)
                verdict = Verdict(**answer) if answer else Verdict(name, "crashed")
            except TimeoutError:
                verdict = Verdict(name, "timeout", f"more than {limit:g} s")
            if verdict.verdict in ("crashed", "timeout"):
                worker.stop()
                worker = Worker(folder)
                worker.ask("names", LIMIT)
            yield verdict
    finally:
        worker.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", type=Path, help="a file with the names to run, one a line")
    parser.add_argument("--record", type=Path, help="a file to write the names that passed to")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one test")
    options = parser.parse_args()
    names = None if options.names is None else read_names(options.names)
    passed, count = [], 0
    for verdict in run(options.folder.resolve(), names, options.limit):
        print(json.dumps(asdict(verdict)), flush=True)
        count += 1
        if verdict.verdict == "passed":
            passed.append(verdict.name)
    print(f"{len(passed)} of {count} passed", file=sys.stderr)
    if options.record is not None:
        text = (options.folder / "test_autograd.py").read_bytes()
        head = f"# Tests of PyTorch's test_autograd.py (SHA-256 {hashlib.sha256(text).hexdigest()})\n"
        head += "# that pass with minigrad in the place of torch. run.py writes this file.\n"
        options.record.write_text(head + "".join(f"{name}\n" for name in sorted(passed)), encoding="utf-8")


def read_names(file: Path) -> list[str]:
    """The names in a file, one a line; lines that begin with # are comments."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


if __name__ == "__main__":
    main()
