"""`with doctor(model, optimizer) as d:`: watches what runs inside, and reports why it does not learn."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..isolation import pass_on
from ..shell.report import Report
from ..training_faults.diagnosis import findings_of
from ..training_faults.evidence import Evidence
from ..training_faults.findings import Finding
from ..words import language
from .arrival import Arrival
from .export import report_json, report_sarif
from .flow import Table, step_table
from .hub import HUBS, Hub, call_guarded
from .library import Library, Torch, loaded_libraries
from .observer import Observer
from .recorded_step import Recording
from .report_html import report_html, report_page
from .report_text import report_text


class Doctor(AbstractContextManager["Doctor"]):
    """Watches a training run. After the block: `findings`, `report`, `table`, `text()`, `html()`."""

    def __init__(
        self,
        *given: Any,
        loss: str = "",
        silence: Any = (),
        record: int = 0,
        lang: str | None = None,
        show: bool = True,
    ):
        self._given, self._loss, self._record = given, loss, record
        self.silenced = frozenset([silence] if isinstance(silence, str) else silence)
        self.lang, self.show = lang, show
        self.evidence = Evidence()
        self.running = False
        self._observers: list[tuple[Observer, Evidence]] = []
        self._record_next = False
        self.recorded: Report | None = None
        self.recorded_step = 0
        self._arrival = Arrival("torch", self._watch_torch)
        self._problems: list[str] = []

    def __enter__(self) -> Doctor:
        if self.running:
            raise RuntimeError("this doctor is watching already")
        self.evidence = Evidence()
        self._observers = []
        self._problems = []
        self._thread, self._began = threading.get_ident(), time.perf_counter()
        for library in loaded_libraries():
            self._watch(library)
        self._arrival.start()
        self.running = True
        return self

    def _watch(self, library: Library) -> None:
        """Begin to watch what runs in a library."""
        own = [each for each in self._given if is_of(each, library)]
        observer = Observer(library, Evidence(), self._loss)
        models = [each for each in own if isinstance(each, library.Module)]
        optimizers = [each for each in own if isinstance(each, library.Optimizer)]
        HUBS.setdefault(library.name, Hub()).add(observer.parts, library.patches())
        observer.recorder = self
        observer.start(models, optimizers)
        self._observers.append((observer, observer.evidence))

    def _watch_torch(self) -> None:
        """PyTorch has been imported inside the block."""
        if self.running and threading.get_ident() == self._thread:
            call_guarded(self._problems, lambda: self._watch(Torch()))
        elif self.running:
            self._problems.append("torch")

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.running = False
        self._arrival.stop()
        for observer, _ in self._observers:
            HUBS[observer.library.name].remove(observer.parts)
            observer.stop()
        if self._observers:
            _, self.evidence = max(self._observers, key=lambda pair: (pair[1].backwards, pair[1].steps))
        self.evidence.unwatched += self._problems
        self.evidence.seconds = time.perf_counter() - self._began
        ended = isinstance(error, SystemExit) and not error.code
        if error is not None and not ended:
            lines = str(error).splitlines()
            self.evidence.error = f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")
        self._observers = []
        if self.show:
            try:
                print(self.text())
            except Exception as problem:  # a fault of ours must not hide the error of the run
                pass_on(problem)
                if error is None:
                    raise

    def record_step(self) -> None:
        """Record the next step whole: afterwards `recorded` is its report, as `%%autograd` shows it."""
        self._record_next = True

    def wants_recording(self, step: int) -> bool:
        """Whether the step that comes is to be recorded whole."""
        return self._record_next or step == self._record

    def recording_ends(self, report: Report, step: int) -> None:
        """The step has been recorded."""
        self._record_next, self.recorded, self.recorded_step = False, report, step

    def _page(self, make: Callable[..., str], lang: str) -> str:
        """A page with the step that was recorded whole, in the same language."""
        recorded = self.recorded
        if recorded is not None and recorded.lang != lang:
            recorded = Report(recorded.trace, program=recorded.program, lang=lang)
        recording = None if recorded is None else Recording(recorded, self.recorded_step)
        return make(self.evidence, self.findings, lang, recording)

    @property
    def findings(self) -> list[Finding]:
        """What is wrong, causes first."""
        return findings_of(self.evidence, self.silenced)

    def text(self, lang: str | None = None) -> str:
        """The report as text, at most 80 columns wide."""
        return report_text(self.evidence, self.findings, lang or self.lang or language())

    def html(self, lang: str | None = None) -> str:
        """The report as a page that needs no network."""
        return self._page(report_page, lang or self.lang or language())

    def json(self, lang: str | None = None) -> dict[str, Any]:
        """The report as data."""
        return report_json(self.evidence, self.findings, lang or self.lang or language())

    def sarif(self, lang: str | None = None) -> dict[str, Any]:
        """The findings as SARIF 2.1.0."""
        return report_sarif(self.findings, lang or self.lang or language())

    def save(self, path: str | Path) -> None:
        """Write the report: as a page, or by the ending .json, .sarif or .txt."""
        path = Path(path)
        forms = {".json": self.json, ".sarif": self.sarif}
        if path.suffix in forms:
            content = json.dumps(forms[path.suffix](), ensure_ascii=False, indent=1) + "\n"
        else:
            content = self.text() + "\n" if path.suffix == ".txt" else self.html()
        path.write_text(content, encoding="utf-8")

    @property
    def table(self) -> Table:
        """A row for each parameter and sampled step, as dictionaries; `table.to_pandas()` with pandas."""
        return step_table(self.evidence)

    def __repr__(self) -> str:
        return "<doctor: watching>" if self.running else self.text()

    def _repr_html_(self) -> str | None:
        if self.running:
            return None
        return self._page(report_html, self.lang or language())


def is_of(value: Any, library: Library) -> bool:
    return isinstance(value, library.Module | library.Optimizer)


def doctor(
    *given: Any,
    loss: str = "",
    silence: Any = (),
    record: int = 0,
    lang: str | None = None,
    show: bool = True,
) -> Doctor:
    """Watch a training run and report why it does not learn.

    `with doctor(model, optimizer) as d:` around the loop; models and optimizers may be left out, they are
    found when they are used. `loss` is the variable on which backward() is called, where there are several
    and the report is to show that one. `silence` has keys of findings that are not to be shown. Step `record`
    is recorded whole, see `record_step`. The report is printed at the end unless `show=False`.
    """
    return Doctor(*given, loss=loss, silence=silence, record=record, lang=lang, show=show)
