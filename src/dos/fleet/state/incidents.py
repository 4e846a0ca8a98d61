"""Commits that agents brought to the branch of the user by themselves, and which of them a person keeps."""

from msgspec import Struct, field

from dos.choices import ChoiceName
from dos.journal.events.limits import DecisionAnswered, IncidentFound
from dos.questions.units import Incident


class Incidents(Struct, kw_only=True):
    found: dict[str, IncidentFound] = field(default_factory=dict)  # by the question about each
    kept: set[str] = field(default_factory=set)  # the questions that were answered so

    def add(self, fact: IncidentFound) -> None:
        self.found.setdefault(Incident.id_of(fact.id), fact)

    def answer(self, fact: DecisionAnswered) -> None:
        if fact.choice == ChoiceName.KEEP and fact.id in self.found:
            self.kept.add(fact.id)

    @property
    def disputed(self) -> frozenset[str]:
        """The commits that are no landing, whatever they say."""
        open_ones = (fact for name, fact in self.found.items() if name not in self.kept)
        return frozenset(commit for fact in open_ones for commit in fact.commits)

    @property
    def kept_commits(self) -> frozenset[str]:
        """Those that a person took for their own."""
        return frozenset(commit for name in self.kept for commit in self.found[name].commits)
