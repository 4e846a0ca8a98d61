"""May agents start on this host: do the workspace's setup and test pass on the target before anybody has worked?"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.choices import ChoiceName
from dos.questions.catalog import AnyQuestion
from dos.questions.resources import BaselineFailed
from dos.verify.baseline import Result, Subject


class Check(Result, frozen=True, kw_only=True):
    """A check that was made, and when."""

    at_ms: int = 0


class Asked(Struct, frozen=True, kw_only=True):
    """A question that was put about a check, and what became of it."""

    id: str
    subject: Subject
    fault: str
    choice: str = ""  # empty: it is open
    answered_ms: int = 0


class Step(StrEnum):
    CLEAR = "clear"  # agents may start
    CHECK = "check"  # it has to be checked first
    WAIT = "wait"  # for a person


class Plan(Struct, frozen=True, kw_only=True):
    step: Step
    question: AnyQuestion | None = None  # to be asked
    passed: Sequence[str] = ()  # open questions whose cause is gone
    why: str = ""


def plan(
    subject: Subject,
    known: Mapping[Subject, Check],
    asked: Sequence[Asked],
    *,
    newest: Check | None = None,
    started_ms: int = 0,
    cleared: bool = False,
) -> Plan:
    """`newest` is the last check of the same commands on the host, and `cleared` says that agents may start already.

    A check that failed counts until a person says `retry` or starts the fleet again: what was wrong need not have been
    in the tree.
    """
    mine = [each for each in asked if each.subject.host == subject.host]
    is_open = [each.id for each in mine if not each.choice]
    if cleared and (newest is None or newest.is_good or is_accepted(newest, mine)):
        return Plan(step=Step.CLEAR, passed=is_open)
    if newest and newest.is_good and newest.at_ms >= started_ms:
        # The branch may have moved meanwhile: what others land there was tested, and would keep us checking for ever.
        return Plan(step=Step.CLEAR, passed=is_open)
    check = known.get(subject)
    if check is None or not counts(check, mine, started_ms=started_ms):
        return Plan(step=Step.CHECK)
    if check.is_good or is_accepted(check, mine):
        return Plan(step=Step.CLEAR, passed=is_open)
    if is_open:
        return Plan(step=Step.WAIT, why=f"`dos decisions show {is_open[0]}`")
    found = f"`{check.command}` {'does not see the tree' if check.fault == 'blind' else 'fails'} on {check.branch}"
    if any(each.choice == ChoiceName.LEAVE and each.answered_ms > check.at_ms for each in mine):
        return Plan(step=Step.WAIT, why=f"{found}; `dos up` checks it again")
    return Plan(step=Step.WAIT, question=BaselineFailed.ask(check), why=found)


def counts(check: Check, asked: Sequence[Asked], *, started_ms: int = 0) -> bool:
    """One that passed counts for good."""
    if check.is_good:
        return True
    retried = [each.answered_ms for each in asked if each.choice == ChoiceName.RETRY]
    return check.at_ms >= max([started_ms, *retried])


def is_accepted(check: Result, asked: Sequence[Asked]) -> bool:
    """A person lets agents start all the same: on this tree; or, where the test sees no tree, with this command."""
    return any(
        each.choice == ChoiceName.START
        and each.fault == check.fault
        and each.subject.commands == check.commands
        and (each.fault == "blind" or each.subject.tree == check.tree)
        for each in asked
    )
