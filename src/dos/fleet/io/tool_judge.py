"""Judge what an agent of the fleet asks for, under the lease of its worker.

Who asks is not in doubt: the worker holds the lease and started the agent. Whether it still holds
it is asked each time.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from dos import regions
from dos.agents.conversation import Asks
from dos.errors import StoreFailed
from dos.fleet.agent_talk import NEEDS_PERSON
from dos.fleet.effects import RunAgent
from dos.journal.store import Store
from dos.lease import Lease
from dos.permission.ask import (
    Allow,
    Answer,
    Ask,
    Asker,
    AskerKind,
    AskPerson,
    Deny,
    Neighbour,
)
from dos.permission.footprint import read_footprint
from dos.permission.io.record import record_answer
from dos.permission.io.resolve import guarded_trees, resolve
from dos.permission.judge import judge
from dos.permission.policy import Enforcement
from dos.workspace import Workspace

PIPE = "pipe"  # how the agent asked, in the event of an answer
# They are questions to a user, and an agent of the fleet has none.
_QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode", "request_user_input", "question"})
NOBODY_THERE = Deny(
    reason="Nobody is there to answer: you work unattended.",
    hint="Decide by what the unit says, and name what you had to assume in the commit message.",
    reason_class="NOBODY_THERE",
)
# A hook has seconds to answer, so nobody is asked.
CANNOT_WAIT = Deny(
    reason="Only a person can allow this, and your program cannot wait for an answer.",
    hint="Work without it, or finish and say what you would have needed.",
    reason_class=NEEDS_PERSON,
)


class ToolJudge:
    """Judges the requests of one agent. It may be called from any thread."""

    def __init__(  # noqa: PLR0913
        self,
        effect: RunAgent,
        *,
        workspace: Workspace,
        region_globs: Sequence[str],
        enforcement: Enforcement,
        program: str,
        is_lost: Callable[[], bool],
        open_store: Callable[[], Store],
        allowed: set[str],
    ) -> None:
        """`region_globs` are those of the agent's lane from the top of the work tree on.

        `allowed` are the tools that a person allowed for the rest of the run; it is added to.
        """
        self._lease = effect.lease
        self._run_id = effect.run_id
        self._tree = effect.worktree.path
        self._guarded = guarded_trees(workspace)
        self._region = regions.region(region_globs)
        self._enforcement = enforcement
        self._program = program
        self._is_lost = is_lost
        self._open_store = open_store
        self._allowed = allowed

    def __call__(self, asked: Asks, via: str = PIPE) -> Answer:
        """The answer to a request; a refusal is recorded in the run."""
        if asked.tool in _QUESTIONS:
            return self._with_store(asked, via, NOBODY_THERE)
        answer = self._with_store(asked, via)
        needs_person = self._enforcement.needs_person(asked.tool)
        if isinstance(answer, Allow) and needs_person and asked.tool not in self._allowed:
            if via != PIPE:
                return self._with_store(asked, via, CANNOT_WAIT)
            return AskPerson(question=asked.tool, reason_class=NEEDS_PERSON)
        return answer

    def after_person(self, asked: Asks, refusal: Deny | None, via: str = PIPE) -> Allow | Deny:
        """The answer after a person's: their refusal, which is recorded, or the rule as it is now.

        While a person thought, the lease may have been lost.
        """
        return self._with_store(asked, via, refusal)

    def allow_for_run(self, tool: str) -> None:
        """Ask no person about this tool any more, as long as the run lasts."""
        self._allowed.add(tool)

    def _with_store(self, asked: Asks, via: str, refusal: Deny | None = None) -> Allow | Deny:
        try:
            with self._open_store() as store:
                return self._judge(asked, via, store, refusal)
        except StoreFailed:
            return self._judge(asked, via, None, refusal)

    def _judge(
        self, asked: Asks, via: str, store: Store | None, refusal: Deny | None
    ) -> Allow | Deny:
        """Judge with what the journal says; without it, by the worker's own clock."""
        footprint = read_footprint(
            asked.tool,
            asked.arguments,
            cwd=asked.cwd or self._tree,
            root=self._tree,
            host=self._program,
            paths=asked.paths,
            command=asked.command,
        )
        ask = Ask(
            asker=self._asker([] if store is None else store.leases()),
            tool=asked.tool,
            footprint=resolve(footprint, Path(self._tree), guarded=self._guarded),
            command=asked.command,
        )
        answer = refusal or judge(ask)
        if isinstance(answer, AskPerson):  # the rule asks only the user of a session of their own
            answer = NOBODY_THERE
        if isinstance(answer, Deny) and store is not None:
            record_answer(store, ask, answer, moment="pretool", action="DENY", via=via)
        return answer

    def _asker(self, leases: Sequence[Lease]) -> Asker:
        """The worker's own lease, as it is now, and what others hold."""
        kind = AskerKind.LOST if self._is_lost() else AskerKind.HOLDER
        neighbours = [
            Neighbour(lane=lease.lane, region=lease.region, run_id=lease.run_id)
            for lease in leases
            if not lease.is_lock and lease.fence != self._lease.fence
        ]
        return Asker(
            kind=kind,
            lane=self._lease.lane,
            region=self._region,
            fence=self._lease.fence,
            run_id=self._run_id,
            session=self._run_id,  # so that what was refused is found by the run
            neighbours=tuple(neighbours),
        )
