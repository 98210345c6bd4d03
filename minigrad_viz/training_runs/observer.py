"""Watches one library while a run goes on, and fills in the evidence.

Note [What a step costs]
    Most steps only count: the functions of `Library.patches` and the hooks of optimizers report that
    something was called. At sampled steps modules are hooked too, the graph of the loss is read before
    backward with hooks on its AccumulateGrad nodes, and norms are taken; the first steps are watched op by
    op. Which steps are sampled depends on their number, and on the processor time that sampling has taken so
    far.
"""

from __future__ import annotations

import linecache
import threading
import time
from typing import Any

from ..replay import watch
from ..shell.report import Report
from ..training_faults.evidence import Evidence, ParameterFacts
from .backward_calls import BackwardCalls
from .batches import Batches
from .hub import call_guarded, user_frame
from .library import Library
from .measures import Measures
from .module_calls import ModuleCalls
from .naming import Names, assignment_of, variable_of
from .ops import OpTrace
from .optimizer_calls import OptimizerCalls

FIRST = 5  # steps that are always sampled
TRACED = 3  # steps that are watched op by op
DENSITY = 50  # about so many samples, each time the number of steps has doubled
processor_time = getattr(time, "thread_time", time.process_time)  # in a browser there is one thread
SHARE, GRANTED, PER_STEP = 0.02, 0.08, 0.00005  # of the processor time, seconds at once, seconds a step


class Observer:
    """Watches one library in the thread that made it. Its parts listen to the calls of one topic each."""

    def __init__(self, library: Library, evidence: Evidence, loss: str = "") -> None:
        self.library, self.evidence, self.loss = library, evidence, loss
        self.thread = threading.get_ident()
        self.problems: list[str] = []
        self.names = Names()
        self.trace = OpTrace(library)
        self.measures = Measures(library, evidence)
        self.modules = ModuleCalls(self)
        self.batches = Batches(self)
        self.backward = BackwardCalls(self)
        self.optimizers = OptimizerCalls(self)
        self.parts = (self.modules, self.batches, self.backward, self.optimizers)
        self.handles: list[Any] = []  # of hooks that stay for the whole run
        self.sampled = self.tracing = self.hooked = False
        self.by_compiler = False  # something is compiled: modules and ops are not watched
        self.sampled_parameters = False  # of this step only the parameters are looked at: the loss jumped
        self.started = processor_time()
        self.spent = 0.0
        self.last_sample = 0
        self.recorder: Any = None  # the doctor, who may ask for a recording of the next step
        self.recording: Any = None
        self.recorded_step = 0
        self.recording_due = False

    def guarded(self, function: Any, *values: Any) -> None:
        """Call a method of ours in the middle of the run. Where a step only counts, asking for the time would
        take longer than the counting."""
        if not self.sampled and not self.tracing:
            call_guarded(self.problems, function, *values)
            return
        began = processor_time()
        call_guarded(self.problems, function, *values)
        self.spent += processor_time() - began

    def note_op(self, op: str, args: Any, result: Any) -> None:
        """An op ran in a step that is watched op by op."""
        self.guarded(self.trace.record, op, args, result)

    def start(self, models: list[Any], optimizers: list[Any]) -> None:
        """Begin to watch."""
        frame = user_frame()
        for model in models:
            self.modules.add_root(model, variable_of(frame, model) or type(model).__name__.lower())
        for optimizer in optimizers:
            self.optimizers.register(optimizer, assignment_of(frame, optimizer))
        self.library.start_optimizers(
            lambda optimizer, closure: self.guarded(self.optimizers.before_step, optimizer, closure),
            lambda optimizer: self.guarded(self.optimizers.after_step, optimizer),
        )
        call_guarded(self.problems, self.modules.start)
        self._plan()
        self.recording_due = self._wanted()

    def stop_hooks(self) -> None:
        """Remove the hooks of modules, and stop reading ops."""
        if self.hooked:
            self.library.stop_modules()
        if self.tracing or self.modules.evaluating_now:
            self.library.stop_ops()
        self.hooked = self.tracing = self.modules.evaluating_now = False

    def stop(self) -> None:
        """End watching: all hooks go, what is left is evidence."""
        self._sampling(False)
        self.backward.unhook()
        if self.recording is not None:  # the run ended within the step
            self._end_recording()
        self.library.stop_ops(last=True)
        self.library.stop_optimizers()
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
        call_guarded(self.problems, self._finish)
        self.trace.clear()
        self.measures.clear()

    def _finish(self) -> None:
        evidence = self.evidence
        self.measures.read_outputs()
        self.backward.read_losses()
        evidence.losses = self.backward.chosen_losses(self.loss)
        evidence.listed = dict(self.names.listed)
        evidence.numbers = sum(p.size for p in evidence.parameters.values())
        evidence.unwatched += self.problems
        for facts in evidence.activations.values():
            runs = facts.runs
            if runs is not None:
                needed = min(10, max(3, len(facts.samples)))
                facts.runs = float((runs >= needed).float().mean().item())
        evidence.overhead = self.spent
        self.backward.look_for_kept()
        sums = self.trace.sums_of_roots
        repeated = [place for place, count in sums.items() if count >= TRACED - 1]
        if repeated and not evidence.kept_losses:
            evidence.kept_losses, evidence.kept_place = evidence.steps, repeated[0]

    def _plan(self) -> None:
        """Decide about the next step."""
        self.measures.read_outputs()
        self.trace.clear()
        self.modules.forget_step()
        upcoming = self.evidence.steps + 1
        due = upcoming - self.last_sample >= max(1, upcoming // DENSITY)
        certain = upcoming <= FIRST or (upcoming % 10 == 0 and upcoming <= 40)
        self._sampling(certain or (due and self._affordable(upcoming)))
        wanted = upcoming <= TRACED and not self.by_compiler
        if wanted and not self.tracing:
            self.library.start_ops(self.note_op)
        elif self.tracing and not wanted:
            self.library.stop_ops()
        self.tracing = wanted

    def _affordable(self, upcoming: int) -> bool:
        """Whether the samples so far have taken little enough time."""
        elapsed = processor_time() - self.started
        return self.spent <= SHARE * elapsed + GRANTED + PER_STEP * upcoming

    def _sampling(self, wanted: bool) -> None:
        hooked = wanted and not self.by_compiler
        if hooked and not self.hooked:
            self.library.start_modules(
                lambda module, args: self.guarded(self.modules.enter_module, module, args),
                lambda module, result: self.guarded(self.modules.leave_module, module, result),
            )
        elif self.hooked and not hooked:
            self.library.stop_modules()
        self.sampled, self.hooked = wanted, hooked
        if wanted:
            self.last_sample = self.evidence.steps + 1

    def facts_of(self, tensor: Any) -> ParameterFacts:
        """The facts of a leaf."""
        key = id(tensor)
        facts = self.evidence.parameters.get(key)
        if facts is None:
            named = self.names.parameters.get(key)
            if named is None:
                name = variable_of(user_frame(), tensor) or "×".join(map(str, tensor.shape)) or "scalar"
                named = (name, "", 900_000 + len(self.evidence.parameters), True)
            facts = ParameterFacts(key, named[0], tuple(tensor.shape), named[2], int(tensor.numel()))
            facts.root, facts.registered = named[1], named[3]
            count, facts.write, facts.write_place = self.trace.writes.get(key, (0, "", None))
            facts.rewritten = count > 1
            facts.is_parameter = isinstance(tensor, self.library.Parameter) or bool(named[1])
            self.evidence.parameters[key] = facts
        return facts

    def between_rounds(self) -> None:
        """After a step: decide about the next one."""
        self._plan()
        self.recording_due = self.recording_due or self.recording is not None or self._wanted()

    def _wanted(self) -> bool:
        """Whether the step that comes is to be recorded whole."""
        return self.recorder is not None and self.recorder.wants_recording(self.evidence.steps + 1)

    def turn_recording(self) -> None:
        """Begin or end to record a step whole: at a call of a model, or a reset. Hooks of an optimizer must
        not come or go while it calls its hooks."""
        if not self.recording_due:
            return
        self.recording_due = False
        if self.recording is not None:
            self._end_recording()
        else:
            frame = user_frame()
            source = "".join(linecache.getlines(frame.f_code.co_filename))
            self._sampling(False)
            self.recording = watch(source, frame.f_globals, whole=False)
            self.recorded_step = self.evidence.steps + 1
            for name, model in self.names.roots.items():  # a function may hold it, and may be calling it now
                self.recording.recorder.modules.introduce(model, name)

    def _end_recording(self) -> None:
        trace, program = self.recording.stop()
        self.recording = None
        report = Report(trace, program=program, lang=self.recorder.lang)
        self.recorder.recording_ends(report, self.recorded_step)
