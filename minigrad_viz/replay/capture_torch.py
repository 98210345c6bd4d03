"""Capturing a program of PyTorch, whose functions a mode sees; see Note [How PyTorch is watched]."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import Any, NamedTuple

from ..protocol import history_of, is_tensor, pytorch
from ..sources.torch_frames import by_torch
from .capture import RANDOM, ProgramCapture, carefully
from .program import InputTensor, Instruction, Ref, Unreplayable, flat_values

ANSWERS = frozenset(("bool", "int", "index", "complex", "is_nonzero", "equal", "allclose", "contains"))
EXITS = frozenset(("item", "tolist", "float", "numpy", "array"))
# Functions that do something and give no tensor.
EFFECTS = frozenset(("backward", "retain_grad", "setitem", "set", "delete"))
NOT_PLAIN = EFFECTS | {"get", "grad"}
ATTRIBUTES = ("data", "grad", "requires_grad")  # that a program may set
GIVING = ("data", "grad", "T", "mT", "H", "mH", "real", "imag")  # whose values are tensors
LOOKS = ("repr", "format", "str", "len", "dim", "size", "hash")
HOOKS = ("register_hook", "register_post_accumulate_grad_hook")
MODES = ("set_grad_enabled", "_set_grad_enabled")


class PendingCall(NamedTuple):
    """A call that is about to run, with its arguments as templates; `seed` is the state of random numbers.
    A plain one, which only computes, has the function as `run`."""

    name: str
    args: Any
    options: Any
    grad_mode: bool
    seed: Any = None
    run: Any = None


NO_OPTIONS: Any = MappingProxyType({})


class TorchCapture(ProgramCapture):
    """Takes down what a cell computes with PyTorch, as its mode tells: `before` a call and `after` it."""

    optimizers = "torch.optim."

    def __init__(self, recorder: Any) -> None:
        super().__init__(recorder, "torch")
        self.hook: Any = None
        self.plain: set[Any] = set()  # functions that only compute, as an earlier call has shown

    def start(self) -> None:
        """Begin to listen."""
        self.recorder.taker = self

    def end(self) -> None:
        """Stop listening."""
        self.recorder.taker = None
        if self.hook is not None:
            self.hook.remove()

    def ref(self, tensor: Any) -> Ref:
        """A tensor that is used. The result of the user's own Function cannot be one: it is the tensor that
        its forward made, with a history."""
        function = getattr(type(history_of(tensor)), "_forward_cls", None)
        if function is not None:
            raise Unreplayable("live_no_function", name=function.__name__)
        return super().ref(tensor)

    @carefully
    def before(self, func: Any, args: Any, options: Any) -> PendingCall | None:
        """A function is about to run. Its arguments are taken now, because it may write into them."""
        tape, torch = self.recorder.tape, pytorch()
        if tape.call or tape.busy or torch is None:
            return None
        if self.recorder.steps.open is not None:
            self.refuse("live_no_optimizer")
            return None
        if self.rounds is not None:
            self.hear()
        given = self.known_arguments(args) if func in self.plain and not options else None
        if given is not None:
            return PendingCall("", given, NO_OPTIONS, torch.is_grad_enabled(), run=func)
        title = getattr(func, "__name__", "")
        name = title.strip("_")
        if name in MODES or not self.concerns(name, func, args, options):
            return None
        if name in HOOKS:
            raise Unreplayable("live_no_hook")
        with tape.shield():
            first, *others = [t for t in flat_values((args, options)) if is_tensor(t)] or [None]
            written = first is not None and writes_in_place(title)
            if written and not self.writes(first, others):
                return None
            if written or name == "backward" or func is torch.autograd.grad:
                self.note_names()
            seed = torch.get_rng_state() if name in RANDOM else None
            mode = torch.is_grad_enabled()
            return PendingCall(name, self.argument(tuple(args)), self.argument(dict(options)), mode, seed)

    def concerns(self, name: str, func: Any, args: Any, options: Any) -> bool:
        """Whether a call is more than a look at a tensor."""
        if name in ("set", "delete"):
            return getattr(func.__self__, "__name__", "") in ATTRIBUTES
        if name == "get":
            return getattr(func.__self__, "__name__", "") in GIVING
        return name not in LOOKS and "record_function" not in name

    @carefully
    def after(self, call: PendingCall, func: Any, result: Any) -> None:
        """It has run."""
        name = call.name
        if call.run is not None and is_tensor(result):
            how = call.args, NO_OPTIONS, self.result(result), call.grad_mode
            return self.note(Instruction("call", call.run, *how))
        with self.recorder.tape.shield():
            if name in EXITS:
                return self.exits()
            if name in ANSWERS:
                return self.step("ask", func, call.args, call.options, answer=result, line=self.line())
            found = [t for t in flat_values(result) if is_tensor(t)]
            if not found and name not in EFFECTS:
                return None
            if not any(type(part) is Ref for part in flat_values((*call.args, *call.options.values()))):
                return None if by_torch() else self.made(result)
            results = self.results_of(result) if found else None
            kind = "call" if call.seed is None else "draw"
            seed = None if call.seed is None else call.seed.numpy()
            root = call.args[0] if name == "backward" and type(call.args[0]) is Ref else None
            more = {"grad_mode": call.grad_mode, "answer": seed, "backward": root}
            self.step(kind, func, call.args, call.options, results=results, **more)
            writes = name in NOT_PLAIN or writes_in_place(getattr(func, "__name__", ""))
            if kind == "call" and not writes:
                self.plain.add(func)
            if root is not None and self.rounds is not None:
                torch: Any = pytorch()
                one: Any = next((t for number, t in self.alive() if number == root.number), None)
                single = one is not None and one.numel() == 1
                self.ended(one.item() if single else None, torch.get_rng_state().numpy())
        return None

    def hear(self) -> None:
        """Hear of the steps of optimizers, as soon as PyTorch has any."""
        optimizers = sys.modules.get("torch.optim.optimizer")
        if self.hook is None and optimizers is not None:
            hooks = optimizers._global_optimizer_post_hooks
            self.hook = sys.modules["torch.utils.hooks"].RemovableHandle(hooks)
            hooks[self.hook.id] = self.step_ended

    @carefully
    def step_ended(self, optimizer: Any, *_: Any) -> None:
        """An optimizer changed its parameters."""
        self.stepped(optimizer)

    def made(self, result: Any) -> None:
        """A function made a tensor from data, or drew it."""
        if not is_tensor(result):
            raise Unreplayable("live_no_argument", kind=type(result).__name__)
        made = self.taken(result)
        self.step("make", None, results=self.new(result), made=made)

    def results_of(self, result: Any) -> Any:
        """The tensors of a result by number."""
        if is_tensor(result):
            return self.result(result)
        if isinstance(result, list | tuple):
            return tuple(map(self.results_of, result))
        return None


def writes_in_place(title: str) -> bool:
    """Whether a function of this name writes into its first argument."""
    if title.startswith("__"):
        return title.startswith("__i") and title not in ("__invert__", "__index__", "__int__")
    return title.endswith("_") and title != "requires_grad_"


def build_torch_tensor(given: InputTensor) -> Any:
    """A new tensor."""
    torch: Any = sys.modules["torch"]
    made = torch.tensor(given.data, requires_grad=given.learns and not given.parameter)
    if given.parameter:
        made = torch.nn.Parameter(made, requires_grad=given.learns)
    if given.grad is not None:
        made.grad = torch.tensor(given.grad)
    return made
