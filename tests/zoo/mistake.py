"""What a mistake of the zoo is, and how an explanation of it is judged."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from cells import run
from staged import explanations_of


class Mistake(NamedTuple):
    """A program that is right, and the text in it that a mistake replaces.

    The explanation must have the key `key` and name `line` (of the wrong program; None: none), and its
    sentences must hold `why` and `fix`. Then the test applies the fix: it replaces the first text of `cure`
    by the second or, where `cure` is the number of a line, that line by the first code that the fix quotes.
    The program must run without error, nothing may be explained of it, and `check` must be true of its
    variables.
    """

    program: str
    right: str
    wrong: str
    key: str
    line: int | None
    why: str
    fix: str
    cure: tuple[str, str] | int
    check: str

    @property
    def broken(self) -> str:
        """The program with the mistake."""
        assert self.program.count(self.right) == 1, f"{self.right!r} stands once in the program"
        return self.program.replace(self.right, self.wrong)

    def cured(self, fix: str) -> str:
        """The same with the fix applied, as the sentence `fix` says it."""
        if isinstance(self.cure, int):
            lines = self.broken.splitlines(keepends=True)
            old, code = lines[self.cure - 1], re.search("`([^`]+)`", fix)
            assert code is not None, f"no code in {fix!r}"
            lines[self.cure - 1] = old[: len(old) - len(old.lstrip())] + code[1] + "\n"
            return "".join(lines)
        assert self.broken.count(self.cure[0]) == 1, f"{self.cure[0]!r} stands once in the wrong program"
        return self.broken.replace(*self.cure)


class Verdict(NamedTuple):
    """What came of a mistake: what is wrong with its explanation ("" if nothing), and what else was explained
    of the wrong program and of the cured one, which is false."""

    problem: str
    false: tuple[str, ...]


def judged(mistake: Mistake, library: Any) -> Verdict:
    """Explain a mistake, apply the fix, and look at the program that comes out."""
    ran = run(mistake.broken, library)
    told = explanations_of(ran.trace, "en")
    mine = [each for each in told if each.key == mistake.key]
    false = tuple(each.key for each in told if each.key != mistake.key)
    if len(mine) != 1:
        return Verdict(f"explained: {[each.key for each in told]}, error: {ran.error!r}", false)
    one = mine[0]
    lines = {span.line for span in (one.span, one.cause) if span is not None and not span.origin}
    if bool(ran.error) != bool(one.error) or mistake.line not in (None, *lines):
        return Verdict(f"the lines are {lines}, the error is {ran.error!r}", false)
    if mistake.why not in one.why or mistake.fix not in one.fix:
        return Verdict(f"{one.why} | {one.fix}", false)
    cured = run(mistake.cured(one.fix), library)
    if cured.error is not None:
        return Verdict(f"the fix gives {cured.error!r}", false)
    false += tuple(each.key for each in explanations_of(cured.trace, "en"))
    return Verdict("" if eval(mistake.check, cured.names) else f"not so: {mistake.check}", false)
