"""Check whether a unit shipped, and show the evidence.

A commit that names a unit is a claim. It counts when it changed something real, where the unit said
it would, and the change still stands at the ref. T5 and T6 need a runner or another witness.
`[verify] require` sets the tier that is required.

Verify proves that the change is there; only tests can show that it is right. With --all every unit
of the plans is checked in one read of history, and the exit code is 0 only if all of them shipped.
"""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct

from dos.errors import BadInput, DosError, WorkspaceMissing
from dos.git import log
from dos.loop import tokens
from dos.text import nearest_names, plural, printable_path, quote, suggest
from dos.units.io.documents import plan_paths
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, colour_wanted
from dos.verify.candidate import Candidate, Contradiction, Tier
from dos.verify.io import verifier
from dos.verify.shipped import SCHEMA, Answer, Verdict

if TYPE_CHECKING:
    from dos.world import World

EXITS = {
    "shipped": 0,
    "not_shipped": 1,
    "unproven": 3,
    "undone": 4,
    "cannot_tell": 5,
    "contract_error": 2,
}
# Contradictions that do not decide the verdict and are shown beside it.
ASIDE = (
    Contradiction.CONFIG_DIRTY,
    Contradiction.CONFIG_INVALID,
    Contradiction.REPLACED_OBJECT,
    Contradiction.CI_RED,
)
# What to do next, by answer.
NEXT = {
    Answer.SHIPPED: "The work is there. Only tests can show that it is right.",
    Answer.NOT_SHIPPED: "There is no evidence that it was done: keep it on the list.",
    Answer.UNPROVEN: "Do not build on it: it is claimed, and the required evidence is missing.",
    Answer.UNDONE: "It was done and later removed: find out whether that was intended.",
    Answer.CANNOT_TELL: "Ask in a full clone: git fetch --unshallow.",
}
# The whole answer as one sentence, for --output plain.
PLAIN = {
    Answer.SHIPPED: "{unit} is in the code. Whether it is correct, only tests can show.",
    Answer.NOT_SHIPPED: "There is no evidence that {unit} was done.",
    Answer.UNPROVEN: "{unit} is claimed to be done, but the commits do not show it.",
    Answer.UNDONE: "{unit} was done and has been removed again.",
    Answer.CANNOT_TELL: "This clone cannot show whether {unit} was done.",
}


RED = 31
COLOURS = {Answer.SHIPPED: 32, Answer.CANNOT_TELL: 33}


class Args(Struct, kw_only=True):
    """Which units to check, where, and what evidence to require."""

    units: Annotated[
        list[str],
        Option(
            help="plan and unit; or several such pairs",
            metavar="PLAN UNIT",
            positional=True,
            may_be_empty=True,
        ),
    ] = []
    all: Annotated[bool, Option(help="every unit that the plans declare")] = False
    ref: Annotated[str, Option(help="commit or branch to check", metavar="REF")] = "HEAD"
    merged_into: Annotated[
        str,
        Option(help="must also be merged into this branch", metavar="BRANCH"),
    ] = ""
    require: Annotated[
        str,
        Option(
            help="required tier (default: [verify] require)",
            metavar="TIER",
            choices=("named", "live", "witnessed", "attested"),
        ),
    ] = ""
    no_ci: Annotated[bool, Option(help="do not ask the configured CI")] = False
    no_index: Annotated[bool, Option(help="read the whole history instead of its index")] = False
    strict_root: Annotated[
        bool, Option(help="refuse unless the workspace is the top of its repository")
    ] = False
    legacy_exit: Annotated[bool, Option(help="exit with 1 for every answer but shipped")] = False


def run(args: Args, context: Context) -> Reply:
    """Verify the named units, or all that the plans declare at the ref.

    The exit code is the answer's; of several units it is 0 only if all shipped. dos.toml on disk is
    read leniently, because the one that is committed at the ref decides. Raises BadInput for a ref
    that names no commit, and for --all where no unit is declared: exit code 0 would look like a
    yes. Outside a repository a named unit is CANNOT_TELL.
    """
    world = context.lenient_world
    if args.all and args.units:
        raise BadInput("--all cannot be combined with named units", hint="Give one of the two.")
    units = None if args.all else _pairs(args.units, world)
    if args.strict_root and world.start != world.workspace.tree:
        raise WorkspaceMissing(
            f"{world.start} is not the top of a repository; {world.workspace.tree} is around it",
            hint=f"dos verify --workspace {world.workspace.tree} …",
        )
    ask = verifier.Ask(
        ref=args.ref,
        merged_into=args.merged_into,
        uses_index=not args.no_index,
        asks_ci=not args.no_ci,
        require=args.require,
        looks_for_importers=context.as_json or _is_one(units),
    )
    progress = _Progress(context)
    try:
        verdicts = verifier.verify(world, units, ask, progress=progress.show)
    finally:
        progress.clear()
    if not verdicts:
        raise _nothing_declared(world, args)
    short = _short_names(context, verdicts)
    if not _is_one(units):
        return _reply_to_many(verdicts, short, args)
    verdict = verdicts[0]
    note = _note(verdict)
    return Reply(
        code=_code(verdict, args),
        text="\n".join(filter(None, (line(verdict, short), note))),
        data=data(verdict, short),
        plain=" ".join(filter(None, (_plain(verdict), note))),
        next_action=_next(verdict),
    )


def _is_one(units: list[tuple[str, str]] | None) -> bool:
    """Return whether one unit is asked about by its name."""
    return units is not None and len(units) == 1


def _note(verdict: Verdict) -> str:
    """Return what is odd about the work and lowers no answer; empty if nothing is."""
    if not verdict.imported_nowhere:
        return ""
    return f"Note: no file imports the new module {printable_path(verdict.imported_nowhere)}."


def _code(verdict: Verdict, args: Args) -> int:
    """Return the exit code of one verdict; dos-kernel knows only 0 and 1."""
    if args.legacy_exit:
        return min(verdict.exit_code, 1)
    return verdict.exit_code


def _plain(verdict: Verdict) -> str:
    """Return the sentence for --output plain, with more than the answer where more is known."""
    unit = f"{verdict.plan}/{verdict.phase}"
    if verdict.answer is Answer.NOT_SHIPPED and verdict.candidates:
        return f"{unit} does not count as done: {verdict.reason}."
    if verdict.answer is Answer.UNPROVEN and verdict.tier >= Tier.LIVE:
        return f"{unit} is in the code, but the required evidence is missing."
    if verdict.shipped and verdict.tier >= Tier.WITNESSED:
        return f"{unit} is in the code, and a witness saw it work."
    return PLAIN[verdict.answer].format(unit=unit)


def _next(verdict: Verdict) -> str:
    """Return what to do next; the answer alone does not say what evidence is missing."""
    if verdict.answer is Answer.NOT_SHIPPED and not verdict.is_declared:
        return "Check the name: `dos plan --once` lists the units that the plans declare."
    if verdict.answer is Answer.NOT_SHIPPED and verdict.candidates:
        return f"Do not build on it yet: {verdict.reason}."
    if verdict.answer is Answer.UNPROVEN and verdict.tier >= Tier.LIVE:
        return "The work is there. Add evidence: `dos test-witness run`, CI or a receipt."
    if verdict.shipped and verdict.tier >= Tier.WITNESSED:
        return "Build on it: it is as right as its tests show."
    return NEXT[verdict.answer]


def _nothing_declared(world: "World", args: Args) -> DosError:
    """Return the error for --all without any unit, with what would declare one.

    The most common cause is a plan that is written and not committed: verify reads the ref only.
    """
    glob = world.config.paths.plans_glob
    ref = args.merged_into or args.ref
    if world.workspace.common is None:
        return WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository", hint="cd into a clone of it."
        )
    reason = f"no plan document at {ref} declares a unit ({glob})"
    uncommitted = len(plan_paths(world.workspace.root, glob))
    if uncommitted:
        return BadInput(
            f"{reason}; {uncommitted} on disk match it, and are not committed there",
            hint="git add -- docs && git commit",
        )
    return BadInput(reason, hint="dos verify PLAN UNIT checks one by its name")


def line(verdict: Verdict, short: dict[str, str]) -> str:
    """Return one line: `SHIPPED AUTH/AUTH1 7fe0962  a commit names it; T4 live: 12 of 12 …`.

    `short` has the abbreviated hash of each commit. What limits the answer, and what speaks against
    it without deciding it, comes last in brackets.
    """
    head = f"{_coloured(verdict.answer)} {verdict.plan}/{verdict.phase}"
    if verdict.sha:
        head += f" {short[verdict.sha]}"
    tail = ""
    if verdict.ref != "HEAD":
        tail = f" at {verdict.ref}"
    asides = [contradiction for contradiction in verdict.contradictions if contradiction in ASIDE]
    notes = [*verdict.limits, *asides]
    if notes:
        tail += f" [{', '.join(map(tokens.words, notes))}]"
    tier = _tier_name(verdict.tier)
    if verdict.answer is Answer.UNPROVEN:
        return f"{head} ({tier} only: {verdict.reason}){tail}"
    source = ""
    if verdict.shipped:
        source = f"{tokens.words(verdict.source)}; "
    if verdict.tier is Tier.ABSENT:  # the reason says that no commit names it
        return f"{head}  {verdict.reason}{tail}"
    return f"{head}  {source}T{int(verdict.tier)} {tier}: {verdict.reason}{tail}"


def _coloured(answer: Answer) -> str:
    """Return the answer in words; on a terminal that shows colours in green, yellow or red."""
    words = answer.replace("_", " ")
    if not colour_wanted():
        return words
    colour = COLOURS.get(answer, RED)
    return f"\x1b[{colour}m{words}\x1b[0m"


def data(verdict: Verdict, short: dict[str, str]) -> dict[str, Any]:
    """Return the verdict as JSON; sha, commit, summary and rung are left out if empty.

    The keys are those of the schema `dos.verify/2`, which other programs read.
    """
    required = {
        "schema": SCHEMA,
        "verdict": verdict.answer,
        "plan": verdict.plan,
        "phase": verdict.phase,
        "shipped": verdict.shipped,
        "source": verdict.source,
        "tier": f"T{int(verdict.tier)}",
        "tier_name": _tier_name(verdict.tier),
        "ref": verdict.ref,
        "reason": verdict.reason,
        "candidates": [_candidate(candidate, short) for candidate in verdict.candidates],
        "contradictions": list(verdict.contradictions),
        "undone_by": verdict.undone_by,
        "limits": list(verdict.limits),
        "expected_paths": list(verdict.expected),
    }
    optional = {
        "sha": short.get(verdict.sha, ""),
        "commit": verdict.sha,
        "summary": verdict.summary,
        "rung": verdict.rung,
        "imported_nowhere": verdict.imported_nowhere,
    }
    return required | {name: value for name, value in optional.items() if value}


def _candidate(candidate: Candidate, short: dict[str, str]) -> dict[str, Any]:
    """Return one commit that names the unit as JSON, with how far it alone proves the unit."""
    return {
        "sha": short[candidate.sha],
        "rung": candidate.rung,
        "tier": f"T{int(candidate.tier)}",
        "reasons": list(candidate.reasons),
        "contradictions": list(candidate.contradictions),
    }


def _reply_to_many(verdicts: list[Verdict], short: dict[str, str], args: Args) -> Reply:
    """Return a line for each unit and the counts by answer."""
    answers = [verdict.answer for verdict in verdicts]
    counts = {answer.lower(): answers.count(answer) for answer in Answer}
    totals = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    ref = args.merged_into or args.ref
    lines = [line(verdict, short) for verdict in verdicts]
    lines.append(f"{plural(len(verdicts), 'unit')} at {ref}: {', '.join(totals)}")
    return Reply(
        code=_code_of_many(verdicts),
        text="\n".join(lines),
        data={
            "schema": SCHEMA,
            "ref": ref,
            "verdicts": [data(verdict, short) for verdict in verdicts],
            "counts": counts,
        },
    )


def _code_of_many(verdicts: list[Verdict]) -> int:
    """Return 0 if all shipped, 5 if some cannot be told and the rest shipped, else 1."""
    codes = {verdict.exit_code for verdict in verdicts}
    if codes == {0}:
        return 0
    if codes <= {0, 5}:
        return 5
    return 1


def _pairs(words: list[str], world: "World") -> list[tuple[str, str]]:
    """Return PLAN UNIT pairs; a single PLAN/UNIT is one, too.

    Raises BadInput for anything else; for an id alone it suggests the unit of the plans.
    """
    if len(words) == 1 and words[0].count("/") == 1:
        words = words[0].split("/")
    if not words or len(words) % 2:
        given = "none is named"
        suggestion = ""
        if words:
            given = f"this is {quote(' '.join(words))}"
        if len(words) == 1:
            suggestion = _suggested_unit(words[0], world)
        raise BadInput(
            f"a unit is a plan and an id, and {given}{suggestion}",
            hint="dos verify PLAN UNIT; dos verify --all checks all units of the plans",
        )
    return list(zip(words[::2], words[1::2], strict=True))


def _suggested_unit(word: str, world: "World") -> str:
    """Return `; did you mean PLAN/UNIT?` for the unit whose id, or nearly its id, was given.

    Raises BadInput if [plans] cannot be read.
    """
    from dos.units.io import sources  # only an incomplete name needs it

    by_id: dict[str, str] = {}
    for unit in sources.read(world.workspace, world.config).units:
        by_id.setdefault(unit.id, unit.name)
    near = nearest_names(word, by_id, 1)
    if not near:
        return ""
    return f"; {suggest(by_id[near[0]])}"


def _tier_name(tier: Tier) -> str:
    """Return a tier in words, such as `in scope`."""
    return tier.name.lower().replace("_", " ")


def _short_names(context: Context, verdicts: list[Verdict]) -> dict[str, str]:
    """Return the abbreviated hash of every commit that the verdicts name."""
    commits = {verdict.sha for verdict in verdicts}
    for verdict in verdicts:
        commits.update(candidate.sha for candidate in verdict.candidates)
    return log.short_names(context.lenient_world.git, commits - {""})


class _Progress:
    """Shows on a terminal how many commits a first read of history has passed."""

    def __init__(self, context: Context) -> None:
        # Into a pipe or a file nothing is written: control characters would spoil it.
        self._on_terminal = sys.stderr.isatty() and not context.as_json
        self._is_shown = False

    def show(self, count: int) -> None:
        """Overwrite the line with the number of commits that were read."""
        if self._on_terminal:
            self._is_shown = True
            sys.stderr.write(f"\rreading history: {count:,} commits ")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line, so that the answer is printed on a clean one."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
