"""How often, over many commits, does the diff not do what the subject says?"""

from collections import Counter
from typing import Any

from dos.verdicts.commits.audit import Answer, Verdict

_COLUMNS = {
    Answer.OK: "witnessed",
    Answer.CLAIM_UNWITNESSED: "unwitnessed",
    Answer.TESTS_WEAKENED: "tests_weakened",
    Answer.ABSTAIN: "abstain",
}


class Sweep:
    """Counts; the verdicts themselves are not kept."""

    def __init__(self) -> None:
        self._counts: Counter[Answer] = Counter()
        self._kinds: dict[str, dict[str, int]] = {}
        self._shas: dict[Answer, list[str]] = {Answer.CLAIM_UNWITNESSED: [], Answer.TESTS_WEAKENED: []}
        self._limits: Counter[str] = Counter()

    def add(self, verdict: Verdict) -> None:
        self._counts[verdict.verdict] += 1
        columns = self._kinds.setdefault(verdict.claim_kind, dict.fromkeys(_COLUMNS.values(), 0))
        columns[_COLUMNS[verdict.verdict]] += 1
        if verdict.verdict in self._shas:
            self._shas[verdict.verdict].append(verdict.sha)
        self._limits.update(verdict.limits)

    @property
    def commits(self) -> int:
        return self._counts.total()

    @property
    def findings(self) -> int:
        return self._counts[Answer.CLAIM_UNWITNESSED] + self._counts[Answer.TESTS_WEAKENED]

    def as_data(self) -> dict[str, Any]:
        unwitnessed = self._counts[Answer.CLAIM_UNWITNESSED]
        checkable = self.commits - self._counts[Answer.ABSTAIN]
        return {
            "commits": self.commits,
            "checkable": checkable,
            "abstained": self._counts[Answer.ABSTAIN],
            "witnessed": self._counts[Answer.OK],
            "unwitnessed": unwitnessed,
            "tests_weakened": self._counts[Answer.TESTS_WEAKENED],
            "drift_rate": unwitnessed / checkable if checkable else 0.0,
            "by_kind": self._kinds,
            "unwitnessed_shas": self._shas[Answer.CLAIM_UNWITNESSED],
            "weakened_shas": self._shas[Answer.TESTS_WEAKENED],
            "limits": dict(self._limits),
        }
