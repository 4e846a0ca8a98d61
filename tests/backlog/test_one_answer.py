"""Laws of a fleet, whatever happened to it.

Every surface gives one answer, `dos loop` plans what `dos up` does, and a person's answer takes
effect.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from amounts import long
from commanding import git, in_process
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from msgspec import convert, json

from dos.approval.io.texts import checkout_name
from dos.backlog.waiting import Waiting, WaitsOn
from dos.fleet import effects, observe
from dos.fleet.io.reader import FleetReader, Outlook
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.population import reconcile
from dos.fleet.tick import ObserveFleet
from dos.journal import fold, streams
from dos.journal.backends.open import open_store
from dos.journal.events import envelope, fleet
from dos.journal.events.limits import LimitHit, PauseRequested, PlansApproved
from dos.journal.store import Store
from dos.lease import Request
from dos.limits.state import quota
from dos.machine import process
from dos.questions import subject
from dos.questions.state import AnsweredQuestion, Decisions, raise_entry
from dos.regions import region
from dos.world import World

LANES = ("api", "docs", "web", "all")
NO_SUCH_PROCESS = 2**22 + 1
UNITS = ("P/A1", "P/A2", "P/D1", "P/D2", "P/W1", "P/G1")
LANE_OF = {
    "P/A1": "api",
    "P/A2": "api",
    "P/D1": "docs",
    "P/D2": "docs",
    "P/W1": "web",
    "P/G1": "all",
}
CONFIG = """[lanes]
concurrent = ["api", "docs", "web"]
exclusive = ["all"]
autopick = ["api"]

[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
web = ["api/web/**"]
all = ["**/*"]

[supervise]
target = 2
restart_backoff_seconds = 600
restart_period_seconds = 7200

[workers]
agent = "scripted"
command = ["/nowhere"]
"""
SOAKS = "- soak until: 2999-01-01\n"
DEPENDS = "- depends: P/A2\n"
# What else each unit says; web has a single unit, so that the lane waits for what holds it.
PLANS = {
    "web soaks": {"P/W1": SOAKS},
    "plain": {},
    "draft": {"P/A1": "- class: draft\n"},
    "gated": {"P/A1": "- gated: which vendor\n", "P/W1": "- gated: which vendor\n"},
    "soaking": {"P/A1": SOAKS},
    "behind": {"P/A1": DEPENDS, "P/W1": DEPENDS},
    "nowhere": {"P/A1": "- lane: nowhere\n"},
}


def plan_text(held: str) -> str:
    """Six units, some of them held in the way that is asked for."""
    lines = ["# A plan\n"]
    for unit in UNITS:
        own = PLANS[held].get(unit, "")
        lane = "" if "lane:" in own else f"- lane: {LANE_OF[unit]}\n"
        lines.append(f"## P {unit[2:]}: {unit}\n{lane}{own}")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template")
    git("init", "--quiet", "--initial-branch", "main", ".", cwd=root)
    for folder in ("api", "docs", "web"):
        (root / folder).mkdir()
        (root / folder / "a.txt").write_text("a\n")
    (root / "dos.toml").write_text(CONFIG)
    (root / "docs" / "p-plan.md").write_text(plan_text("plain"))
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "Begin", cwd=root)
    return root


class Site:
    """A workspace to whose fleet one thing after the other happens."""

    def __init__(self, root: Path, held: str) -> None:
        self.root = root
        (root / "docs" / "p-plan.md").write_text(plan_text(held))
        self.store: Store = open_store(
            "", state_directory=root / ".git" / "dos", workspace_id="", actor="site"
        )
        self.runs = 0

    def state(self, kind):
        return fold.current(self.store, kind)[0]

    def dos(self, *words: str):
        return in_process(*words, "--workspace", str(self.root), "--json")

    def happen(self, step: tuple[str, ...]) -> None:
        what, lane, unit = step
        run = {"run_id": f"R{self.runs}", "lane": lane}
        match what:
            case "spawn":
                self.runs += 1
                fact = fleet.SpawnIntended(
                    lane=lane, run_id=f"R{self.runs}", host="h", system="h-1"
                )
                self.store.record(streams.spawn(lane), fact)
            case "begin":
                self.runs += 1
                self._record(
                    fleet.RunBegun(run_id=f"R{self.runs}", lane=lane, host="h", start_sha="")
                )
            case "fail":
                text = self._fingerprint(unit)
                self._record(
                    fleet.UnitAttempted(**run, unit=unit, outcome="drained", text=text),
                    streams.unit(unit),
                )
            case "die":
                self._record(fleet.UnitClaimed(**run, unit=unit, iteration=1, repeated=True))
            case "give-up":
                self.store.record(
                    streams.spawn(lane), fleet.LaneFailed(lane=lane, reason="they die")
                )
            case "pause" | "pause-all":
                self.store.record(
                    streams.FLEET,
                    PauseRequested(lane=lane if what == "pause" else "", by="ann"),
                )
            case "hold":
                self._hold(lane, holder="ann")
            case "work":
                self._work(lane, unit)
            case "killed":
                self._work(lane, unit, pid=NO_SUCH_PROCESS)
            case "cut-off":
                self._work(lane, unit, pid=None, ttl_ms=1)  # elsewhere, where nobody renews it
            case "spin":
                (self.root / "dos.toml").write_text(f"{CONFIG}\n[liveness]\ngrace_minutes = 0\n")
                self._work(lane, unit)
            case "limit" | "login":
                ending = "usage_window" if what == "limit" else "auth"
                fact = LimitHit(
                    vendor="scripted", account="", ending=ending, found="", lane=lane, run_id=""
                )
                self.store.record(streams.limit(quota.limit_key(fact)), fact)
            case "start":
                self._record(fleet.FleetStarted(host="h", pid=1, target=2), streams.FLEET)
            case "edit":
                self._edit()
            case "ask":
                self.ask()
            case stop:
                needs = {
                    "thrashing": "operator",
                    "consecutive-dirty-zero": "operator",
                    "halted": "operator",
                }
                fact = fleet.RunStopped(
                    **run, stop_reason=stop, needs=needs.get(stop, "time"), reason="so"
                )
                self._record(fact)

    def _edit(self) -> None:
        """Approve what is on disk, then edit the plan: add a unit, and one that depends on it."""
        plan = self.root / "docs" / "p-plan.md"
        text = plan.read_text()
        if "A9" in text:
            return
        approved = PlansApproved(
            where=checkout_name(self.root), documents={"docs/p-plan.md": text}, committed={}
        )
        self.store.record(streams.APPROVALS, approved)
        plan.write_text(f"{text}- depends: P/A9\n\n## P A9: Another\n- lane: api\n")

    def ask(self) -> None:
        """As a supervisor does at its next tick."""
        with World(self.root) as world:
            observation = FleetReader(world).observe()
        found = [*observe.questions(observation), *observe.failure_questions(observation)]
        for question in found:
            self.store.append_all([raise_entry(question)])

    def answer(self, number: int, choice: int) -> AnsweredQuestion | None:
        """As a person does, who may be quicker than the supervisor that would ask."""
        rows = [row for row in self.dos("decisions").json if row["choices"]]
        if not rows:
            return None
        asked = rows[number % len(rows)]
        chosen = asked["choices"][choice % len(asked["choices"])]["name"]
        assert self.dos("decide-for", asked["id"], chosen).code == 0
        return self.state(Decisions).answered[asked["id"]]

    def _record(self, fact: envelope.Fact, stream: str = "") -> None:
        self.store.record(stream or streams.run(getattr(fact, "run_id", "")), fact)

    def _work(self, lane: str, unit: str, **who: object) -> None:
        self.runs += 1
        run = {"run_id": f"R{self.runs}", "lane": lane}
        self._hold(run_id=f"R{self.runs}", lane=lane, **who)
        self._record(fleet.RunBegun(**run, host="h", start_sha=""))
        self._record(fleet.UnitClaimed(**run, unit=unit, iteration=1))

    def _hold(self, lane: str, **who: object) -> None:
        me = process.identify(os.getpid())
        usual = {
            "holder": "h:1", "host": process.host(), "system": process.system(), "ttl_ms": 600_000,
            "pid": me.pid, "pid_started": me.started,
        }  # fmt: skip
        request = Request(lane=lane, region=region([f"{lane}/**"]), **{**usual, **who})
        if not any(lease.lane == lane for lease in self.store.leases()):
            self.store.acquire(request, lambda *_: None)

    def _fingerprint(self, name: str) -> str:
        with World(self.root) as world:
            units = FleetReader(world).observe().unfinished
        return units[name].fingerprint if name in units else ""


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "spawn", "begin", "fail", "die", "give-up", "pause", "pause-all", "hold", "work",
                "killed", "cut-off",
                "spin", "limit", "login", "start", "edit", "ask", "thrashing",
                "consecutive-dirty-zero", "halted",
                "drain", "pick-cooldown",
            ]
        ),
        st.sampled_from(LANES),
        st.sampled_from(UNITS),
    ),
    max_size=6,
)  # fmt: skip

# What a fleet's history begins with, so that few fleets are enough for each law to meet what it is
# about.
TRIED = (("begin", "docs", ""), ("fail", "docs", "P/D1"))
FAILED = (*TRIED, ("consecutive-dirty-zero", "docs", ""))
STOPPED = (*TRIED, ("thrashing", "docs", ""))
GIVEN_UP = (("give-up", "docs", ""),)
DIED_AT = (("begin", "docs", ""), *[("die", "docs", "P/D1")] * 3)
LOGGED_OUT = (("login", "docs", ""),)
AT_WORK = tuple(((how, "docs", "P/D1"),) for how in ("killed", "cut-off", "spin", "work", "hold"))


@contextmanager
def site(
    template: Path, tmp_path_factory: pytest.TempPathFactory, held: str, steps
) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("site") / "workspace"
    shutil.copytree(template, root)
    made = Site(root, held)
    try:
        for step in steps:
            made.happen(step)
        yield made
    finally:
        made.store.close()
        shutil.rmtree(root.parent, ignore_errors=True)


QUICK = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(
    max_examples=long(20, 5_000), deadline=None, suppress_health_check=list(HealthCheck)
)
FLEETS = {"held": st.sampled_from(list(PLANS)), "first": st.integers(0, 99), "steps": STEPS}


def read(value: object) -> list[Waiting]:
    return convert(value, list[Waiting])


def as_read(waits: tuple[Waiting, ...]) -> list[Waiting]:
    """As it is after it went through JSON."""
    return read(json.decode(json.encode(waits)))


def outlook(root: Path) -> Outlook:
    with World(root) as world:
        return FleetReader(world).outlook()


Law = Callable[[Site, int, int], None]


def surfaces_agree(made: Site, *_: int) -> None:
    expected = outlook(made.root)
    lanes = {lane: as_read(waits) for lane, waits in expected.waits.lanes.items()}
    units = {unit: as_read(waits) for unit, waits in expected.waits.units.items()}
    staffed = (
        units.keys() - expected.observation.unstaffed.keys()
    )  # a unit on no lane waits for one, whenever it was tried
    pickable = {unit: made.dos("pickable", unit).json for unit in units}
    status = made.dos("status").json["units"]
    told = {
        "top": {row["lane"]: read(row["waiting"]) for row in made.dos("top").json["rows"]},
        "status": {row["unit"]: read(row["waiting"]) for row in status},
        "account": {
            unit: read(waits) for unit, waits in made.dos("account").json["waiting"].items()
        },
        "report": read(made.dos("report").json["waiting"]),
        "loop": {row["lane"]: row["reason"] for row in made.dos("loop").json["blocked"]},
        "pickable": {unit: read(answer["waiting"]) for unit, answer in pickable.items()},
        "held": {row["unit"]: row["held"] for row in status},
        "doctor": {
            finding["what"]
            for finding in made.dos("doctor").json["findings"]
            if finding["kind"] == "WAITING"
        },
        "cooldown": {unit: made.dos("cooldown", unit).json["until_ms"] for unit in staffed},
        "decisions": {row["id"] for row in made.dos("decisions").json},
    }
    assume(outlook(made.root).waits == expected.waits)  # no time was over meanwhile
    assert told["top"] == {lane: lanes.get(lane, []) for lane in told["top"]}
    assert told["status"] == {unit: units.get(unit, []) for unit in told["status"]}
    assert told["account"] == {unit: waits for unit, waits in units.items() if waits}
    assert told["pickable"] == units
    for unit, answer in pickable.items():
        needs_nothing = answer["reason"] in (None, "SHIPPED", "IN_FLIGHT")
        assert told["held"][unit] == ("" if needs_nothing else answer["reason"])
    rests = expected.observation.on_cooldown
    assert told["cooldown"] == {
        unit: rests[unit].until_ms if unit in rests else 0 for unit in staffed
    }
    everything = as_read(tuple(expected.waits.all_waits()))
    assert told["report"] == everything
    assert told["doctor"] == {f"{each.subject}: {each}" for each in everything if each.needs_person}
    for lane, reason in told["loop"].items():
        if waits := lanes.get(lane):
            assert reason in (str(waits[0]), waits[0].why)
    answered_by = {
        each.clears_with.split()[2]
        for each in everything
        if each.clears_with.startswith("dos decide-for")
    }
    assert (
        answered_by | {each.question for each in everything if each.question} <= told["decisions"]
    )


def loop_is_up(made: Site, *_: int) -> None:
    with World(made.root) as world:
        acting = SupervisorEffects(world.workspace, world.config, actor="supervisor/here")
        try:
            lease = acting.take_lease(
                effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True)
            )
            observation = acting.observe(ObserveFleet(lease=lease))
            policy = world.config.supervise.policy()
        finally:
            acting.close()
    done = reconcile.plan(
        observation.lanes, policy.target, policy, failing=observation.failing_lanes
    ).actions
    planned = made.dos("loop").json
    for action, key in (
        (reconcile.Spawn, "spawn"),
        (reconcile.Reap, "reap"),
        (reconcile.Flag, "flag"),
    ):
        assert {each.lane for each in done if isinstance(each, action)} == {
            row["lane"] for row in planned[key]
        }


def answer_takes_effect(made: Site, number: int, choice: int) -> None:
    before = outlook(made.root).waits.lanes
    answered = made.answer(number, choice)
    assume(answered is not None)
    question = answered.question
    found = outlook(made.root)
    started = {action.lane for action in found.plan.actions if isinstance(action, reconcile.Spawn)}
    every = found.waits.all_waits()
    assert question.id not in {each.question for each in every}, (
        "an answered question holds nothing"
    )
    rows = made.dos("decisions").json
    assert question.id not in {row["id"] for row in rows}
    if answered.taken and answered.taken.sets_aside:
        asked = {row["detail"].get("unit") for row in rows}
        assert asked.isdisjoint(subject.unit_names(question.waits)), "no question follows"
    if not question.choice(answered.choice).releases:
        return
    unfinished = found.observation.unfinished
    for lane in subject.lane_names(question.waits):
        has_work = any(found.observation.lane_of.get(unit) == lane for unit in unfinished)
        assert (
            lane in started
            or found.observation.working_on(lane)
            or found.waits.lanes.get(lane)
            or not has_work
        )
        fresh = [
            each for each in found.waits.lanes.get(lane, ()) if each not in before.get(lane, ())
        ]
        assert not [each for each in fresh if each.subject == lane and each.needs_person], (
            "nobody is needed once more"
        )
    for key in (wait.key for wait in question.waits if isinstance(wait, subject.Limit)):
        assert not found.observation.limits[key.path].ending, "what was limited is used again"
    for unit in subject.unit_names(question.waits):
        if unit in unfinished:
            free = found.observation.lane_of[unit] in started or unit in found.observation.claimed
            assert free or found.waits.units[unit], "it is started, or says what else it waits for"
            assert WaitsOn.COOLDOWN not in {each.on for each in found.waits.units[unit]}


BEGINNINGS = {
    surfaces_agree: ((), FAILED, STOPPED, LOGGED_OUT),
    loop_is_up: AT_WORK,
    answer_takes_effect: (STOPPED, GIVEN_UP, FAILED, DIED_AT, LOGGED_OUT),
}


def beginning(law: Law, first: int) -> list[tuple[str, ...]]:
    known = BEGINNINGS[law]
    return list(known[first % len(known)])


LAWS = pytest.mark.parametrize("law", BEGINNINGS, ids=lambda law: law.__name__)
# The first choice of most questions lets something go, and the oldest question is that of the
# beginning.
ANSWERS = {"number": st.sampled_from((0, 0, 1, 2)), "choice": st.sampled_from((0, 0, 1, 2))}


@LAWS
@QUICK
@given(**FLEETS, **ANSWERS)
def test_there_is_one_answer(template, tmp_path_factory, law, held, first, steps, number, choice):
    with site(template, tmp_path_factory, held, beginning(law, first) + steps) as made:
        law(made, number, choice)


@pytest.mark.soak
@LAWS
@LONG
@example(held="plain", first=0, steps=[("edit", "api", "P/A1")], number=0, choice=0)
@example(held="nowhere", first=0, steps=[("edit", "api", "P/A1")], number=0, choice=0)
@example(
    held="plain",
    first=0,
    steps=[("edit", "api", "P/A1"), ("ask", "api", "P/A1")],
    number=0,
    choice=0,
)
@given(**FLEETS, **ANSWERS)
def test_there_is_one_answer_on_many_fleets(
    template, tmp_path_factory, law, held, first, steps, number, choice
):
    with site(template, tmp_path_factory, held, beginning(law, first) + steps) as made:
        law(made, number, choice)
