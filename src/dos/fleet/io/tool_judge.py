"""Judge what an agent of the fleet asks for, under the lease of its worker.

Who asks is not in doubt: the worker holds the lease and started the agent. Whether it still holds
it is asked each time.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from dos import regions
from dos.agents.conversation import Asks
from dos.errors import StoreFailed
from dos.fleet.effects import RunAgent
from dos.journal.store import Store
from dos.permission.ask import PIPE, Allow, Answer, Asker, AskerKind, AskPerson, Deny
from dos.permission.io.asker import find_neighbours
from dos.permission.io.decide import Decision, Place, decide, refuse
from dos.permission.io.record import tell
from dos.permission.io.resolve import guarded_trees
from dos.permission.policy import Enforcement
from dos.permission.refusals import (
    NEEDS_PERSON,
    NOBODY_THERE,
    answer_unjudged,
)
from dos.unknown import Unknown, call_or_unknown
from dos.workspace import Workspace

# They are questions to a user, and an agent of the fleet has none.
_QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode", "request_user_input", "question"})


class ToolJudge:
    """Judges the requests of one agent. It may be called from any thread."""

    def __init__(
        self,
        effect: RunAgent,
        *,
        workspace: Workspace,
        region_globs: Sequence[str],
        enforcement: Enforcement,
        is_lost: Callable[[], bool],
        open_store: Callable[[], Store],
        allowed: set[str],
    ) -> None:
        """`region_globs` are those of the agent's lane from the top of the work tree on.

        `allowed` are the tools that a person allowed for the rest of the run; it is added to.
        """
        self._lease = effect.lease
        self._run_id = effect.run_id
        self._place = Place(tree=Path(effect.worktree.path), guarded=guarded_trees(workspace))
        self._prefix = workspace.prefix
        self._region = regions.region(region_globs)
        self._enforcement = enforcement
        self._is_lost = is_lost
        self._open_store = open_store
        self._allowed = allowed

    def __call__(self, asked: Asks, via: str = PIPE) -> Answer:
        """The answer to a request; a refusal is recorded in the run. Never raises."""
        answer = call_or_unknown(lambda: self._answer(asked, via))
        if isinstance(answer, Unknown):
            return self._unjudged(asked, via, answer.why)
        return answer

    def _answer(self, asked: Asks, via: str) -> Answer:
        if asked.tool in _QUESTIONS:
            return self._with_store(asked, via, NOBODY_THERE)
        answer = self._with_store(asked, via)
        tools = (asked.tool, *(each.tool for each in asked.also))
        needs_person = any(map(self._enforcement.needs_person, tools))
        if isinstance(answer, Allow) and needs_person and asked.tool not in self._allowed:
            return AskPerson(question=asked.tool, reason_class=NEEDS_PERSON)
        return answer

    def after_person(self, asked: Asks, refusal: Deny | None, via: str = PIPE) -> Allow | Deny:
        """The answer after a person's: their refusal, which is recorded, or the rule as it is now.

        While a person thought, the lease may have been lost. Never raises.
        """
        answer = call_or_unknown(lambda: self._with_store(asked, via, refusal))
        if isinstance(answer, Unknown):
            return refusal or self._unjudged(asked, via, answer.why)
        return answer

    def _unjudged(self, asked: Asks, via: str, why: str) -> Allow | Deny:
        """The answer where judging failed; it is recorded, where that does not fail as well."""
        answer = answer_unjudged(asked, why)
        if isinstance(answer, Deny):
            call_or_unknown(lambda: self._with_store(asked, via, answer))
        return answer

    def allow_for_run(self, tool: str) -> None:
        """Ask no person about this tool any more, as long as the run lasts."""
        self._allowed.add(tool)

    def _with_store(self, asked: Asks, via: str, refusal: Deny | None = None) -> Allow | Deny:
        """Judge with what the journal says; without it, by the worker's own clock."""
        try:
            with self._open_store() as store:
                decision = self._decide(asked, store, refusal)
                return _told(store, decision, via)
        except StoreFailed:
            return _final(self._decide(asked, None, refusal).answer)

    def _decide(self, asked: Asks, store: Store | None, refusal: Deny | None) -> Decision:
        if refusal is not None:
            return refuse(asked, self._asker(store), self._place, refusal)
        return decide(asked, lambda: self._asker(store), self._place)

    def _asker(self, store: Store | None) -> Asker:
        """The worker's own lease, as it is now, and what others hold."""
        kind = AskerKind.LOST if self._is_lost() else AskerKind.HOLDER
        asker = Asker(
            kind=kind,
            lane=self._lease.lane,
            region=self._region,
            fence=self._lease.fence,
            run_id=self._run_id,
            session=self._run_id,  # so that what was refused is found by the run
        )
        if store is None:
            return asker
        with store.backend.read() as view:
            neighbours = find_neighbours(view, self._prefix, own=[self._lease])
        return structs.replace(asker, neighbours=neighbours)


def _told(store: Store, decision: Decision, via: str) -> Allow | Deny:
    """The answer, after recording what the agent is told of it. A pipe tells no warnings."""
    answer = _final(decision.answer)
    if decision.ask is None:
        return answer
    if via == PIPE and isinstance(answer, Allow):
        return Allow()
    return _final(tell(store, decision.ask, answer, via=via))


def _final(answer: Answer) -> Allow | Deny:
    """The answer; the rule asks only the user of a session of their own."""
    return NOBODY_THERE if isinstance(answer, AskPerson) else answer
