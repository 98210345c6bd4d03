"""Recording a cell and taking down its program, both at once."""

from __future__ import annotations

from typing import Any

from ..faults import surely
from ..recording.recorder import Recorder
from ..trace.events import Trace
from .program import Program
from .taking import Taker
from .taking_minigrad import MinigradTaker
from .taking_torch import TorchTaker


class Watch:
    """A cell that is recorded by `recorder`, while others take down what it computes with each library."""

    def __init__(self, recorder: Recorder, rounds: bool = False) -> None:
        self.recorder = recorder
        takers = MinigradTaker(recorder), TorchTaker(recorder)
        self.takers: list[Taker] = list(takers)
        for taker in takers if rounds else ():
            taker.follow()

    def start(self) -> None:
        """Begin."""
        try:
            self.recorder.start()
            for taker in self.takers:
                taker.start()
        except BaseException:
            surely(self.detach)
            raise

    def stop(self, error: BaseException | None = None) -> tuple[Trace, Program | None]:
        """The trace of the cell and its program; None if there is none. A cell that computes with two
        libraries has no program."""
        try:
            programs = [taker.program(error) for taker in self.takers]
        finally:
            surely(self.detach)
        found = [program for program in programs if program is not None]
        if len(found) > 1:
            found[0] = found[0]._replace(why_not=("live_no_two", {}))
        return self.recorder.stop(error), found[0] if found else None

    def detach(self) -> None:
        """Stop observing; it may be called again."""
        for taker in self.takers:
            taker.end()
        self.recorder.detach()


def watch(source: str, namespace: dict[str, Any], rounds: bool = False, **options: Any) -> Watch:
    """Begin to record a cell, and take down its `rounds` as well if it has a loop; options are those of a
    Recorder."""
    watched = Watch(Recorder(source, namespace, **options), rounds)
    watched.start()
    return watched
