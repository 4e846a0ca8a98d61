"""One unit's names as a pattern that is matched at a place of a text."""

import re
from collections.abc import Sequence

from dos.verify.names.spelling import any_of, contains_plan, is_key, issue_number

_NOUNS = ("Issue", "Bug", "Feature", "Task", "Ticket")  # before the number of an issue


class NamePattern:
    """The names of one unit that say of which plan it is.

    The group that matched tells their kind: a `key` such as PROJ-12 or AUTH/AUTH1, a `spaced` name
    such as AUTH AUTH1, or a `word` such as AUTH1, which can be a word of prose.
    """

    def __init__(self, plan: str, phase: str, spellings: Sequence[str]) -> None:
        self.plan = plan
        self.number = issue_number(plan, phase)  # of an issue that people write as #12
        bare = [each for each in spellings if contains_plan(plan, each) and " " not in each]
        keys = [f"{plan}/{each}" for each in spellings] + [each for each in bare if is_key(each)]
        if phase.isdecimal():
            keys.append(f"{plan}-{phase}")
        if self.number:
            keys += [f"#{self.number}", f"GH-{self.number}"]
            keys += [f"{noun} #{self.number}" for noun in _NOUNS]
        kinds = {
            "key": keys,
            "spaced": [f"{plan} {each}" for each in spellings],
            "word": [each for each in bare if each not in keys],
        }
        groups = [f"(?P<{kind}>{any_of(names)})" for kind, names in kinds.items() if names]
        self._pattern = re.compile("|".join(groups))

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The name that begins at a place of the text."""
        return self._pattern.match(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The name that the whole text is."""
        return self._pattern.fullmatch(text)

    def is_other_of_plan(self, text: str) -> bool:
        """Whether a text looks like another unit of the plan."""
        return contains_plan(self.plan, text) and any(map(str.isdigit, text))
