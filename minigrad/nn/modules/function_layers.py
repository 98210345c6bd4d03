"""Layers that call a function of `nn.functional`."""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any

from .. import functional
from .module import Module

__all__ = []

TENSORS = ("input", "target", "x1", "x2", "input1", "input2", "anchor", "positive", "negative", "var")
DEPRECATED = ("size_average", "reduce")


class FunctionLayer(Module):
    """Layer that calls the function `function` of `nn.functional`.

    `class ELU(FunctionLayer, function="elu")` is a whole layer. Its parameters are those of the function that
    are not tensors: a call of the layer passes them on, and the repr shows them. `settings` names them where
    the layer has others or another order. Further keywords are other defaults.
    """

    function = ""
    settings: tuple[str, ...] = ()  # the attributes that a call passes on
    operands: tuple[str, ...] = ()  # the tensors that a call takes

    def __init_subclass__(cls, function: str = "", settings: str = "", **defaults: Any) -> None:
        super().__init_subclass__()
        if not function:
            return
        known = signature(getattr(functional, function)).parameters
        cls.operands = tuple(name for name in known if name in TENSORS)
        names = settings.split() or [name for name in known if name not in TENSORS]
        cls.function, cls.settings = function, tuple(name for name in names if name not in DEPRECATED)
        parameters = [
            Parameter(name, known[name].kind, default=defaults.get(name, known[name].default))
            for name in names
            if name != "training"
        ]
        if not any("_shown" in vars(base) for base in cls.__mro__[: cls.__mro__.index(FunctionLayer)]):
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


def initializer(title: str, parameters: list[Parameter]) -> Any:
    """Return the `__init__` of a class of layers, which sets these parameters."""
    known = Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        try:
            given = known.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{title}.__init__() {error}") from None
        given.apply_defaults()
        self._configure(given.arguments)

    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    __init__.__qualname__ = f"{title}.__init__"
    __init__.__signature__ = Signature([own, *parameters])  # type: ignore[attr-defined]
    return __init__
