"""What a mistake of the zoo is."""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """A program that is right, and the text in it that a mistake replaces.

    The explanation must have the key `key` and name `line` (of the wrong program; None: none), and its
    sentences must hold `why` and `fix`. Then the test applies the fix: it replaces the first text of `cure`
    by the second. The program must run without error, nothing may be explained of it, and `check` must be
    true of its variables.
    """

    program: str
    right: str
    wrong: str
    key: str
    line: int | None
    why: str
    fix: str
    cure: tuple[str, str]
    check: str

    @property
    def broken(self) -> str:
        """The program with the mistake."""
        assert self.program.count(self.right) == 1, f"{self.right!r} stands once in the program"
        return self.program.replace(self.right, self.wrong)

    @property
    def cured(self) -> str:
        """The same with the fix applied."""
        assert self.broken.count(self.cure[0]) == 1, f"{self.cure[0]!r} stands once in the wrong program"
        return self.broken.replace(*self.cure)
