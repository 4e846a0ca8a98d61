"""Simulated agents that talk: they ask, are refused, take requests back, repeat them, and are told.

The worker's side is the product's own (`AgentTalk`, `Dialogue`, the rule of permission, the
questions); only the program, its line protocol and the threads between them are simulated. What a
program is allowed is compared with what the model knows, and never with what the product decided.
"""

from collections import Counter
from contextlib import nullcontext
from random import Random

from dos.agents.adapter import Settings
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue
from dos.choices import ChoiceName
from dos.errors import Fenced, StoreUnreachable
from dos.fleet import effects
from dos.fleet.agent_talk import AgentTalk, tell_in_prompt
from dos.journal import streams
from dos.journal.events.doors import RunSteered
from dos.permission.ask import Allow, Answer, Ask, Asker, AskerKind, AskPerson, Deny, Footprint
from dos.permission.judge import judge
from dos.permission.policy import Enforcement
from dos.questions.agent_requests import ToolRequested
from dos.questions.state import AnsweredQuestion
from dos.testing.simulator.talks.program import Program, Request, SimulatedConversation
from dos.testing.simulator.world import faults, invariants
from dos.testing.simulator.world.agent import Agent
from dos.testing.simulator.world.invariants import InvariantBroken
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.repository import OUTSIDE
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.workspace import SILENCE_SECONDS, WALL_SECONDS

NEEDS_PERSON = "Publish"  # the tool that only a person allows
FREE = "Write"
# Longer than a program may be silent, shorter than it may run.
ENFORCEMENT = Enforcement(ask_person=(NEEDS_PERSON,), answer_seconds=100)
POLL_MS = 1_000
MOST_REQUESTS = 3  # of one start
SLACK_SECONDS = 60  # from the end of a question's time to the answer
MESSAGES = 5  # of people, in one world


class SimulatedJudge:
    """The product's rule for one agent."""

    def __init__(self, talks: "Talks", process: Process, effect: effects.RunAgent) -> None:
        self._talks = talks
        self._process = process
        self._effect = effect
        self._allowed = talks.allowed.setdefault(effect.run_id, set())

    def __call__(self, asked: Asks, via: str = "pipe") -> Answer:  # noqa: ARG002
        answer = self.after_person(asked, None)
        needs_person = ENFORCEMENT.needs_person(asked.tool) and asked.tool not in self._allowed
        if isinstance(answer, Allow) and needs_person:
            return AskPerson(question=asked.tool)
        return answer

    def after_person(
        self,
        asked: Asks,
        refusal: Deny | None,
        via: str = "pipe",  # noqa: ARG002
    ) -> Allow | Deny:
        lease = self._effect.lease
        is_lost = self._talks.site.scheduler.has_lost_lease(self._process)
        asker = Asker(
            kind=AskerKind.LOST if is_lost else AskerKind.HOLDER,
            lane=lease.lane,
            region=lease.region,
        )
        footprint = Footprint(paths=asked.named_paths)
        answer = refusal or judge(Ask(asker=asker, tool=asked.tool, footprint=footprint))
        assert not isinstance(answer, AskPerson)
        return answer

    def allow_for_run(self, tool: str) -> None:
        self._allowed.add(tool)


class Talks:
    """All conversations of a world. `random` is None where programs do not talk."""

    def __init__(self, site: Site, random: Random | None) -> None:
        self.site = site
        self.random = random
        self.scheduler = site.scheduler
        self.allowed: dict[str, set[str]] = {}  # by run
        self.programs: dict[int, Program] = {}  # by worker, the newest
        self.said: list[str] = []  # messages of people
        self.heard: Counter[str] = Counter()
        self._requests = 0

    def begin(self) -> None:
        """Schedule what people say to agents."""
        if self.random is not None:
            for _ in range(MESSAGES):
                at = self.random.random() * self.scheduler.calm_at / 2
                self.scheduler.schedule(at, self._steer)

    def start(self, agent: Agent) -> None:
        """Tell the agent what people said before, and begin to talk with it.

        Raises StoreUnreachable while its host is cut off, and Fenced without its lease.
        """
        if self.random is None:
            return
        effect = agent.effect
        messages = self.site.steering.of_lane(effect.run_lease.lane)
        if messages:
            if agent.worker.host.away_until > self.scheduler.now:
                raise StoreUnreachable("the host is cut off")
            tell_in_prompt(effect, messages, agent.worker.store)
            self.scheduler.on_write()
        for message in messages:
            self.scheduler.counts[faults.TOLD_IN_PROMPT] += 1
            self._hear(message.text)
        program = Program(agent=agent, last_line_at=self.scheduler.now)
        self.programs[agent.worker.pid] = program
        program.talk = AgentTalk(
            Dialogue(SimulatedConversation()),
            effect,
            SimulatedJudge(self, agent.worker, effect),
            send=lambda line: self._on_reply(program, line),
            answer_seconds=ENFORCEMENT.answer_seconds,
            lock=nullcontext(),
        )
        program.talk.begin("", Settings())
        program.read = len(agent.worker.store.load(streams.run(effect.run_id)))
        for _ in range(self.random.randint(0, MOST_REQUESTS)):
            at = self.random.random() * agent.seconds * 600
            self.scheduler.schedule(at, self._ask, program)
        self.scheduler.schedule(POLL_MS, self._poll, program)

    def is_blocked(self, agent: Agent) -> bool:
        """Whether the agent waits for an answer, so that it does nothing else."""
        program = self.programs.get(agent.worker.pid)
        return program is not None and program.agent is agent and program.is_blocked

    def end(self, agent: Agent) -> None:
        """Close the questions of an agent that has ended, as its worker does where it can."""
        program = self.programs.get(agent.worker.pid)
        if program is None or program.agent is not agent or program.talk is None:
            return
        if self._can_reach(agent.worker):
            try:
                program.talk.close(agent.worker.store)
            except Fenced:
                pass  # its supervisor closes them
            self.scheduler.on_write()

    def end_for(self, agent: Agent) -> bool:
        """Whether a clock ends the agent, which waits for an answer; checks that it may."""
        program = self.programs[agent.worker.pid]
        now = self.scheduler.now
        assert program.talk is not None
        if program.talk.is_asking_person:
            program.last_line_at = now
        elif now - program.last_line_at > SILENCE_SECONDS * 1000:
            if question := self._open_question(agent):
                raise InvariantBroken(
                    invariants.NOT_SILENT, f"{question} was open as its agent was ended for silence"
                )
            return True
        if now - agent.began <= WALL_SECONDS * 1000:
            return False
        self._check_answered(program)
        return True

    def check_end(self) -> None:
        """Check that every message was told, or still waits for an agent."""
        pending = {message.id for waits in self.site.steering.pending.values() for message in waits}
        for message in self.said:
            if not self.heard[message] and message not in pending:
                raise InvariantBroken(invariants.TOLD_ONCE, f"{message} was told to no agent")

    # The program

    def _ask(self, program: Program) -> None:
        """Ask for a tool; some ask twice under one name, and some take it back."""
        agent = program.agent
        if self.random is None or not (agent.alive and agent.worker.alive) or agent.done >= 2:
            return
        self._requests += 1
        name = f"r{self._requests}"
        tool = NEEDS_PERSON if self.random.random() < 0.6 else FREE
        path = agent.effect.lease.region.globs[0].replace("**", f"{name}.txt")
        if self.random.random() < 0.25:
            path = OUTSIDE
        program.requests[name] = Request(tool=tool, path=path, at=self.scheduler.now)
        self._say(program, f"ask {name} {tool} {path}")
        if self.random.random() < 0.2:
            self.scheduler.counts[faults.ASKS_AGAIN] += 1
            self._say(program, f"ask {name} {tool} {path}")
        if self.random.random() < 0.2:
            self.scheduler.schedule(
                self.random.randint(500, 30_000), self._withdraw, (program, name)
            )

    def _withdraw(self, taken: tuple[Program, str]) -> None:
        program, name = taken
        request = program.requests[name]
        if request.is_open and program.agent.alive and program.agent.worker.alive:
            self.scheduler.counts[faults.WITHDRAWS] += 1
            request.withdrawn = True
            self._say(program, f"withdraw {name}")

    def _say(self, program: Program, line: str) -> None:
        """Print a line; what it asks is judged at once, as by the thread of its worker."""
        assert program.talk is not None
        program.last_line_at = self.scheduler.now
        for asked in program.talk.on_line(line):
            answer = self._judged(program, asked)
            if isinstance(answer, AskPerson):
                self.scheduler.counts[faults.ASKS_PERSON] += 1
            elif isinstance(answer, Deny):
                self.scheduler.counts[faults.ASK_DENIED] += 1
            program.talk.answer(asked, answer)

    def _judged(self, program: Program, asked: Asks) -> Answer:
        return SimulatedJudge(self, program.agent.worker, program.agent.effect)(asked)

    def _on_reply(self, program: Program, line: str) -> None:
        """Read what its worker sends."""
        word, _, rest = line.partition(" ")
        if word == "message":
            self.scheduler.counts[faults.TOLD_AT_WORK] += 1
            self._hear(rest)
            return
        request = program.requests[rest]
        request.answers += 1
        if request.answers > 1 or request.withdrawn:
            raise InvariantBroken(invariants.ONE_REPLY, f"request {rest} is answered again: {line}")
        if word == "allow":
            self._check_allowed(program, rest, request)
            effect = program.agent.effect
            self.site.repository.edit(program.agent.tree, request.path, effect.lease.lane)

    def _check_allowed(self, program: Program, name: str, request: Request) -> None:
        """Check by the model that the request may be allowed."""
        effect = program.agent.effect
        if request.path == OUTSIDE:
            raise InvariantBroken(
                invariants.REFUSED, f"{name}: {request.path} is outside of {effect.lease.lane}"
            )
        if request.tool == NEEDS_PERSON and not self._was_allowed(effect.run_id, request):
            raise InvariantBroken(
                invariants.UNANSWERED, f"{name}: nobody allowed {request.path} to {effect.run_id}"
            )

    def _was_allowed(self, run_id: str, request: Request) -> bool:
        """Whether a person allowed just this request, or its tool for the rest of the run."""
        for answered in self.site.decisions.answered.values():
            question = answered.question
            if not isinstance(question, ToolRequested) or question.run_id != run_id:
                continue
            if _is_allowed(answered, ChoiceName.ALLOW_RUN) and question.tool == request.tool:
                return True
            if _is_allowed(answered, ChoiceName.ALLOW) and question.paths == (request.path,):
                return True
        return False

    def _hear(self, message: str) -> None:
        self.heard[message] += 1
        if self.heard[message] > 1:
            raise InvariantBroken(invariants.TOLD_ONCE, f"{message} arrived twice")

    # Its worker

    def _poll(self, program: Program) -> None:
        """Do what the monitor of an agent does every second."""
        agent = program.agent
        if not (agent.alive and agent.worker.alive):
            return
        if self._can_reach(agent.worker):
            assert program.talk is not None
            store = agent.worker.store
            events = store.load(streams.run(agent.effect.run_id), after=program.read)
            program.read += len(events)
            try:
                program.talk.read(events)
                program.talk.poll(store)
            except Fenced:
                return
            finally:
                self.scheduler.on_write()
        self.scheduler.schedule(POLL_MS, self._poll, program)

    def _can_reach(self, process: Process) -> bool:
        """Whether the worker runs and reaches the journal."""
        now = self.scheduler.now
        return process.alive and process.paused_until <= now and process.host.away_until <= now

    def _open_question(self, agent: Agent) -> str:
        for asked in self.site.decisions.open.values():
            question = asked.question
            if isinstance(question, ToolRequested) and question.run_id == agent.effect.run_id:
                return question.id
        return ""

    def _check_answered(self, program: Program) -> None:
        """Check that no request was left open for longer than a person may take.

        A worker that sleeps or is cut off answers later, so those worlds are not checked.
        """
        plan = self.site.fault_plan
        if faults.PAUSE in plan.rates or faults.PARTITION in plan.moments:
            return
        longest = (ENFORCEMENT.answer_seconds + SLACK_SECONDS) * 1000
        for name, request in program.requests.items():
            if request.is_open and self.scheduler.now - request.at > longest:
                raise InvariantBroken(invariants.ONE_REPLY, f"request {name} was never answered")

    # People

    def _steer(self, _: object) -> None:
        """Say something to the agent of a run that lives."""
        live = [lease for lease in self.site.live_leases() if lease.run_id]
        live = [lease for lease in live if lease.lane in self.site.workspace.regions]
        if self.random is None or not live:
            return
        lease = self.random.choice(live)
        message = f"m{len(self.said) + 1}"
        self.said.append(message)
        self.scheduler.counts[faults.STEERED] += 1
        steered = RunSteered(
            run_id=lease.run_id, lane=lease.lane, id=message, message=message, by="person"
        )
        self.site.store.record(streams.run(lease.run_id), steered)
        self.scheduler.on_write()


def _is_allowed(answered: AnsweredQuestion, choice: ChoiceName) -> bool:
    return answered.choice == choice and not answered.expired
