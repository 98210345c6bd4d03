"""Letters for results that have no name, so that a formula can say ∂z/∂a.

Note [Letters]
    What the cell computed without giving it a variable, outside of modules and functions, gets a letter that
    stands nowhere in the source: its station reads `a = log(y)`. Letters are given in program order, so each
    round of a loop gives the same ones. Where letters run out, the others have none.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from ..trace.events import Forward
from .module_calls import ModuleCalls
from .place import Place

LETTERS = "abcdefghkmnpqrstuvw"
WORD = re.compile(r"\w+")


def letters_for(
    places: Iterable[Place], named: Container[str], source: str, calls: ModuleCalls
) -> dict[str, str]:
    """The letters of unnamed results, by tensor id."""
    used = set(WORD.findall(source))
    free = (letter for letter in LETTERS if letter not in used)
    unnamed = (place for place in places if lacks_a_name(place, named, calls))
    return {place.states[0].id: letter for place, letter in zip(unnamed, free)}


def lacks_a_name(place: Place, named: Container[str], calls: ModuleCalls) -> bool:
    """Whether a place is a result of the cell that is known by its expression alone."""
    if place.order != 1 or place.node is None or not place.expr or len(place.states) > 1:
        return False
    event = place.event
    if not isinstance(event, Forward) or event.call or event.span is None or event.span.origin:
        return False
    return place.states[0].id not in named and calls.at(place.time) is None
