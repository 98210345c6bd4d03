"""Layers that call a function of `nn.functional`."""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any

from .. import functional
from .module import Module

__all__ = []

TENSORS = ("input", "target", "x1", "x2", "input1", "input2", "anchor", "positive", "negative", "var")
DEPRECATED = ("size_average", "reduce")


class Applied(Module):
    """Layer that calls the function `function` of `nn.functional`.

    `class ELU(Applied, function="elu")` is a whole layer. Its parameters are those of the function that are
    no tensors: a call of the layer passes them on, and the repr shows them. `settings` names them where the
    layer has others or another order; those after "*" are given by name. Further keywords are other defaults.
    """

    function = ""
    settings: tuple[str, ...] = ()  # the attributes that a call passes on

    def __init_subclass__(cls, function: str = "", settings: str = "", **defaults: Any) -> None:
        super().__init_subclass__()
        if not function:
            return
        known = signature(getattr(functional, function)).parameters
        names, _, named = settings.partition("*")
        parameters: dict[str, Parameter] = {}
        for name in (names + named).split() or [name for name in known if name not in TENSORS]:
            kind = Parameter.KEYWORD_ONLY if name in named.split() else known[name].kind
            default = defaults.get(name, known[name].default)
            parameters[name] = Parameter(name, kind, default=default)
        cls.function, cls.settings = function, tuple(n for n in parameters if n not in DEPRECATED)
        if not any("_shown" in vars(base) for base in cls.__mro__[: cls.__mro__.index(Applied)]):
            cls._shown = " ".join(f"{name}=" for name in cls.settings if name != "inplace")
            cls._usual = {"inplace": False} if "inplace" in cls.settings else {}
        cls.__init__ = initializer(cls.__qualname__, parameters)  # type: ignore[method-assign]

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def _configure(self, settings: dict[str, Any]) -> None:
        """Keep the settings; a subclass may check or change them first."""
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, input: Any) -> Any:
        """Apply the function."""
        return self._run(input)

    def _run(self, *inputs: Any, **named: Any) -> Any:
        """Call the function with the inputs and the settings."""
        given = {name: getattr(self, name) for name in self.settings}
        return getattr(functional, self.function)(*inputs, **named, **given)


def initializer(title: str, parameters: dict[str, Parameter]) -> Any:
    """Return the `__init__` of a class of layers, which sets these parameters."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        self._configure(bind_arguments(__init__.__qualname__, parameters, args, kwargs))

    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    __init__.__qualname__ = f"{title}.__init__"
    __init__.__signature__ = Signature([own, *parameters.values()])  # type: ignore[attr-defined]
    return __init__


def bind_arguments(title: str, parameters: dict[str, Parameter], args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the value of each parameter; raise TypeError in Python's words for other arguments."""
    placed = [name for name, p in parameters.items() if p.kind is not Parameter.KEYWORD_ONLY]
    needed = [name for name, p in parameters.items() if p.default is Parameter.empty]
    if len(args) > len(placed):
        most = len(placed) + 1  # self counts
        takes = f"from {len(needed) + 1} to {most}" if len(needed) < len(placed) else most
        plural = "s" if most > 1 else ""
        raise TypeError(f"{title}() takes {takes} positional argument{plural} but {len(args) + 1} were given")
    given = dict(zip(placed, args))
    for key in kwargs:
        if key in given:
            raise TypeError(f"{title}() got multiple values for argument '{key}'")
        if key not in parameters:
            raise TypeError(f"{title}() got an unexpected keyword argument '{key}'")
    given |= kwargs
    missing = [repr(name) for name in needed if name not in given]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        text = f"{len(missing)} required positional argument{plural}: {' and '.join(missing)}"
        raise TypeError(f"{title}() missing {text}")
    return {name: p.default for name, p in parameters.items()} | given
