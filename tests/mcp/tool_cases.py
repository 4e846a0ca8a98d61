"""A workspace in which every tool has something to say, and how each is called on both surfaces."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commanding import command
from msgspec import Struct, json
from sample_repository import Repository

from dos.journal import streams
from dos.journal.backends.open import open_store
from dos.journal.events import fleet as events
from dos.lease import Lease, Request, key_hash
from dos.machine import process
from dos.regions import region
from dos.verbs.context import Context
from dos.verbs.invoke import invoke

KEY = "the key of the agent on lane one"
RUN = "RID-0MC0FFEE00000AB"
LOOP = "RID-0MC0FFEE00000AC"
OUTCOME = {"kind": "SHIPPED", "packet_judge": "SHIPPED-CLEAN", "ship_count": 1}


def make(home: Path, key: str = "") -> Repository:
    """A unit has landed, another one is worked on and a third was blocked; a question is open.

    With a key, lane one is of the fleet: whoever knows the key, or descends from this process, is
    its agent.
    """
    repository = Repository(home)
    (repository.root / "one" / "a.txt").write_text("a\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Write a", "-m", "Unit: DEMO/A1")
    state = repository.root / ".git" / "dos"
    with open_store("", state_directory=state, workspace_id="", actor="scene") as store:
        holder = process.identify(os.getpid())
        taken = store.acquire(
            Request(
                lane="one", holder="scene", host=process.host(), ttl_ms=6_000_000, run_id=RUN,
                region=region(["one/**"]), key_hash=key_hash(key) if key else "", pid=holder.pid,
                pid_started=holder.started, system=process.system(),
            ),
            lambda request, live: None,
        )  # fmt: skip
        assert isinstance(taken, Lease)
        who = {"run_id": RUN, "lane": "one"}
        at = {**who, "unit": "DEMO/A2", "iteration": 1}
        stream = streams.run(RUN)
        store.record(stream, events.RunBegun(**who, host="h", start_sha=""))
        store.record(stream, events.UnitClaimed(**at))
        store.record(stream, events.AgentStarted(**at, agent="command", base="b"))
    notes = repository.root / ".claude" / "memory"
    notes.mkdir(parents=True)
    (notes / "start.md").write_text("Created src/never.py\n")
    logs = state / "logs" / "one"
    logs.mkdir(parents=True)
    (logs / f"{RUN}-1.1.log").write_text("first\nsecond\n")
    for verb, arguments in (
        ("decide", {"run": LOOP, "outcome": text(OUTCOME), "unit": "DEMO/A1", "lane": "one"}),
        ("attempt", {"unit": "DEMO/B1", "outcome": "blocked", "lane": "two"}),
        ("decisions add", {"kind": "FLAG", "lane": "two", "text": "Which vendor?"}),
    ):
        context = Context(workspace=str(repository.root), as_json=True)
        assert invoke(verb, arguments, context).code in (0, 3), verb
        context.close()
    return repository


def text(value: object) -> str:
    return json.encode(value).decode()


class Case(Struct, frozen=True):
    """A call of a tool, and the words that ask a verb the same."""

    tool: str
    arguments: dict[str, Any]
    words: tuple[str, ...]
    # What the tool makes of the verb's JSON; by default nothing, and a list becomes `rows`.
    shaped: Callable[[Any], Any] | None = None
    fails: bool = False  # by an error on stderr: there is no JSON

    def __str__(self) -> str:
        return f"{self.tool} {' '.join(map(str, self.arguments.values()))}".strip()

    def command(self, root: Path) -> list[str]:
        """Typed outside of the workspace, as a server stands there."""
        words = [_decision(root) if word == ID else word for word in self.words]
        return command(*words, "--json", "--explain", "--workspace", str(root))

    def given(self, root: Path) -> dict[str, Any]:
        """The arguments of the tool."""
        return {
            key: _decision(root) if value == ID else value for key, value in self.arguments.items()
        }


def _decision(root: Path) -> str:
    """The one that was raised, whether it is open or not."""
    context = Context(workspace=str(root), as_json=True)
    (row,) = invoke("decisions", {"all": True}, context).data
    context.close()
    return str(row["id"])


def only(scope: str) -> Callable[[Any], Any]:
    return lambda data: {
        **data, "phases": [row for row in data["phases"] if scope in (row["lane"], row["plan"])]
    }  # fmt: skip


READING = (
    Case("fleet", {}, ("top", "--once")),
    Case("plan", {}, ("plan", "--once")),
    Case("plan", {"scope": ["two"]}, ("plan", "--once"), only("two")),
    Case(
        "plan",
        {"limit": 1},
        ("plan", "--once"),
        lambda data: {**data, "phases": data["phases"][:1]},
    ),
    Case("why", {}, ("why",)),
    Case("why", {"run": "one"}, ("why", "one")),
    Case("why", {"run": LOOP, "iteration": 1}, ("why", LOOP, "--iteration", "1")),
    Case("verify", {"plan": "DEMO", "phase": "A1"}, ("verify", "DEMO", "A1")),
    Case("verify", {"plan": "DEMO", "phase": "A2"}, ("verify", "DEMO", "A2")),
    Case(
        "verify",
        {"plan": "DEMO", "phase": "A1", "ref": "HEAD~1"},
        ("verify", "DEMO", "A1", "--ref", "HEAD~1"),
    ),
    Case("decisions", {}, ("decisions",)),
    Case("decisions", {"all": True}, ("decisions", "--all")),
    Case("log", {"lane": "one"}, ("logs", "one", "--lines", "20")),
    Case("log", {"lane": "one", "lines": 1}, ("logs", "one", "--lines", "1")),
    Case("log", {"lane": "two"}, ("logs", "two", "--lines", "20")),
    Case("costs", {}, ("costs",)),
    Case("costs", {"by": "lane"}, ("costs", "--by", "lane")),
    Case("wait", {"seconds": 0, "after": 3}, ("wait", "--seconds", "0", "--after", "3")),
    Case("lane", {}, ("whoami",)),
    Case("claim", {"unit": "DEMO/A1"}, ("verify", "DEMO", "A1")),
    Case("claim", {"unit": "DEMO/A2"}, ("verify", "DEMO", "A2")),
    Case("commit_audit", {}, ("commit-audit", "HEAD"), lambda data: data[0]),
    Case(
        "commit_audit",
        {"ref": "HEAD~1..HEAD"},
        ("commit-audit", "HEAD~1..HEAD"),
        lambda data: data[0],
    ),
    Case("commit_audit", {"ref": "nosuch"}, ("commit-audit", "nosuch"), fails=True),
    Case("arbitrate", {}, ("arbitrate",)),
    Case("arbitrate", {"lane": "one"}, ("arbitrate", "--lane", "one")),
    Case(
        "arbitrate",
        {"lane": "one", "live_leases": []},
        ("arbitrate", "--lane", "one", "--leases", "[]"),
    ),
    Case("refuse_reasons", {}, ("man", "wedge")),
    Case(
        "check_reason",
        {"reason_class": "LANE_HELD"},
        ("man", "wedge", "LANE_HELD"),
        lambda data: {**data, "reason_class": "LANE_HELD", "known": True},
    ),
    Case(
        "check_reason",
        {"reason_class": "NO_SUCH"},
        ("man", "wedge", "NO_SUCH"),
        lambda data: {**data, "reason_class": "NO_SUCH", "known": False},
    ),
    Case("doctor", {"full": True}, ("doctor",)),
    Case("recall", {"name": "start"}, ("memory", "recall", "start")),
    Case("recall", {"name": "stop"}, ("memory", "recall", "stop"), fails=True),
    Case("status", {"run_id": RUN}, ("status", RUN)),
    Case("status", {"run_id": "nonsense"}, ("status", "nonsense"), fails=True),
    Case("loop", {"target": 2}, ("loop", "--target", "2")),
    Case("packet", {}, ("packet", "--limit", "5")),
    Case("packet", {"scope": ["two"], "limit": 1}, ("packet", "--scope", "two", "--limit", "1")),
    Case("pickable", {"unit": "DEMO/A2"}, ("pickable", "DEMO/A2")),
    Case("pickable", {"unit": "DEMO/B1"}, ("pickable", "DEMO/B1")),
    Case("cooldown", {"unit": "DEMO/B1"}, ("cooldown", "DEMO/B1")),
    Case(
        "reconcile",
        {"unit": "DEMO/A1", "claimed_done": True},
        ("reconcile", "DEMO/A1", "--claimed-done"),
    ),
    Case(
        "reconcile",
        {"unit": "x", "claimed_done": False, "plan": "DEMO", "phase": "A2"},
        ("reconcile", "x", "--plan", "DEMO", "--phase", "A2"),
    ),
    Case("reconcile", {"unit": "x", "claimed_done": True}, ("reconcile", "x"), fails=True),
)

ID = "DECISION"  # the one that is open in the workspace
ME = ("--owner", "me")
WRITING = (
    Case(
        "lease",
        {"action": "acquire", "lane": "two", "owner": "me"},
        ("lease-lane", "acquire", "--lane", "two", *ME),
    ),
    Case(
        "lease",
        {"action": "acquire", "lane": "one", "owner": "me", "run_id": LOOP},
        ("lease-lane", "acquire", "--lane", "one", "--run-id", LOOP, *ME),
    ),
    Case(
        "lease",
        {"action": "heartbeat", "lane": "two", "owner": "me"},
        ("lease-lane", "heartbeat", "--lane", "two", *ME),
    ),
    Case(
        "lease",
        {"action": "release", "lane": "two", "owner": "me"},
        ("lease-lane", "release", "--lane", "two", *ME),
    ),
    Case(
        "lease",
        {"action": "wait", "lane": "two", "owner": "me"},
        ("lease-lane", "wait", "--lane", "two"),
    ),
    Case(
        "attempt",
        {"unit": "DEMO/A2", "outcome": "error", "run_id": LOOP, "lane": "one"},
        ("attempt", "DEMO/A2", "--outcome", "error", "--run-id", LOOP, "--lane", "one"),
    ),
    Case(
        "decide",
        {"run_id": LOOP, "outcome": OUTCOME, "unit": "DEMO/A2", "lane": "one", "iteration": 2},
        (
            "decide", "--run", LOOP, "--outcome", text(OUTCOME), "--unit", "DEMO/A2",
            "--lane", "one", "--iteration", "2",
        ),
    ),
    Case("answer", {"id": ID, "choice": "nosuch"}, ("decisions", "answer", ID, "nosuch"),
         fails=True),
    Case("answer", {"id": ID, "choice": "done"}, ("decisions", "answer", ID, "done")),
    Case("answer", {"id": "9", "choice": "done"}, ("decisions", "answer", "9", "done"), fails=True),
    Case(
        "add_unit",
        {"unit": "DEMO/C1", "title": "fourth", "lane": "two", "paths": ["two/**"]},
        ("plan", "add", "DEMO/C1", "fourth", "--lane", "two", "--path", "two/**"),
    ),
    Case("steer", {"run": "two", "message": "m"}, ("steer", "two", "m"), fails=True),
    Case("steer", {"run": RUN, "message": "Keep it simple."},
         ("steer", RUN, "Keep it simple.", "--timeout", "2")),
    Case("stop", {}, ("down", "--timeout", "0")),
    Case("stop", {"run": "nosuch"}, ("halt", "nosuch", "--timeout", "0"), fails=True),
)  # fmt: skip
