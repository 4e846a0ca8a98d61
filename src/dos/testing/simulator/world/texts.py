"""Plans and settings as files: on the disk of each host, and on the target branch. What counts, the product says."""

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
ADDED = 8  # the number of a unit that somebody adds to a lane


class HostDocument:
    """One document in the checkout of a host."""

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

    def read(self, name: str) -> str:
        return self.on_disk

    def tip(self) -> str:
        return self._repository.target

    def blobs(self, names: Iterable[str]) -> dict[str, str]:
        """A content is its own id."""
        committed = self._repository.documents
        return {name: committed[name] for name in names if name in committed}

    def text(self, blob: str) -> str:
        return blob


class HostTexts:
    """What a host's processes make of its plan and of its dos.toml."""

    def __init__(self, host: str, repository: Repository) -> None:
        self.plan = HostDocument(PLAN, host, repository)
        self.dos_toml = HostDocument(FILE_NAME, host, repository)
        self.plan_texts = PlanTexts(self.plan, self._read)
        self.settings = SettingsText(self.dos_toml, Path(FILE_NAME), journal=Config().store.url)
        self.approved_ms = 0  # when a person last ran `dos up` here
        self._read_at: object = None  # what the units were read by
        self._units: list[Unit] = []
        self._heeded_at: object = None

    @property
    def where(self) -> str:
        return self.settings.where

    def on_disk(self, name: str) -> str:
        return self.plan.on_disk if name == PLAN else self.dos_toml.on_disk

    def approve(self, store: Store, now_ms: int) -> None:
        """A person starts the fleet here, by a dos.toml that can be loaded: `dos up` refuses any other."""
        if self.dos_toml.on_disk == UNUSABLE:
            self.dos_toml.write(settings_text(ITERATIONS))
        self.settings.approve(store, parse(self.dos_toml.on_disk, Path(FILE_NAME)), by="person")
        self.plan_texts.approve(store, by="person")
        self.approved_ms = now_ms

    def units(self, store: Store, answers: Decisions, news: int) -> list[Unit]:
        """The units by the plan that counts; `news` counts the approvals and the answers that there are."""
        basis = self._basis(news)
        if basis != self._read_at:
            self._units, self._read_at = self.plan_texts.units(store, answers), basis
        return self._units

    def keep_confirmed(self, store: Store, answers: Decisions, news: int) -> None:
        """Keep what people said should be used, as a supervisor does before it looks."""
        basis = self._basis(news)
        if basis != self._heeded_at:
            self.settings.update(store, answers)
            self.plan_texts.keep_confirmed(store, answers)
            self._heeded_at = basis

    def _basis(self, news: int) -> object:
        return news, self.plan.writes, self.dos_toml.writes, self.plan.tip()

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        return [*self.settings.questions(answers), *self.plan_texts.questions(answers)]

    def _read(self, texts: Mapping[str, str | None] | None) -> Portfolio:
        return portfolio(self.plan.on_disk if texts is None else texts.get(PLAN) or "")


@lru_cache(maxsize=256)
def portfolio(text: str) -> Portfolio:
    """The units that a plan declares, by the product's grammar."""
    units: list[Unit] = []
    for found in documents.read_documents(Path(), "", texts={PLAN: text}):
        assert not isinstance(found, tuple), found
        units += found.units
    return assemble(units)


def plan_text(units: Sequence[Unit]) -> str:
    """A plan that declares the units."""
    return "# Plan\n" + "".join(map(_section, units))


def _section(unit: Unit) -> str:
    lines = ["", f"## {unit.id}: {unit.title}", f"- lane: {unit.lane}"]
    lines += [f"- depends: {', '.join(unit.depends)}"] if unit.depends else []
    lines += [f"- gated: {unit.gated}"] if unit.gated else []
    return "\n".join(lines) + "\n"


def settings_text(max_iterations: int) -> str:
    return f"[workers]\nmax_iterations = {max_iterations}\n"


def first_state(text: str, config: Config) -> LoopState:
    """Where a worker begins that was handed these settings; the rest is the simulation's."""
    workers = structs.replace(config.workers, max_iterations=_iterations(text))
    return new_state(structs.replace(config, workers=workers))


@lru_cache(maxsize=64)
def _iterations(text: str) -> int:
    return parse(text, Path(FILE_NAME)).config.workers.max_iterations


def edited_plan(text: str, random: Random) -> str:
    """The plan, after somebody gated a unit or let it go, rewrote, added or removed one."""
    units = list(portfolio(text).units)
    lanes = sorted({unit.lane for unit in units})
    if not units:
        return text
    at = random.randrange(len(units))
    unit = units[at]
    match random.choice(("gate", "gate", "rewrite", "add", "remove")):
        case "gate":
            units[at] = structs.replace(unit, gated="" if unit.gated else "a person decides")
        case "rewrite":
            units[at] = structs.replace(unit, title=f"{unit.title} anew")
        case "add":
            lane = random.choice(lanes)
            added = Unit(
                plan="PLAN", id=f"{lane.upper()}{ADDED}", title="added by a person", lane=lane
            )
            units += [] if added.name in {each.name for each in units} else [added]
        case "remove":
            del units[at]
    return plan_text(units)


def edited_settings(random: Random) -> str:
    """A dos.toml that somebody wrote, which may not be usable."""
    return UNUSABLE if random.random() < 0.2 else settings_text(random.randint(4, 9))
