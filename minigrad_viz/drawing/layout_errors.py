"""Why Graphviz gave no layout."""

from __future__ import annotations


class LayoutError(RuntimeError):
    """Graphviz gave no layout. The subclasses say why."""


class LayoutInvalid(LayoutError):
    """Graphviz does not accept the DOT text; its own words are in the message."""


class LayoutTimeout(LayoutError):
    """The layout was stopped at its deadline."""


class LayoutCrash(LayoutError):
    """The engine gave up: out of stack or memory, or a fault in Graphviz. The next call starts afresh."""


class LayoutTooLarge(LayoutError):
    """The graph would take long where a layout cannot be stopped."""


class LayoutUnavailable(LayoutError):
    """There is no engine here that can do this."""
