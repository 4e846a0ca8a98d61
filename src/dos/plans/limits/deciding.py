"""The questions that only a person can answer: each with its choices, what waits, and what holds without an answer.

The id is made of what is asked about and of which time it is, so that asking twice is asking once.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from dos.plans.limits import quota
from dos.plans.limits.budget import Row, Scope
from dos.plans.limits.quota import Limit
from dos.records import logins
from dos.records.endings import Ending
from dos.records.moments import second_stamp
from dos.records.names import counted, listed
from dos.verdicts.work.baselines import BLIND_ADVICE, Result

LONGEST = 200
PLAN_CHANGED, SETTINGS_CHANGED = TEXT_CHANGED = "plan_changed", "settings_changed"
REMOVED = "removed"  # in place of the digest of a text
LETS_GO = frozenset(
    {"retry", "raise", "fixed", "lift", "again", "start"}
)  # after any other answer, what waited stays as it is


class Question(Struct, frozen=True, kw_only=True):
    id: str
    about: str
    question: str
    choices: Mapping[str, str]  # what can be answered, and what it means
    waits: Sequence[str] = ()  # lane:L, unit:U, run:R, fleet
    expires_ms: int | None = None
    otherwise: str  # the choice that is taken then; where it never expires, what holds meanwhile
    until_start: bool = False  # it expires when the fleet is started again
    detail: Mapping[str, Any] = field(default_factory=dict)


def name(about: str, subject: str, ordinal: int) -> str:
    """For example `lane-failed-api-1`: it can be typed, and two subjects never share one."""
    typed = "".join(c if c.isascii() and (c.isalnum() or c in "-._/:@+") else f"%{ord(c):x}." for c in subject)
    short = typed if len(typed) <= LONGEST else f"{typed[:60]}%{sha256(subject.encode()).hexdigest()[:32]}"
    return f"{about.replace('_', '-')}-{short}-{ordinal}"


def lane_failed(lane: str, reason: str, *, ordinal: int = 1) -> Question:
    """`ordinal` counts how often the lane was given up on."""
    return Question(
        id=name("lane_failed", lane, ordinal),
        about="lane_failed",
        question=f"The workers of lane {lane} keep dying: {reason}. What now?",
        choices={"retry": "the lane is worked on again", "leave": "it stays as it is until the next `dos up`"},
        waits=[f"lane:{lane}"],
        otherwise="retry",
        until_start=True,
        detail={"lane": lane, "reason": reason},
    )


class FailedUnit(Struct, frozen=True, kw_only=True):
    """A unit that was tried in vain."""

    unit: str
    tries: int = 1
    why: str = ""  # the last reason
    text: str = ""  # its fingerprint: once it is rewritten, the question is not about it any more

    def __str__(self) -> str:
        last = f", last: {self.why}" if self.why else ""
        return f"{self.unit} ({counted(self.tries, 'attempt')}{last})"


def lane_stopped(lane: str, run_id: str, reason: str, failed: Sequence[FailedUnit] = ()) -> Question:
    """A run ended for a reason that only a person can clear, and the lane has work.

    `failed` are the lane's units on cooldown: whoever wants the lane to be retried wants them to be tried.
    """
    return Question(
        id=name("lane_stopped", run_id, 1),
        about="lane_stopped",
        question=f"Lane {lane} stopped and has work left: {reason}. What now?",
        choices={"retry": "the lane is worked on again", "leave": "it stays as it is until the next `dos up`"},
        waits=[f"lane:{lane}"],
        otherwise="retry",
        until_start=True,
        detail={"lane": lane, "run_id": run_id, "reason": reason, "units": _described(failed)},
    )


def units_failed(lane: str, run_id: str, failed: Sequence[FailedUnit]) -> Question:
    """A run stopped because these units failed one after the other. They wait; the lane's other units do not."""
    subject = str(failed[0]) if len(failed) == 1 else f"{len(failed)} units: {listed([str(each) for each in failed])}"
    them = "it" if len(failed) == 1 else "them"
    they = "it is" if len(failed) == 1 else "they are"
    return Question(
        id=name("lane_stopped", run_id, 1),
        about="lane_stopped",
        question=f"Lane {lane} tried and did not land {subject}. Retry, or leave {them}?",
        choices={
            "retry": f"{they} tried again now, without waiting for the end of the cooldown",
            "leave": f"{they} not tried again until the next `dos up`; the lane's other units are worked on",
        },
        waits=[f"unit:{each.unit}" for each in failed],
        otherwise="retry",
        until_start=True,
        detail={"lane": lane, "run_id": run_id, "units": _described(failed)},
    )


def _described(failed: Sequence[FailedUnit]) -> dict[str, dict[str, Any]]:
    return {each.unit: {"tries": each.tries, "why": each.why, "text": each.text} for each in failed}


def landing_conflict(unit: str, reasons: Sequence[str], *, lane: str = "", ordinal: int = 1) -> Question:
    """`ordinal` counts how often the question came up for the unit."""
    return Question(
        id=name("landing_conflict", unit, ordinal),
        about="landing_conflict",
        question=f"{unit} was done and could not land, {len(reasons)} times: {reasons[-1] if reasons else ''}",
        choices={
            "retry": "an agent tries again, and is told why the others did not land",
            "hold": "its commits are kept, and nobody works on it until the next `dos up`",
            "drop": "it is not worked on any more",
        },
        waits=[f"unit:{unit}"],
        otherwise="retry",
        until_start=True,
        detail={"unit": unit, "lane": lane, "reasons": list(reasons)},
    )


def landing_blocked(unit: str, reason: str, *, commit: str, lane: str = "", ordinal: int = 1) -> Question:
    """It is done and proven, and something of a person's is in its way. `ordinal` counts the answers before."""
    return Question(
        id=name("landing_blocked", f"{unit}-{commit[:9]}", ordinal),
        about="landing_blocked",
        question=f"{unit} is done as {commit[:9]} and waits to land: {reason}. It lands by itself once that is gone",
        choices={
            "retry": "it is out of the way: the same commits land now",
            "drop": "its commits are kept, and it is not worked on any more",
        },
        waits=[f"unit:{unit}"],
        otherwise="retry",
        until_start=True,
        detail={"unit": unit, "lane": lane, "commit": commit, "reasons": [reason]},
    )


def unit_undone(unit: str, *, commit: str, why: str = "") -> Question:
    """It had landed, and git does not show it any more."""
    return Question(
        id=name("unit_undone", f"{unit}-{commit[:9]}", 1),
        about="unit_undone",
        question=f"{unit} landed as {commit[:9]} and is not there any more{f': {why}' if why else ''}. Do it again?",
        choices={"again": "it is offered to the workers again", "leave": "it stays undone"},
        waits=[f"unit:{unit}"],
        otherwise="leave",
        detail={"unit": unit, "commit": commit},
    )


def incident(
    name_: str, *, what: str, units: Sequence[str], commits: Sequence[str], run_id: str, lane: str
) -> Question:
    """Commits of an agent are on the target branch, or in the user's checkout, and no landing brought them there."""
    named = " and ".join(units)
    again = f"they never count; {named} is offered to the workers again" if units else "they never count as a landing"
    undo = f". Take them out with: git revert {' '.join(commit[:9] for commit in reversed(commits))}" if commits else ""
    return Question(
        id=name("incident", name_, 1),
        about="incident",
        question=f"{what}. dos did not land this, so it counts as no landing. Do the commits stay?",
        choices={
            "again": f"{again}{undo}",
            "keep": f"they stay as your own work{f', and {named} is done' if units else ''}",
        },
        waits=[f"unit:{unit}" for unit in units],
        otherwise=f"they do not count, and {named} is not worked on" if units else "they do not count",
        detail={"incident": name_, "commits": list(commits), "run_id": run_id, "lane": lane},
    )


def plan_changed(detail: Mapping[str, str], ordinal: int = 1) -> Question:
    """A plan document was edited on disk while the fleet runs, and the edit is not on the target branch."""
    choices = {
        "use": "the fleet works by the file as it is on disk now",
        "keep": "the fleet works by the text that was there at `dos up`, or is committed since",
    }
    return _text_changed(PLAN_CHANGED, f"Plan {detail['document']}", choices, detail, ordinal)


def settings_changed(detail: Mapping[str, str], ordinal: int = 1) -> Question:
    """dos.toml was edited on disk while the fleet runs, and the edit is not on the target branch."""
    choices = {
        "use": "workers that start from now on use the file as it is on disk now",
        "keep": "workers use the settings that were there at `dos up`, or are committed since",
    }
    return _text_changed(SETTINGS_CHANGED, detail["document"], choices, detail, ordinal)


def _text_changed(
    about: str, what: str, choices: Mapping[str, str], detail: Mapping[str, str], ordinal: int
) -> Question:
    """`detail`: the document, the digest of what is on disk, that of what was approved, and where that is.

    What is answered holds for that pair of texts alone.
    """
    change = "was removed from disk" if detail["digest"] == REMOVED else "changed on disk"
    pair = sha256("\0".join(detail[key] for key in ("document", "digest", "approved", "where")).encode()).hexdigest()
    return Question(
        id=name(about, f"{detail['document']}-{pair[:9]}", ordinal),
        about=about,
        question=f"{what} {change} since `dos up`, and that is not committed on the target branch. Use it?",
        choices=choices,
        otherwise="keep",
        detail=detail,
    )


def baseline(check: Result) -> Question:
    """The workspace's own test fails where no agent has worked (`red`), or passes with the program gone (`blind`)."""
    return Question(
        id=name("baseline", check.host, check.ordinal),
        about="baseline",
        question=f"{check.problem}. {BLIND_ADVICE}" if check.fault == "blind" else check.problem,
        choices={
            "retry": "it is checked again, and agents start when it passes",
            "start": "agents start all the same; what they do lands only if the test passes",
            "leave": "no agent starts until the next `dos up`, which checks it again",
        },
        waits=[f"host:{check.host}"],
        otherwise="retry",
        until_start=True,
        detail={
            "host": check.host,
            "tree": check.tree,
            "commands": check.commands,
            "fault": check.fault,
            "branch": check.branch,
            "commit": check.commit,
            "command": check.command,
            "output": list(check.output),
        },
    )


def limit(found: Limit) -> Question:
    """A limit that no waiting clears, or one that claims to last longer than any does."""
    if quota.is_doubted(found):
        return _doubted(found)
    said = f" (it said: {found.found})" if found.found else ""
    login = logins.command(found.key.vendor) if found.ending == Ending.AUTH else ""
    clear = f"Log in with `{login}`; the fleet notices it" if login else "Is it put right?"
    return _of_limit(
        found,
        again=found.times,
        about="limit",
        question=f"{quota.said(found)}{said}. {clear}",
        choices={"fixed": "it is used again, at once", "leave": "nothing is started on it until the next `dos up`"},
        otherwise="leave",
    )


def _doubted(found: Limit) -> Question:
    until = second_stamp(quota.told_ms(found) or 0)
    said = f" (it said: {found.found})" if found.found else ""
    return _of_limit(
        found,
        about="limit_until",
        question=f"{found.key} says it is limited until {until}{said}, longer than any limit lasts. Lift it, or wait?",
        choices={
            "lift": "it is used again, at once",
            "wait": "one agent probes it every hour, and the others wait until it answers",
        },
        otherwise="wait",
    )


def _of_limit(
    found: Limit, *, about: str, question: str, choices: Mapping[str, str], otherwise: str, again: int = 0
) -> Question:
    """`again` counts how often it was hit after it had been probed: each is asked about anew."""
    key, place = found.key, found.key.path
    asked = name(about, place, found.lifts + 1)
    return Question(
        id=f"{asked}.{again}" if again > 1 else asked,
        about=about,
        question=question,
        choices=choices,
        waits=[f"limit:{place}"],
        otherwise=otherwise,
        detail={"vendor": key.vendor, "account": key.account, "model": key.model, "ending": found.ending},
    )


def spinning(run_id: str, lane: str, reason: str, *, ordinal: int = 1, expires_ms: int | None = None) -> Question:
    """Nothing waits for the answer: the worker goes on unless a person stops it. `ordinal` counts how often it spun."""
    return Question(
        id=name("spinning", run_id, ordinal),
        about="spinning",
        question=f"The run {run_id} on lane {lane} goes on and lands nothing: {reason}. Stop it?",
        choices={"halt": "its worker and its agent are stopped; the work is kept", "leave": "it goes on"},
        expires_ms=expires_ms,
        otherwise="leave",
        detail={"run_id": run_id, "lane": lane},
    )


def budget(row: Row) -> Question:
    """A spent budget. The budgets of a day are waited for until the day is over, and then nobody need answer."""
    choices = {"raise": f"up to {2 * row.limit:g} {row.measure}", "stop": "what waits here ends"}
    if row.ends_ms is not None:
        choices["wait"] = "go on tomorrow"
    return Question(
        id=name("budget", f"{row.scope}-{row.subject}-{row.measure}", row.standing.asked + 1),
        about="budget",
        question=f"The budget is spent: {row}. Raise it?",
        choices=choices,
        waits=[_waiting(row)],
        expires_ms=row.ends_ms,
        otherwise="wait" if row.ends_ms is not None else "stop",
        until_start=row.ends_ms is None,
        detail={
            "scope": row.scope,
            "subject": row.subject,
            "measure": row.measure,
            "spent": row.spent,
            "limit": row.limit,
            "by": row.limit,
        },
    )


def _waiting(row: Row) -> str:
    match row.scope:
        case Scope.DAY:
            return "fleet"
        case Scope.LANE:
            return f"lane:{row.subject[11:]}"
        case _:
            return f"run:{row.subject.partition('/')[0]}"
