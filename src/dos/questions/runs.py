"""Questions about a run that should be stopped, or that stopped. Nothing waits for the answers."""

from typing import ClassVar, Self

from dos.choices import ChoiceName
from dos.loop import tokens
from dos.questions.question import Choice, HaltRun, Question, question_id

_KEEP_RUNNING = "let it continue"


class Spinning(Question, frozen=True, kw_only=True):
    """A run is alive and nothing that it does lands. It continues unless a person stops it."""

    about: ClassVar[str] = "spinning"
    detail_keys: ClassVar[tuple[str, ...]] = ("run_id", "lane")
    is_urgent: ClassVar[bool] = True
    run_id: str

    @classmethod
    def ask(
        cls, run_id: str, lane: str, reason: str, *, ordinal: int = 1, expires_ms: int | None = None
    ) -> Self:
        """Return the question. `ordinal` counts how often the run was found to spin."""
        return cls(
            id=cls.id_of(run_id, ordinal),
            text=f"Run {run_id} on lane {lane} is running and lands nothing: {reason}."
            " Stop it, or let it continue?",
            expires_ms=expires_ms,
            run_id=run_id,
            lane=lane,
        )

    @classmethod
    def id_of(cls, run_id: str, ordinal: int) -> str:
        """The id of the question that is asked the `ordinal`th time the run spins."""
        return question_id(cls.about, run_id, ordinal)

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            _halt(self.run_id, self.text),
            Choice(name=ChoiceName.LEAVE, meaning=_KEEP_RUNNING),
        )

    @property
    def otherwise(self) -> str:
        """Without an answer the run continues: stopping it would lose its work."""
        return ChoiceName.LEAVE

    @property
    def kind(self) -> str:
        """The name that dos-kernel has for it."""
        return "LIVENESS"


class HaltProposed(Question, frozen=True, kw_only=True):
    """A proposal to stop a run or a process. dos stops a run; a process is stopped by a person."""

    about: ClassVar[str] = "halt_proposed"
    detail_keys: ClassVar[tuple[str, ...]] = (
        "handle",
        "lane",
        "run_id",
        "host",
        "command",
        "reason",
        "closes",
    )
    is_urgent: ClassVar[bool] = True
    handle: str  # the run or the process
    host: str = ""
    command: str = ""
    reason: str = ""

    @classmethod
    def ask(
        cls,
        handle: str,
        *,
        position: int,
        lane: str = "",
        run_id: str = "",
        host: str = "",
        command: str = "",
        reason: str = "",
    ) -> Self:
        """Return the question. `position` is that of the proposal in the journal."""
        subject = run_id or handle
        where = f" on lane {lane}" if lane else ""
        return cls(
            id=question_id(cls.about, subject, position),
            text=f"Stop {subject}{where}? Proposed because: {reason}",
            handle=handle,
            lane=lane,
            run_id=run_id,
            host=host,
            command=command,
            reason=reason,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        if self.run_id:
            stop = _halt(self.run_id, self.text)
        else:
            stop = Choice(name=ChoiceName.DONE, meaning=f"you have stopped {self.handle}")
        return (stop, Choice(name=ChoiceName.LEAVE, meaning=_KEEP_RUNNING))

    @property
    def otherwise(self) -> str:
        """Without an answer nothing is stopped."""
        return ChoiceName.LEAVE

    @property
    def proposed_command(self) -> str:
        return self.command

    @property
    def closes(self) -> str:
        """When there is nothing left to stop."""
        return "when it has stopped or makes progress again"


class RunStopped(Question, frozen=True, kw_only=True):
    """A run of a loop outside the fleet stopped for a reason that only a person can clear."""

    about: ClassVar[str] = "run_stopped"
    detail_keys: ClassVar[tuple[str, ...]] = ("run_id", "lane", "token", "command", "closes")
    run_id: str
    token: str = ""  # why the run stopped

    @classmethod
    def ask(cls, *, run_id: str, lane: str, stop_reason: str, reason: str) -> Self:
        """Return the question. `stop_reason` is a token of the table of reasons."""
        where = f" on lane {lane}" if lane else ""
        return cls(
            id=question_id(cls.about, run_id, 1),
            text=f"Run {run_id}{where} stopped and needs you:"
            f" {tokens.words(stop_reason)}, {reason}",
            run_id=run_id,
            lane=lane,
            token=stop_reason,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (Choice(name=ChoiceName.DONE, meaning="remove it from this list"),)

    @property
    def otherwise(self) -> str:
        """Nothing waits for it, so closing it changes nothing."""
        return ChoiceName.DONE

    @property
    def clearing_command(self) -> str:
        """A command that explains why the run stopped."""
        return f"dos why {self.run_id}"

    @property
    def closes(self) -> str:
        """When the stop no longer matters."""
        return "when the run ends or resumes, or when the lane's next run begins"


def _halt(run_id: str, reason: str) -> Choice:
    """The choice that stops a run; the question's text becomes the recorded reason."""
    return Choice(
        name=ChoiceName.HALT,
        meaning="stop its worker and its agent, and keep the work",
        effects=(HaltRun(run_id=run_id, reason=reason),),
    )
