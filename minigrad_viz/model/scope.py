"""Which stations belong to a backward call, in a cell that has several.

Note [What belongs to a call]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A cell may go backward twice through the same graph, or through the graph of a gradient: then one picture
holds all of it. In a training loop the calls have nothing in common but leaves: then a picture of everything
is a picture of nothing, and each call gets its own. Calls belong together if they share a node, if one built
a node that the other ran, or if a leaf of the one was detached from the other's graph before that ran (two
halves of a graph joined by hand). A call that found no node goes with the one before it.

To such a group belongs what its roots were computed from, through tracked and untracked inputs, and what its
calls built. The search does not go on into what another group made: there the tensor itself is shown, as
something given. What no group was computed from (a metric, the step of an optimizer) goes with the group that
it was computed from, or else with the iteration in which it was made.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..trace.walk import reached
from .place import BackwardCall, Lookup, Place


def groups_of(calls: list[BackwardCall], links: dict[int, set[int]]) -> list[list[BackwardCall]]:
    """The calls in groups that belong together. `links` has further calls that a call belongs to."""
    group = {call.number: [call] for call in calls}
    owner: dict[str, int] = {}  # node -> a call that has it
    for i, call in enumerate(calls):
        others = {owner[node] for node in call.inner if node in owner} | links[call.number]
        if not call.inner and i:
            others.add(calls[i - 1].number)
        for other in others:
            mine, theirs = group[call.number], group[other]
            if mine is not theirs:
                theirs += mine
                group.update((each.number, theirs) for each in mine)
        owner.update(dict.fromkeys(call.inner, call.number))
    return list({id(each): each for each in group.values()}.values())


class Scopes:
    """The stations of every group of calls. `of(call)` gives the places of the group of a call, and those of
    them that are shown as given; None where one picture holds everything. `skipped` calls were not kept."""

    def __init__(self, index: Lookup, known: Mapping[int, BackwardCall], skipped: int) -> None:
        self.index, self.skipped = index, skipped
        calls = list(known.values())
        self.groups = [calls] if len(calls) < 2 else groups_of(calls, self._links(calls))
        self.shown: list[dict[str, Place]] = []  # per group, by id of the place
        self.given: list[set[str]] = []  # those whose own inputs are not shown
        if len(self.groups) > 1:
            for group in self.groups:
                self._search(group)
            self._share_out()

    def of(self, call: int) -> tuple[dict[str, Place], set[str]] | None:
        """What the picture of a call shows."""
        for i, group in enumerate(self.groups if len(self.groups) > 1 else ()):
            if any(each.number == call for each in group):
                return self.shown[i], self.given[i]
        return None

    def _links(self, calls: list[BackwardCall]) -> dict[int, set[int]]:
        """Which other calls each call belongs to by what it was made from: nodes that they built, and graphs
        from which its leaves were detached before they ran."""
        by_node = self.index.by_node
        owner = {node: call for call in reversed(calls) for node in call.inner}
        origins = {
            leaf: self._origins(leaf, owner)
            for leaf in {leaf for call in calls for leaf in call.accumulators}
        }
        links: dict[int, set[int]] = {}
        for call in calls:
            built = {by_node[node].built for node in call.inner if node in by_node}
            links[call.number] = built & {each.number for each in calls}
            links[call.number].update(*(origins[leaf] for leaf in call.accumulators))
        return links

    def _origins(self, leaf: str, owner: dict[str, BackwardCall]) -> set[int]:
        """The calls through whose graphs a leaf was made, if that was before they ran."""
        if leaf not in self.index.at:
            return set()
        place, came_from = self.index.at[leaf][0], self.index.came_from

        def before(source: Place) -> list[Place]:
            return [] if source.node in owner or source is place else came_from(source)

        ran = (owner[p.node] for p in reached(came_from(place), before) if p.node in owner)
        return {call.number for call in ran if place.time < call.begin}

    def _search(self, group: list[BackwardCall]) -> None:
        """Find what the roots of a group were computed from."""
        numbers = {call.number for call in group}
        own = set[str]().union(*(call.inner for call in group))
        others = [call for each in self.groups if each is not group for call in each]
        first = min((call.begin for each in self.groups for call in each), default=0)
        since = max((call.until for call in others if call.until < group[0].begin), default=-1)
        foreign = self._foreign(group)
        at = self.index.at
        stack = [at[root][0] for call in group for root in call.roots if root in at]
        stack += [place for place in self.index.places if place.built in numbers]
        shown, given = {place.id: place for place in stack}, set()
        while stack:
            place = stack.pop()
            here = place.node not in foreign and not first < place.time < since
            if place.node in own or place.built in numbers or here:
                new = [p for p in self.index.came_from(place) if p.id not in shown]
                shown.update((p.id, p) for p in new)
                stack += new
            else:
                given.add(place.id)
        self.shown.append(shown)
        self.given.append(given)

    def _foreign(self, group: list[BackwardCall]) -> set[str | None]:
        """The nodes of all other groups."""
        return {node for each in self.groups if each is not group for call in each for node in call.inner}

    def _share_out(self) -> None:
        """Give every other place to a group, with its inputs as something given."""
        owner: dict[str, int] = {}  # place -> its group, if it has but one
        for i, shown in enumerate(self.shown):
            for key in shown:
                owner[key] = -1 if key in owner else i
        begun = [self._begun(i, owner) for i in range(len(self.groups))]
        for place in self.index.places:
            if place.id in owner:
                continue
            sources = self.index.came_from(place)
            if self.skipped and place.time < begun[0] and (place.brought or sources):
                continue  # left over from a call that was not kept
            mine = max([self._iteration(place, begun), *(owner.get(p.id, -1) for p in sources)])
            owner[place.id] = mine
            for each in sources:
                if each.id not in self.shown[mine]:
                    self.given[mine].add(each.id)
                    self.shown[mine][each.id] = each
            self.shown[mine][place.id] = place
            self.given[mine].discard(place.id)

    def _begun(self, i: int, owner: dict[str, int]) -> float:
        """When the first place was made that only group `i` shows; else when its first call began."""
        alone = [p.time for key, p in self.shown[i].items() if owner[key] == i and p.built == 0]
        return min(alone, default=self.groups[i][0].begin)

    def _iteration(self, place: Place, begun: list[float]) -> int:
        """The group in whose iteration a place was made: between the call of one and the first op of the next
        the line in the source decides."""
        last = max((i for i, time in enumerate(begun) if time <= place.time), default=0)
        calls = self.groups[last]
        back = place.time > calls[-1].until and 0 < place.line < calls[-1].line
        return last + 1 if back and last + 1 < len(self.groups) else last
