"""`draw()`: the picture of the graph of tensors, or of a model that is called with an input."""

from __future__ import annotations

import sys
from typing import Any

from ..drawing import picture
from ..drawing.picture import Picture
from ..drawing.strip_pictures import StripPicture
from ..model.strip_insides import Depth
from ..recording.modules import is_module
from ..recording.recorder import Recorder
from .report import Report


def draw(
    *roots: Any, names: dict[str, Any] | None = None, fold: bool = True, depth: Depth = 0, **options: Any
) -> Picture:
    """Draw the graph that the tensors `roots` were computed from (minigrad's or PyTorch's).

    `names` maps variable names to tensors (default: the caller's variables). Long chains of a large graph are
    folded unless `fold` is False. Other options are those of `Picture`. TypeError if something is not a
    tensor, or for an unknown option. For a tensor without a graph, its box says why it has none.

    >>> import minigrad as torch
    >>> x = torch.tensor(5.0, requires_grad=True)
    >>> z = torch.log(x ** 3)
    >>> print(draw(z, lang="en").outline().splitlines()[0])
    z   4.8283   root

    `draw(model, input, …)` calls the model with what follows and draws what it did: a strip of its parts. On
    the device "meta", where tensors have no numbers, it shows shapes. `depth` says how many levels are open
    below the strip, from the first layer on, or is a function that is called with the path of each module
    (`blocks.7.attn`): the first for which it returns true is open.

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> print(draw(model, torch.ones(4, 2), lang="en").outline().splitlines()[2].split()[:3])
    ['0', 'Linear', '2→8']
    """
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    if not roots or not is_module(roots[0]):
        return picture.draw(*roots, names=names, fold=fold, **options)
    picture.check_options(options)
    return model_picture(roots[0], roots[1:], names, fold, depth, options)


def model_picture(
    model: Any, inputs: tuple[Any, ...], names: dict[str, Any], fold: bool, depth: Depth,
    options: dict[str, Any],
) -> Picture:  # fmt: skip
    """The picture of one call of a model, which runs once. An error of it is the caller's."""
    known = {id(value): name for name, value in names.items() if name.isidentifier() and name[0] != "_"}
    called = [known.get(id(each), f"input{i or ''}") for i, each in enumerate(inputs)]
    name = known.get(id(model), "model")
    space = {name: model, **dict(zip(called, inputs, strict=True))}
    source = f"output = {name}({', '.join(called)})\n"
    code = compile(source, "<draw>", "exec")
    recorder = Recorder(source, space)
    recorder.start()
    error: Exception | None = None
    try:
        exec(code, space)
    except Exception as raised:
        error = raised
        raise
    finally:
        trace = recorder.stop(error)
    report = Report(trace, fold=fold, depth=depth, **options)
    picture = report.picture
    if not depth or not isinstance(picture, StripPicture):
        return picture
    act = report.act(-1)
    return picture.with_details([(each.title, each.picture) for each in act.panels if each.box in act.open])
