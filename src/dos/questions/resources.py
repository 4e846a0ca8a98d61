"""Questions about what agents need to start: a passing test, a provider, and a budget."""

from typing import Any, ClassVar, Self

from msgspec import ValidationError

from dos.agents import logins
from dos.agents.adapter import Ending
from dos.backlog.waiting import WaitsOn
from dos.choices import ChoiceName
from dos.limits import accounts, quota
from dos.limits.accounts import Account, Day, Iteration, LaneDay, Measure, RunAccount, format_amount
from dos.limits.budget import BudgetLine
from dos.limits.quota import Key
from dos.questions import subject
from dos.questions.question import Choice, LiftLimit, Question, Record, question_id
from dos.questions.subject import Subject
from dos.times import format_duration
from dos.verify import baseline
from dos.verify.baseline import BLIND_ADVICE


class BaselineFailed(Question, frozen=True, kw_only=True):
    """The workspace's test fails before any agent has worked (`red`), or passes without the code
    (`blind`).

    No agent is started on the host while it is open, because no work could be verified there.
    """

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
        """Return the question about a failed check. A blind test also gets advice."""
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
        """What was checked. The answer holds for this host, tree and commands alone."""
        return baseline.Subject(host=self.host, tree=self.tree, commands=self.commands)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """`retry` and `start` let agents start; `leave` keeps the host idle."""
        started = "start agents anyway; their work lands only if the test passes"
        left = "start no agent until the next `dos up`, which runs the check again"
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning="run the check again and start agents when it passes",
                releases=True,
            ),
            Choice(name=ChoiceName.START, meaning=started, releases=True),
            Choice(name=ChoiceName.LEAVE, meaning=left),
        )

    @property
    def otherwise(self) -> str:
        """A start runs the check again."""
        return ChoiceName.RETRY

    @property
    def settled_choice(self) -> str:
        """A check that passes meanwhile closes the question."""
        return ChoiceName.PASSED


class _LimitQuestion(Question, frozen=True, kw_only=True):
    """A provider refuses requests of one account or model."""

    waits_on: ClassVar[WaitsOn] = WaitsOn.LIMIT
    key: Key
    ending: str = ""

    @classmethod
    def _id(cls, limit: quota.Limit) -> str:
        """The id counts how often the limit was lifted, so that a new one is a new question."""
        return question_id(cls.about, limit.key.path, limit.lifts + 1)

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        """The key is stored as its parts, beside the ending."""
        detail = record.detail
        key = {part: detail[part] for part in Key.__struct_fields__ if part in detail}
        return {"key": key, "ending": detail.get("ending", "")}

    @property
    def detail(self) -> dict[str, Any]:
        """The key of the limit by its parts, and how the agent ended."""
        key = self.key
        return {
            "vendor": key.vendor,
            "account": key.account,
            "model": key.model,
            "ending": self.ending,
        }

    def _lift(self, choice: str) -> Choice:
        """The choice that lifts the limit, under the name that fits the question."""
        return Choice(
            name=choice,
            meaning="use the provider again at once",
            releases=True,
            effects=(LiftLimit(key=self.key),),
        )


class LimitReached(_LimitQuestion, frozen=True, kw_only=True):
    """A limit that does not end by itself, such as a missing login."""

    about: ClassVar[str] = "limit"

    @classmethod
    def ask(cls, limit: quota.Limit) -> Self:
        """Return the question about a limit that only a person can clear."""
        login = logins.login_command(limit.key.vendor) if limit.ending == Ending.AUTH else ""
        if login:
            advice = f"Log in with `{login}`; the fleet notices it"
        else:
            advice = "Answer `fixed` once it works again"
        # A limit that was hit again after a probe is a new question.
        again = f".{limit.times}" if limit.times > 1 else ""
        return cls(
            id=f"{cls._id(limit)}{again}",
            text=f"{quota.describe(limit)}{_quotation(limit)}. {advice}",
            waits=(subject.Limit(limit.key),),
            key=limit.key,
            ending=limit.ending,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        """`fixed` lifts the limit; `leave` keeps it."""
        return (
            self._lift(ChoiceName.FIXED),
            Choice(name=ChoiceName.LEAVE, meaning="start nothing on it until the next `dos up`"),
        )

    @property
    def otherwise(self) -> str:
        """Nothing starts on the provider until a person has fixed it."""
        return ChoiceName.LEAVE


class LimitDoubted(_LimitQuestion, frozen=True, kw_only=True):
    """A limit whose announced end is later than any known limit lasts, so it may be misread."""

    about: ClassVar[str] = "limit_until"

    @classmethod
    def ask(cls, limit: quota.Limit) -> Self:
        """Return the question about a limit whose end is not credible."""
        reported_ms = quota.reported_end_ms(limit) or limit.hit_ms
        length = format_duration((reported_ms - limit.hit_ms) / 1000)
        claim = f"{limit.key} says it is limited for {length}{_quotation(limit)}"
        return cls(
            id=cls._id(limit),
            text=f"{claim}, which is longer than any known limit. Lift it, or wait?",
            waits=(subject.Limit(limit.key),),
            key=limit.key,
            ending=limit.ending,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        probed = "try one agent every hour; the others wait until it works"
        return (self._lift(ChoiceName.LIFT), Choice(name=ChoiceName.WAIT, meaning=probed))

    @property
    def otherwise(self) -> str:
        """Until the answer the limit is probed, because it may be real."""
        return ChoiceName.WAIT


def limit_question(limit: quota.Limit) -> LimitReached | LimitDoubted:
    """Return the question about a limit that only a person can clear."""
    if quota.is_doubted(limit):
        return LimitDoubted.ask(limit)
    return LimitReached.ask(limit)


def _quotation(limit: quota.Limit) -> str:
    """What the agent printed about the limit, in brackets."""
    return f" (it printed: {limit.found})" if limit.found else ""


class BudgetSpent(Question, frozen=True, kw_only=True):
    """A budget is spent. The question about a daily budget expires at the end of the day."""

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
        """Return the question about a spent budget. A daily one expires with the day."""
        return cls(
            id=question_id(
                cls.about, f"{row.scope}-{row.account}-{row.measure}", row.history.asked + 1
            ),
            text=f"The budget is spent: {row}. Raise it, or stop?",
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
        """The account is stored as scope and subject. Raises ValidationError for others."""
        try:
            account = accounts.parse(record.detail["scope"], record.detail["subject"])
        except (KeyError, ValueError) as error:
            raise ValidationError(f"{record.id} names no budget") from error
        return {**super().fields_of(record), "account": account}

    @property
    def detail(self) -> dict[str, Any]:
        """The account as scope and subject, before the other fields."""
        return {"scope": self.account.scope, "subject": str(self.account), **super().detail}

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Waiting is only offered for a budget that is renewed."""
        offered = [
            Choice(
                name=ChoiceName.RAISE,
                meaning=f"raise the limit to {format_amount(self.limit + self.by, self.measure)}",
                releases=True,
            ),
            Choice(name=ChoiceName.STOP, meaning="end the runs that wait for this budget"),
        ]
        if self.expires_ms is not None:
            offered.append(Choice(name=ChoiceName.WAIT, meaning="continue tomorrow"))
        return tuple(offered)

    @property
    def otherwise(self) -> str:
        """A daily budget is waited for; any other one ends what it pays for."""
        return ChoiceName.STOP if self.expires_ms is None else ChoiceName.WAIT


def _spender(account: Account) -> Subject:
    """The subject that waits until the budget is raised."""
    match account:
        case Day():
            return subject.Fleet()
        case LaneDay(lane=lane):
            return subject.Lane(lane)
        case RunAccount(run_id=run_id) | Iteration(run_id=run_id):
            return subject.RunSubject(run_id)
