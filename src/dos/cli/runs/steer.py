"""Tell a running agent something while it works.

An agent that takes messages while it works gets it within seconds. Otherwise, and when the agent
or its worker ends before, the next agent on the lane gets it with its prompt. No agent is told it
twice. This waits for a few seconds and says which it was. The message changes neither the paths
that the agent may change nor how its work is judged.
"""

from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct

from dos.cli.runs import halt, lookup
from dos.errors import BadInput
from dos.journal import fold, streams
from dos.journal.events.doors import RunSteered, SteerDelivered
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.lease import Lease
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

if TYPE_CHECKING:
    from dos.fleet.state.fleet import FleetState

ID_BYTES = 4
EXITS = {"steered": 0, "not-running": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """The run, and what its agent should know."""

    run: Annotated[str, Option(help="run to steer, or its lane", positional=True, metavar="RUN")]
    message: Annotated[
        str, Option(help="what its agent should know", positional=True, metavar="MESSAGE")
    ]
    timeout: Annotated[
        float,
        Option(help="how long to wait until an agent is told; 0 only records", metavar="SECONDS"),
    ] = 5.0


def run(args: Args, context: Context) -> Reply:
    """Record the message in the stream of the run, whose worker passes it on."""
    from dos.fleet.state.fleet import FleetState

    if args.timeout < 0:
        raise BadInput(
            "--timeout cannot be below 0", hint="For example: --timeout 60; 0 only records."
        )
    message = _validated_message(args.message)
    reading = context.journal_world.journal
    run_id = lookup.named_run_id(reading, args.run)
    lease = halt.live_lease(reading, run_id)
    if lease is None:
        return _not_running(args.run, run_id)
    fleet, _ = fold.current(reading, FleetState)
    steered = _steered(fleet, lease, message)
    _check_room(reading, steered.lane)
    journal = context.journal
    journal.record(streams.run(run_id), steered, key=f"steered/{steered.id}")
    told = _wait_for_delivery(journal, steered, args.timeout)
    return _reply(steered, told)


def _validated_message(message: str) -> str:
    """Return the message. Raises BadInput for one that is blank, too long or not printable."""
    from dos.fleet.state.steering import LONGEST_MESSAGE

    message = message.strip()
    if not message:
        raise BadInput("the message is empty", hint='For example: dos steer api "Keep it simple."')
    if len(message) > LONGEST_MESSAGE:
        raise BadInput(
            f"the message has {len(message)} characters, and at most {LONGEST_MESSAGE} are allowed",
            hint="Commit the text to the repository, and tell the agent where to read it.",
        )
    for character in message:
        if not character.isprintable() and character not in "\n\t":
            raise BadInput(
                f"the message has the character {character!a}, which cannot be printed",
                hint="Remove it.",
            )
    return message


def _check_room(journal: Store, lane: str) -> None:
    """Raise BadInput when too many messages wait for an agent of the lane already."""
    from dos.fleet.state.steering import MOST_PENDING, Steering

    waiting = fold.current(journal, Steering)[0].of_lane(lane)
    if len(waiting) >= MOST_PENDING:
        raise BadInput(
            f"{len(waiting)} messages wait for an agent of lane {lane} already",
            hint="`dos timeline` shows them; the next agent on the lane is told all of them.",
        )


def _steered(fleet: "FleetState", lease: Lease, message: str) -> RunSteered:
    """The event; the run's own lane counts, also while it holds the plans besides."""
    run = fleet.runs.get(lease.run_id)
    return RunSteered(
        run_id=lease.run_id,
        lane=run.lane if run and run.lane else lease.lane,
        id=token_hex(ID_BYTES),
        message=message,
        unit=run.unit if run else "",
        by=actor(),
    )


def _not_running(name: str, run_id: str) -> Reply:
    """Reply for a run that holds no live lease; nothing is recorded."""
    return Reply(
        code=1,
        text=f"{name} has no worker now, so there is no agent to tell; nothing was recorded",
        data={"run_id": run_id, "lane": "", "id": "", "steered": False, "delivered": False},
        next_action="`dos top` shows the lanes at work; edit the plan to say it to later agents.",
    )


def _wait_for_delivery(
    journal: Store, steered: RunSteered, seconds: float
) -> SteerDelivered | None:
    """Wait until an agent is told the message; None: that took too long."""

    def delivered() -> SteerDelivered | None:
        for _, fact in select(journal.load(streams.run(steered.run_id)), SteerDelivered):
            if fact.id == steered.id:
                return fact
        return None

    for _ in halt.wait_until(lambda: delivered() is not None, journal, seconds):
        pass
    return delivered()


def _reply(steered: RunSteered, told: SteerDelivered | None) -> Reply:
    data: dict[str, Any] = {
        "run_id": steered.run_id,
        "lane": steered.lane,
        "id": steered.id,
        "steered": True,
        "delivered": told is not None,
    }
    if told is None:
        text = (
            f"Recorded. The agent on lane {steered.lane} takes no message now: it is told as soon"
            " as it does, and else the next agent there, with its prompt"
        )
    elif told.in_prompt:
        text = f"Agent {told.agent} on lane {steered.lane} was told it with its prompt"
    else:
        text = f"Agent {told.agent} on lane {steered.lane} was told it"
    return Reply(text=text, data=data, next_action=f"dos logs {steered.lane}")
