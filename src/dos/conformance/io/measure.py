"""Measure what an agent program can, each question by a run of the real program of its own."""

import shutil
import time

from msgspec import Struct

from dos.agents.adapter import Ending
from dos.agents.conversation import Asks
from dos.agents.programs.catalog import KnownAgent, Transport
from dos.conformance import hook_trial, questions
from dos.conformance.io.drive import Drive, Driven, Judge, Task, Tick, allow_all, drive, never
from dos.conformance.io.scratch import Scratch, scratch
from dos.conformance.io.try_hooks import Progress, read_version, try_host
from dos.conformance.programs import PROMPT, TRIALS, Step, Trial
from dos.conformance.questions import (
    DENIED,
    MESSAGE,
    STATUSES,
    WORD,
    Answer,
    LimitEvidence,
    MessageEvidence,
    Question,
    Verdict,
    WorkEvidence,
)
from dos.errors import DosError
from dos.machine.execute import EndedBy
from dos.permission.ask import Allow, Deny
from dos.testing.model_protocols import USAGE
from dos.testing.scripted_model import ScriptedModel

WORK_SECONDS = 180.0
LIMIT_SECONDS = 60.0
TOOL_SECONDS = 6
SECOND_PROMPT = "Go on with it."
REFUSALS = {429: "Rate limit reached, try again later", 529: "Overloaded"}
DENIAL = Deny(reason=DENIED, hint="Work elsewhere.", reason_class="REGION_HELD")


class Measured(Struct, frozen=True, kw_only=True):
    """What was measured of one program."""

    agent: str
    found: bool
    program: str = ""
    version: str = ""
    answers: dict[Question, Answer] = {}
    why_not: str = ""  # where nothing could be measured

    @property
    def unknown(self) -> list[Question]:
        """The questions that its runs did not answer."""
        return [
            question
            for question, answer in self.answers.items()
            if answer.verdict is Verdict.UNKNOWN
        ]


def measure(agent: KnownAgent, progress: Progress) -> Measured:
    """Run the program that is on the PATH, once for each question or two. Takes a minute or more.

    Nothing of the user is read or changed.
    """
    program = shutil.which(agent.program)
    if program is None:
        return Measured(
            agent=agent.name, found=False, why_not=f"{agent.program} is not on the PATH"
        )
    version = read_version(program) if agent.prints_version else ""
    return Measured(
        agent=agent.name,
        found=True,
        program=program,
        version=version,
        answers=_Measurement(agent, TRIALS[agent.name], program, progress).answers(),
    )


class _Measurement:
    """The runs of one program."""

    def __init__(self, agent: KnownAgent, trial: Trial, program: str, progress: Progress) -> None:
        self._agent = agent
        self._trial = trial
        self._program = program
        self._progress = progress

    def answers(self) -> dict[Question, Answer]:
        """Return the answer to every question, in their order."""
        found: dict[Question, Answer] = {}
        for questions_of_run, run in (
            ((Question.ASKS, Question.USAGE, Question.ENDS), self._work),
            ((Question.LIMIT,), lambda: [self._limit(STATUSES[0])]),
            ((Question.OVERLOAD,), lambda: [self._limit(STATUSES[1])]),
            ((Question.RESUMES,), lambda: [self._resume()]),
            ((Question.MESSAGES,), lambda: [self._message()]),
        ):
            self._progress(f"{self._agent.name}: {' / '.join(questions_of_run)}?")
            try:
                answers = run()
            except (DosError, OSError) as error:
                answers = [questions.unknown(str(error))] * len(questions_of_run)
            found.update(zip(questions_of_run, answers, strict=True))
        return {question: found[question] for question in Question}

    def _work(self) -> list[Answer]:
        with scratch() as place:
            steps = hook_trial.steps(self._trial, str(place.repository))
            with self._model(steps) as model:
                done = self._drive(place, model, PROMPT, judge=_deny_held)
                seen = self._work_evidence(place, model, done)
        asks = questions.asks(seen)
        if self._agent.transport is Transport.HOOKS and self._trial.host:
            verdict = try_host(self._trial.host, self._progress)
            asks = questions.asks_by_hooks(verdict.result, verdict.reason)
        return [asks, questions.usage(seen), questions.ends(seen)]

    def _limit(self, status: int) -> Answer:
        refusal: Step = {"status": status, "message": REFUSALS[status]}
        refusal["headers"] = {"retry-after": "30"}
        with scratch() as place, self._model([refusal]) as model:
            waiting: list[Ending] = []

            def heard(run: Drive) -> bool:
                state = run.state()
                if state.waiting is not None:
                    waiting.append(state.waiting.ending)
                return bool(waiting)

            done = self._drive(place, model, PROMPT, tick=heard, seconds=LIMIT_SECONDS)
            return questions.limit(
                LimitEvidence(
                    requests=model.refusals(),
                    waiting=waiting[0] if waiting else None,
                    ending=done.outcome.ending,
                    was_ended=done.ended_by is EndedBy.OVERTIME,
                    seconds=done.seconds,
                )
            )

    def _resume(self) -> Answer:
        with scratch() as place, self._model([self._trial.say("Noted.")]) as model:
            first = self._drive(place, model, f"Remember the word {WORD}.")
            before = len(model.requests)
            session = first.outcome.session or first.state.session
            if self._trial.resumes_a_minute_later:
                time.sleep(seconds_to_next_minute(time.time()))
            self._drive(place, model, SECOND_PROMPT, resume=session)
            sent = [str(request["body"]) for request in model.requests[before:]]
        return questions.resumes(session, sent, SECOND_PROMPT)

    def _message(self) -> Answer:
        with scratch() as place:
            started = place.repository / "started"
            ended = place.repository / "ended"
            command = f"touch started; sleep {TOOL_SECONDS}; touch ended"
            taken: list[bool | None] = []

            def hand_over(run: Drive) -> bool:
                is_at_work = started.exists() or not self._trial.has_tools
                if is_at_work and not taken:
                    taken.append(run.steer(MESSAGE))
                return False

            steps = [{"bash": command}, {"bash": "true"}, self._trial.say("Done.")]
            with self._model(steps) as model:
                self._drive(place, model, PROMPT, tick=hand_over)
                told = any(MESSAGE in str(request["body"]) for request in model.requests)
            return questions.messages(
                MessageEvidence(
                    started=started.exists(),
                    was_taken=taken[0] if taken else False,
                    tool_ended=ended.exists(),
                    reached_model=told,
                )
            )

    def _work_evidence(self, place: Scratch, model: ScriptedModel, done: Driven) -> WorkEvidence:
        """Gather what is on the disk, what the model was told, and what the adapter read."""
        answered = [
            request for request in model.requests if request["tools"] or not self._trial.has_tools
        ]
        usage = done.outcome.usage or done.state.usage
        return WorkEvidence(
            asked=len(done.asked),
            written=place.written(),
            calls=max((request["results"] for request in model.requests), default=0),
            told_why=sum(DENIED in text for text in model.told()),
            answered=len(answered),
            model_tokens=len(answered) * sum(USAGE.values()),
            reported_tokens=sum(each.tokens for each in usage),
            reported_cost=any(each.cost_usd is not None for each in usage),
            ended_by_itself=done.ended_by is None,
            did_end_work=done.ended_by in (None, EndedBy.OVER),
            why_not=done.last_words,
        )

    def _model(self, steps: list[Step]) -> ScriptedModel:
        return ScriptedModel(self._trial.script(steps))

    def _drive(
        self,
        place: Scratch,
        model: ScriptedModel,
        prompt: str,
        *,
        resume: str = "",
        judge: Judge = allow_all,
        tick: Tick = never,
        seconds: float = WORK_SECONDS,
    ) -> Driven:
        """One run in a place that is made ready for it once."""
        if not place.is_settled:
            place.settle(self._trial, model.url)
            if self._trial.first:
                place.run_once([self._program, *self._trial.first])
        return drive(
            self._agent.name,
            place,
            Task(prompt=prompt, model=self._trial.model, resume=resume),
            judge=judge,
            tick=tick,
            wall_seconds=seconds,
        )


def seconds_to_next_minute(now: float) -> float:
    """Return how long it is until the clock shows another minute, and a little more."""
    return 60.5 - now % 60


def _deny_held(asked: Asks) -> Allow | Deny:
    """Refuse whatever names the folder that the program may not write to."""
    words = (*asked.paths, asked.command, str(asked.arguments))
    if any("held/" in word for word in words):
        return DENIAL
    return Allow()
