"""What needs a person besides the fleet's questions. Nothing of the fleet's waits for an answer to these.

Each says in its detail what closes it by itself, and what can be typed where an answer would not help.
"""

from collections.abc import Collection, Sequence
from hashlib import sha256

from msgspec import Struct, structs

from dos.plans.limits.deciding import Question, name
from dos.records.names import counted, listed

HALT_PROPOSED = "halt_proposed"
RUN_STOPPED = "run_stopped"
UNIT_HELD = "unit_held"
ADDED = "added"

_EDITS = {
    "DRAFT_CLASS": "change its class to active",
    "OPERATOR_GATED": "decide it, and remove `gated`",
    "SOAK_OPEN": "wait for the date, or remove `soak until`",
}


class Halt(Struct, frozen=True, kw_only=True):
    """A proposal to stop a run or a process."""

    handle: str
    lane: str = ""
    run_id: str = ""
    host: str = ""
    command: str = ""
    reason: str = ""


def halt_proposed(halt: Halt, *, position: int) -> Question:
    """`position` is that of the proposal in the journal."""
    where = f" on lane {halt.lane}" if halt.lane else ""
    subject = halt.run_id or halt.handle
    if halt.run_id:
        choices = {"halt": "its worker and its agent are stopped; the work is kept", "leave": "it goes on"}
    else:
        choices = {"done": f"you have stopped {halt.handle}", "leave": "it goes on"}
    return Question(
        id=name(HALT_PROPOSED, subject, position),
        about=HALT_PROPOSED,
        question=f"Stop {subject}{where}? Proposed because: {halt.reason}",
        choices=choices,
        otherwise="leave",
        detail={**structs.asdict(halt), "closes": "when it has stopped or moves again"},
    )


def run_stopped(*, run_id: str, lane: str, stop_reason: str, reason: str) -> Question:
    """A run of somebody's own loop stopped for a reason that only a person can clear."""
    where = f" on lane {lane}" if lane else ""
    return Question(
        id=name(RUN_STOPPED, run_id, 1),
        about=RUN_STOPPED,
        question=f"Run {run_id}{where} stopped and needs you: {stop_reason}, {reason}",
        choices={"done": "it is taken off this list"},
        otherwise="done",
        detail={
            "run_id": run_id, "lane": lane, "token": stop_reason, "command": f"dos why {run_id}",
            "closes": "when the run is ended or resumed, or the lane's next run begins",
        },
    )  # fmt: skip


def unit_held(
    unit: str,
    token: str,
    why: str,
    *,
    behind: Sequence[str] = (),
    lane: str = "",
    place: str = "",
    retries: bool = False,
    ordinal: int = 1,
) -> Question:
    """A unit that its plan holds back, at `place`; with `retries`, one that only a person's word lets go."""
    wait = "waits" if len(behind) == 1 else "wait"
    waiting = f"; {counted(len(behind), 'unit')} {wait} for it: {listed(behind)}" if behind else ""
    document, _, line = place.rpartition(":")
    edit = f"${{EDITOR:-vi}} +{line} {document}" if document else ""
    choices = {"retry": "it is tried again"} if retries else {}
    closes = "when it is tried again" if retries else f"when {place} no longer holds it: {_EDITS.get(token, '')}"
    return Question(
        id=name(UNIT_HELD, unit, ordinal),
        about=UNIT_HELD,
        question=f"{unit} is held: {why}{waiting}",
        choices=choices,
        waits=[f"unit:{each}" for each in (unit, *behind)],
        otherwise="",
        detail={
            "unit": unit, "lane": lane, "token": token, "kind": "SOAK_GATE" if token == "SOAK_OPEN" else "",
            "command": "" if retries else edit, "source": place, "closes": closes,
        },
    )  # fmt: skip


def added(kind: str, lane: str, text: str, command: str, *, answered: Collection[str]) -> Question:
    """What a loop of somebody's own puts on the list. The same text is one row until it is answered."""
    subject = f"{lane}-{sha256(text.encode()).hexdigest()[:8]}"
    ordinal = 1
    while name(kind.lower(), subject, ordinal) in answered:
        ordinal += 1
    return Question(
        id=name(kind.lower(), subject, ordinal),
        about=ADDED,
        question=text,
        choices={"done": "it is dealt with", "dismiss": "it needs nobody"},
        otherwise="",
        detail={"kind": kind.upper(), "lane": lane, "command": command},
    )
