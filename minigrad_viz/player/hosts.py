"""What the notebook that runs us can show."""

from __future__ import annotations

import sys


def widgets_are_shown() -> bool:
    """Return whether the notebook shows widgets that are not ipywidgets' own.

    Colab shows them only with a manager of widgets that it loads from the network. There the player in the
    output's HTML is what works.
    """
    return "google.colab" not in sys.modules
