"""Plan starts and reaps from JSON lines of evidence on stdin.

Each line of stdin is an object with an `evidence` and optionally a `policy`; each line of the
answer is a plan. Nothing else is read. The fields are those of dos.population and of [supervise] in
dos.toml.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.streams import answer_lines
from dos.errors import BadInput
from dos.fleet.population.supervise import supervise
from dos.fleet.population.types import Supervise, SuperviseEvidence
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The form of the input; there is one so far."""

    batch: Annotated[
        bool, Option(help='read {"evidence":…,"policy":…} lines, write one plan a line')
    ] = False


class Tick(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of stdin."""

    evidence: SuperviseEvidence
    policy: Supervise = Supervise()


def run(args: Args, _context: Context) -> Reply:
    """Answer each line of stdin with a plan; no workspace and no journal is read."""
    if not args.batch:
        raise BadInput(
            "--batch is missing: the evidence comes as JSON lines on stdin",
            hint="Add --batch, or use `dos loop`, which gathers the evidence itself.",
        )
    return answer_lines(Tick, _plan)


def _plan(tick: Tick) -> object:
    """Return the plan for the evidence of one line."""
    return supervise(tick.evidence, tick.policy.policy())
