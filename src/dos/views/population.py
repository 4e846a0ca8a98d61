"""The population plan, as people read it: what it comes to, and what to type for each row."""

from collections.abc import Mapping
from shlex import quote

from dos.plans.ticks import PlanRow, SupervisePolicy, SuperviseVerdict


def render(verdict: SuperviseVerdict, policy: SupervisePolicy, handles: Mapping[str, str]) -> str:
    lines = [
        f"SUPERVISE {verdict.answer}: alive {verdict.alive}/{verdict.target}, admissible {verdict.admissible}",
        verdict.reason,
        *(f"spawn {row.lane}  — run: {launch(policy, row.lane)}" for row in verdict.spawn),
        *(
            f"reap {row.lane} ({row.reason}) — run: dos lease-lane reap --lane {quote(row.lane)}"
            for row in verdict.reap
        ),
        *(f"flag {row.lane} ({row.reason})" for row in verdict.flag),
        *(
            f"propose-halt {row.lane} ({row.reason}) — enact with: {halt(row, handles)}"
            for row in verdict.proposed_halt
        ),
        *(f"hold {row.lane} ({row.reason})" for row in verdict.hold),
        *(f"blocked {row.lane} ({row.reason})" for row in verdict.blocked),
    ]
    return "\n".join(lines)


def launch(policy: SupervisePolicy, lane: str) -> str:
    """As one word: the name of a lane may hold anything that can be printed."""
    return policy.worker_launch_template.replace("{lane}", quote(lane))


def halt(row: PlanRow, handles: Mapping[str, str]) -> str:
    return f"dos halt --handle {quote(handles.get(row.lane, row.lane))} --lane {quote(row.lane)}"
