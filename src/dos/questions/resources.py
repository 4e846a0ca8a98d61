"""Questions about what agents need before they can start: a test that passes, a provider with room, and money."""

from typing import Any, ClassVar, Self

from msgspec import ValidationError

from dos.agents import logins
from dos.agents.adapter import Ending
from dos.backlog.waiting import WaitsOn
from dos.choices import ChoiceName
from dos.limits import accounts, quota
from dos.limits.accounts import Account, Day, Iteration, LaneDay, RunAccount
from dos.limits.budget import BudgetLine, Measure
from dos.limits.quota import Key
from dos.questions import subject
from dos.questions.question import Choice, LiftLimit, Question, Record, question_id
from dos.questions.subject import Subject
from dos.times import utc_stamp
from dos.verify import baseline
from dos.verify.baseline import BLIND_ADVICE


class BaselineFailed(Question, frozen=True, kw_only=True):
    """The workspace's own test fails where no agent has worked (`red`), or passes with the program gone (`blind`)."""

    about: ClassVar[str] = "baseline"
    waits_on: ClassVar[WaitsOn] = WaitsOn.ENVIRONMENT
    detail_keys: ClassVar[tuple[str, ...]] = (
        "host", "tree", "commands", "fault", "branch", "commit", "command", "output",
    )  # fmt: skip
    host: str
    tree: str
    commands: str  # a digest of the setup and test commands
    fault: str
    branch: str = ""
    commit: str = ""
    command: str = ""
    output: tuple[str, ...] = ()

    @classmethod
    def ask(cls, check: baseline.CheckResult) -> Self:
        return cls(
            id=question_id(cls.about, check.host, check.ordinal),
            text=f"{check.problem}. {BLIND_ADVICE}" if check.fault == "blind" else check.problem,
            waits=(subject.Host(check.host),),
            until_start=True,
            host=check.host,
            tree=check.tree,
            commands=check.commands,
            fault=check.fault,
            branch=check.branch,
            commit=check.commit,
            command=check.command,
            output=tuple(check.output),
        )

    @property
    def checked_subject(self) -> baseline.Subject:
        """What was checked: an answer holds for this alone."""
        return baseline.Subject(host=self.host, tree=self.tree, commands=self.commands)

    @property
    def choices(self) -> tuple[Choice, ...]:
        started = "agents start all the same; what they do lands only if the test passes"
        left = "no agent starts until the next `dos up`, which checks it again"
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning="it is checked again, and agents start when it passes",
                releases=True,
            ),
            Choice(name=ChoiceName.START, meaning=started, releases=True),
            Choice(name=ChoiceName.LEAVE, meaning=left),
        )

    @property
    def otherwise(self) -> str:
        return ChoiceName.RETRY

    @property
    def settled_choice(self) -> str:
        return ChoiceName.PASSED


class _LimitQuestion(Question, frozen=True, kw_only=True):
    waits_on: ClassVar[WaitsOn] = WaitsOn.LIMIT
    key: Key
    ending: str = ""

    @classmethod
    def _id(cls, found: quota.Limit) -> str:
        return question_id(cls.about, found.key.path, found.lifts + 1)

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        detail = record.detail
        key = {part: detail[part] for part in Key.__struct_fields__ if part in detail}
        return {"key": key, "ending": detail.get("ending", "")}

    @property
    def detail(self) -> dict[str, Any]:
        key = self.key
        return {
            "vendor": key.vendor,
            "account": key.account,
            "model": key.model,
            "ending": self.ending,
        }

    def _lift(self, named: str) -> Choice:
        lifted = (LiftLimit(key=self.key),)
        return Choice(
            name=named, meaning="it is used again, at once", releases=True, effects=lifted
        )


class LimitReached(_LimitQuestion, frozen=True, kw_only=True):
    """A limit that no waiting clears."""

    about: ClassVar[str] = "limit"

    @classmethod
    def ask(cls, found: quota.Limit) -> Self:
        login = logins.login_command(found.key.vendor) if found.ending == Ending.AUTH else ""
        clear = f"Log in with `{login}`; the fleet notices it" if login else "Is it put right?"
        # One that was hit again after it had been probed is asked about anew.
        again = f".{found.times}" if found.times > 1 else ""
        return cls(
            id=f"{cls._id(found)}{again}",
            text=f"{quota.describe(found)}{_quoted(found)}. {clear}",
            waits=(subject.Limit(found.key),),
            key=found.key,
            ending=found.ending,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            self._lift(ChoiceName.FIXED),
            Choice(
                name=ChoiceName.LEAVE, meaning="nothing is started on it until the next `dos up`"
            ),
        )

    @property
    def otherwise(self) -> str:
        return ChoiceName.LEAVE


class LimitDoubted(_LimitQuestion, frozen=True, kw_only=True):
    """A limit that claims to last longer than any does."""

    about: ClassVar[str] = "limit_until"

    @classmethod
    def ask(cls, found: quota.Limit) -> Self:
        until = utc_stamp(quota.reported_end_ms(found) or 0)
        claim = f"{found.key} says it is limited until {until}{_quoted(found)}"
        return cls(
            id=cls._id(found),
            text=f"{claim}, longer than any limit lasts. Lift it, or wait?",
            waits=(subject.Limit(found.key),),
            key=found.key,
            ending=found.ending,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        probed = "one agent probes it every hour, and the others wait until it answers"
        return (self._lift(ChoiceName.LIFT), Choice(name=ChoiceName.WAIT, meaning=probed))

    @property
    def otherwise(self) -> str:
        return ChoiceName.WAIT


def limit_question(found: quota.Limit) -> LimitReached | LimitDoubted:
    """The question about a limit that only a person can clear."""
    return LimitDoubted.ask(found) if quota.is_doubted(found) else LimitReached.ask(found)


def _quoted(found: quota.Limit) -> str:
    return f" (it said: {found.found})" if found.found else ""


class BudgetSpent(Question, frozen=True, kw_only=True):
    """A spent budget. The budgets of a day are waited for until the day is over, and then nobody need answer."""

    about: ClassVar[str] = "budget"
    waits_on: ClassVar[WaitsOn] = WaitsOn.BUDGET
    detail_keys: ClassVar[tuple[str, ...]] = ("measure", "spent", "limit", "by")
    account: Account
    measure: Measure
    spent: float
    limit: float
    by: float  # how much `raise` adds

    @classmethod
    def ask(cls, row: BudgetLine) -> Self:
        return cls(
            id=question_id(
                cls.about, f"{row.scope}-{row.account}-{row.measure}", row.history.asked + 1
            ),
            text=f"The budget is spent: {row}. Raise it?",
            waits=(_spender(row.account),),
            expires_ms=row.ends_ms,
            until_start=row.ends_ms is None,
            account=row.account,
            measure=row.measure,
            spent=row.spent,
            limit=row.limit,
            by=row.limit,
        )

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        try:
            account = accounts.parse(record.detail["scope"], record.detail["subject"])
        except (KeyError, ValueError) as error:
            raise ValidationError(f"{record.id} names no budget") from error
        return {**super().fields_of(record), "account": account}

    @property
    def detail(self) -> dict[str, Any]:
        return {"scope": self.account.scope, "subject": str(self.account), **super().detail}

    @property
    def choices(self) -> tuple[Choice, ...]:
        offered = [
            Choice(
                name=ChoiceName.RAISE,
                meaning=f"up to {self.limit + self.by:g} {self.measure}",
                releases=True,
            ),
            Choice(name=ChoiceName.STOP, meaning="what waits here ends"),
        ]
        if self.expires_ms is not None:
            offered.append(Choice(name=ChoiceName.WAIT, meaning="go on tomorrow"))
        return tuple(offered)

    @property
    def otherwise(self) -> str:
        return ChoiceName.STOP if self.expires_ms is None else ChoiceName.WAIT


def _spender(account: Account) -> Subject:
    """Who waits until the budget is raised."""
    match account:
        case Day():
            return subject.Fleet()
        case LaneDay(lane=lane):
            return subject.Lane(lane)
        case RunAccount(run_id=run_id) | Iteration(run_id=run_id):
            return subject.RunSubject(run_id)
