"""Plan and settings files on the disk of each host and on the target branch.

Which text counts is decided by the product's own code.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

from msgspec import structs

from dos.approval.io.plans import PlanTexts
from dos.approval.io.settings import SettingsText
from dos.config.load import FILE_NAME, parse
from dos.config.schema import Config
from dos.fleet.worker.start_state import new_state
from dos.journal.store import Store
from dos.loop.types import LoopState
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions
from dos.testing.simulator.world.repository import Repository
from dos.testing.simulator.world.workspace import ITERATIONS
from dos.units.io import documents
from dos.units.portfolio import Portfolio, assemble
from dos.units.unit import Unit

PLAN = "docs/plan.md"
UNUSABLE = "[workers]\nmax_iterations = -1\n"
ADDED = 8  # number of a unit that a person adds to a lane


class HostDocument:
    """A document in the checkout of a host; `writes` counts its edits."""

    def __init__(self, name: str, host: str, repository: Repository) -> None:
        self.name = name
        self.where = f"{host}:/checkout"
        self.on_disk = repository.documents[name]
        self._repository = repository
        self.writes = 0

    def write(self, text: str) -> None:
        self.on_disk = text
        self.writes += 1

    def stamps(self) -> list[object]:
        return [self.writes]

    def names(self) -> list[str]:
        return [self.name]

    def read(self, name: str) -> str:  # noqa: ARG002
        return self.on_disk

    def tip(self) -> str:
        return self._repository.target

    def blobs(self, names: Iterable[str]) -> dict[str, str]:
        """Return the committed texts; a text is its own object id."""
        committed = self._repository.documents
        return {name: committed[name] for name in names if name in committed}

    def text(self, blob: str) -> str:
        return blob


class HostTexts:
    """The plan and the dos.toml of one host, and which versions count there."""

    def __init__(self, host: str, repository: Repository) -> None:
        self.plan = HostDocument(PLAN, host, repository)
        self.dos_toml = HostDocument(FILE_NAME, host, repository)
        self.plan_texts = PlanTexts(self.plan, self._read)
        self.settings = SettingsText(self.dos_toml, Path(FILE_NAME), journal=Config().store.url)
        self.approved_ms = 0  # when a person last ran `dos up` here
        self._units: list[Unit] = []
        self._units_basis: object = None  # what the units were read from
        self._confirmed_basis: object = None

    @property
    def where(self) -> str:
        return self.settings.where

    def on_disk(self, name: str) -> str:
        """Return the text of the named document on this host's disk."""
        if name == PLAN:
            return self.plan.on_disk
        return self.dos_toml.on_disk

    def approve(self, store: Store, now_ms: int) -> None:
        """Approve the texts on disk, as `dos up` does; an unusable dos.toml is fixed first."""
        if self.dos_toml.on_disk == UNUSABLE:
            self.dos_toml.write(settings_text(ITERATIONS))
        self.settings.approve(store, parse(self.dos_toml.on_disk, Path(FILE_NAME)), by="person")
        self.plan_texts.approve(store, by="person")
        self.approved_ms = now_ms

    def units(self, store: Store, answers: Decisions, news: int) -> list[Unit]:
        """Return the units of the plan that counts; `news` is the number of text events so far."""
        basis = self._basis(news)
        if basis != self._units_basis:
            self._units = self.plan_texts.units(store, answers)
            self._units_basis = basis
        return self._units

    def keep_confirmed(self, store: Store, answers: Decisions, news: int) -> None:
        """Keep the texts that people confirmed, as a supervisor does before it observes."""
        basis = self._basis(news)
        if basis != self._confirmed_basis:
            self.settings.update(store, answers)
            self.plan_texts.keep_confirmed(store, answers)
            self._confirmed_basis = basis

    def _basis(self, news: int) -> object:
        return news, self.plan.writes, self.dos_toml.writes, self.plan.tip()

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        """Return the questions about edits that are not approved."""
        return [*self.settings.questions(answers), *self.plan_texts.questions(answers)]

    def _read(self, texts: Mapping[str, str | None] | None) -> Portfolio:
        if texts is None:
            return portfolio(self.plan.on_disk)
        return portfolio(texts.get(PLAN) or "")


@lru_cache(maxsize=256)
def portfolio(text: str) -> Portfolio:
    """Return the units that a plan declares, by the product's grammar."""
    units: list[Unit] = []
    for document in documents.read_documents(Path(), "", texts={PLAN: text}):
        assert not isinstance(document, tuple), document
        units += document.units
    return assemble(units)


def plan_text(units: Sequence[Unit]) -> str:
    """Return a plan that declares the units."""
    return "# Plan\n" + "".join(map(_section, units))


def _section(unit: Unit) -> str:
    lines = ["", f"## {unit.id}: {unit.title}", f"- lane: {unit.lane}"]
    if unit.depends:
        lines.append(f"- depends: {', '.join(unit.depends)}")
    if unit.gated:
        lines.append(f"- gated: {unit.gated}")
    return "\n".join(lines) + "\n"


def settings_text(max_iterations: int) -> str:
    """Return a dos.toml with this limit."""
    return f"[workers]\nmax_iterations = {max_iterations}\n"


def first_state(text: str, config: Config) -> LoopState:
    """Return the first loop state of a worker with these settings."""
    workers = structs.replace(config.workers, max_iterations=_iterations(text))
    return new_state(structs.replace(config, workers=workers))


@lru_cache(maxsize=64)
def _iterations(text: str) -> int:
    return parse(text, Path(FILE_NAME)).config.workers.max_iterations


def edited_plan(text: str, random: Random) -> str:
    """Return the plan after a person gated, ungated, rewrote, added or removed a unit."""
    units = list(portfolio(text).units)
    lanes = sorted({unit.lane for unit in units})
    if not units:
        return text
    index = random.randrange(len(units))
    unit = units[index]
    match random.choice(("gate", "gate", "rewrite", "add", "remove")):
        case "gate":
            gated = "" if unit.gated else "a person decides"
            units[index] = structs.replace(unit, gated=gated)
        case "rewrite":
            units[index] = structs.replace(unit, title=f"{unit.title} anew")
        case "add":
            lane = random.choice(lanes)
            added = Unit(
                plan="PLAN", id=f"{lane.upper()}{ADDED}", title="added by a person", lane=lane
            )
            if all(declared.name != added.name for declared in units):
                units.append(added)
        case "remove":
            del units[index]
    return plan_text(units)


def edited_settings(random: Random) -> str:
    """Return a dos.toml that a person wrote, one in five of them unusable."""
    if random.random() < 0.2:
        return UNUSABLE
    return settings_text(random.randint(4, 9))
