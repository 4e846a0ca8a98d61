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
from dos.text import quote
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
# What is no part of the reason, and should be known all the same.
ASIDE = (Contradiction.CONFIG_DIRTY, Contradiction.REPLACED_OBJECT, Contradiction.CI_RED)
NEXT = {
    Answer.SHIPPED: "The work is there. That it is right is for tests to show.",
    Answer.NOT_SHIPPED: "Nothing shows that it was done: keep it on the list.",
    Answer.UNPROVEN: "Do not build on it: it is said to be done, and nothing that is required stands behind that.",
    Answer.UNDONE: "It was done and is not there any more: find out whether that was meant.",
    Answer.CANNOT_TELL: "Ask where the whole history is: git fetch --unshallow, or a full clone.",
}
PLAIN = {
    Answer.SHIPPED: "{unit} is in the code. That says that the work is there, not that it is correct.",
    Answer.NOT_SHIPPED: "Nothing shows that {unit} was done.",
    Answer.UNPROVEN: "Somebody says that {unit} is done, but what they committed does not show it.",
    Answer.UNDONE: "{unit} was done and has been taken out again.",
    Answer.CANNOT_TELL: "From here nobody can tell whether {unit} was done.",
}


class Args(Struct, kw_only=True):
    units: Annotated[
        list[str],
        Option(
            help="the plan and the unit; or several such pairs",
            metavar="PLAN UNIT",
            positional=True,
            may_be_empty=True,
        ),
    ] = []
    all: Annotated[bool, Option(help="every unit that the plans declare")] = False
    ref: Annotated[str, Option(help="where to look", metavar="REF")] = "HEAD"
    merged_into: Annotated[
        str,
        Option(help="it also has to be in this branch, which keeps the policy", metavar="BRANCH"),
    ] = ""
    require: Annotated[
        str,
        Option(
            help="instead of [verify] require",
            metavar="TIER",
            choices=("named", "live", "witnessed", "attested"),
        ),
    ] = ""
    no_ci: Annotated[bool, Option(help="do not ask the configured CI")] = False
    no_index: Annotated[bool, Option(help="walk the whole history instead of using its index")] = (
        False
    )
    strict_root: Annotated[
        bool, Option(help="refuse to answer from a repository around the workspace")
    ] = False
    legacy_exit: Annotated[bool, Option(help="exit with 1 for whatever is not shipped")] = False


def run(args: Args, context: Context) -> Reply:
    world = context.lenient_world
    if args.all and args.units:
        raise BadInput(
            "--all asks about every unit, and some are named beside it", hint="Give one of the two."
        )
    units = None if args.all else _pairs(args.units)
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
    )
    progress = _Progress(context)
    try:
        verdicts = verifier.verify(world, units, ask, progress=progress.tell)
    finally:
        progress.clear()
    if not verdicts:
        raise _nothing_declared(world, args)
    short = _abbreviated(context, verdicts)
    if units is None or len(units) > 1:
        return _many(verdicts, short, args)
    verdict = verdicts[0]
    return Reply(
        code=_code(verdict, args),
        text=line(verdict, short),
        data=data(verdict, short),
        plain=_plain(verdict),
        next_action=_next(verdict),
    )


def _code(verdict: Verdict, args: Args) -> int:
    return min(verdict.exit_code, 1) if args.legacy_exit else verdict.exit_code


def _plain(verdict: Verdict) -> str:
    unit = f"{verdict.plan} {verdict.phase}"
    if verdict.answer is Answer.NOT_SHIPPED and verdict.candidates:
        return f"{unit} does not count as done: {verdict.reason}."
    if verdict.answer is Answer.UNPROVEN and verdict.tier >= Tier.LIVE:
        return f"{unit} is in the code, but less vouches for it than is required."
    if verdict.shipped and verdict.tier >= Tier.WITNESSED:
        return f"{unit} is in the code, and somebody saw it work."
    return PLAIN[verdict.answer].format(unit=unit)


def _next(verdict: Verdict) -> str:
    if verdict.answer is Answer.NOT_SHIPPED and verdict.candidates:
        return f"Do not build on it yet: {verdict.reason}."
    if verdict.answer is Answer.UNPROVEN and verdict.tier >= Tier.LIVE:
        return "The work is there. Let a runner or somebody else vouch for it: `dos test-witness run`, CI, a receipt."
    if verdict.shipped and verdict.tier >= Tier.WITNESSED:
        return "Build on it: it is as right as what was run shows."
    return NEXT[verdict.answer]


def _nothing_declared(world: "World", args: Args) -> DosError:
    """A question about all units that finds none must not look like a yes."""
    glob, ref = world.config.paths.plans_glob, args.merged_into or args.ref
    if world.workspace.common is None:
        return WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository", hint="cd into a clone of it."
        )
    there = len(plan_paths(world.workspace.root, glob))
    beside = f"; {there} on disk match it, and are not committed there" if there else ""
    return BadInput(
        f"no plan document at {ref} declares a unit ({glob}){beside}",
        hint="git add -- docs && git commit"
        if there
        else "dos verify PLAN UNIT asks about one by its name",
    )


def line(verdict: Verdict, short: dict[str, str]) -> str:
    """`SHIPPED AUTH AUTH1 7fe0962  a commit names it; T4 live: 12 of 12 lines stand`"""
    sha = f" {short[verdict.sha]}" if verdict.sha else ""
    head = f"{_tinted(verdict.answer)} {verdict.plan} {verdict.phase}{sha}"
    where = f" at {verdict.ref}" if verdict.ref != "HEAD" else ""
    notes = [*verdict.limits, *(each for each in verdict.contradictions if each in ASIDE)]
    beside = f" [{', '.join(map(tokens.words, notes))}]" if notes else ""
    if verdict.answer is Answer.UNPROVEN:
        return f"{head} ({_word(verdict.tier)} only: {verdict.reason}){where}{beside}"
    shown_by = f"{tokens.words(verdict.source)}; " if verdict.shipped else ""
    return f"{head}  {shown_by}T{int(verdict.tier)} {_word(verdict.tier)}: {verdict.reason}{where}{beside}"


def _tinted(answer: Answer) -> str:
    if not colour_wanted():
        return answer
    return f"\x1b[{32 if answer is Answer.SHIPPED else 33 if answer is Answer.CANNOT_TELL else 31}m{answer}\x1b[0m"


def data(verdict: Verdict, short: dict[str, str]) -> dict[str, Any]:
    found = {
        "schema": SCHEMA,
        "verdict": verdict.answer,
        "plan": verdict.plan,
        "phase": verdict.phase,
        "shipped": verdict.shipped,
        "source": verdict.source,
        "tier": f"T{int(verdict.tier)}",
        "tier_name": _word(verdict.tier),
        "ref": verdict.ref,
        "reason": verdict.reason,
        "candidates": [_candidate(each, short) for each in verdict.candidates],
        "contradictions": list(verdict.contradictions),
        "undone_by": verdict.undone_by,
        "limits": list(verdict.limits),
        "expected_paths": list(verdict.expected),
    }
    named = {
        "sha": short.get(verdict.sha, ""),
        "commit": verdict.sha,
        "summary": verdict.summary,
        "rung": verdict.rung,
    }
    return found | {name: value for name, value in named.items() if value}


def _candidate(each: Candidate, short: dict[str, str]) -> dict[str, Any]:
    return {
        "sha": short[each.sha],
        "rung": each.rung,
        "tier": f"T{int(each.tier)}",
        "reasons": list(each.reasons),
        "contradictions": list(each.contradictions),
    }


def _many(verdicts: list[Verdict], short: dict[str, str], args: Args) -> Reply:
    counts = {answer.lower(): sum(each.answer is answer for each in verdicts) for answer in Answer}
    said = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    ref = args.merged_into or args.ref
    noun = "unit" if len(verdicts) == 1 else "units"
    return Reply(
        code=_code_of_many(verdicts),
        text="\n".join(
            [*(line(each, short) for each in verdicts), f"{len(verdicts)} {noun} at {ref}: {said}"]
        ),
        data={
            "schema": SCHEMA,
            "ref": ref,
            "verdicts": [data(each, short) for each in verdicts],
            "counts": counts,
        },
    )


def _code_of_many(verdicts: list[Verdict]) -> int:
    """0 when all shipped; 5 when that is not known of some, and no other speaks against it."""
    codes = {each.exit_code for each in verdicts}
    return 0 if codes == {0} else 5 if codes <= {0, 5} else 1


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    if len(words) == 1 and words[0].count("/") == 1:
        words = words[0].split("/")
    if not words or len(words) % 2:
        found = f"what was given is {quote(' '.join(words))}" if words else "none is named"
        raise BadInput(
            f"a unit is a plan and an id, and {found}",
            hint="dos verify PLAN UNIT; dos verify --all asks about all that the plans declare",
        )
    return list(zip(words[::2], words[1::2], strict=True))


def _word(tier: Tier) -> str:
    return tier.name.lower().replace("_", " ")


def _abbreviated(context: Context, verdicts: list[Verdict]) -> dict[str, str]:
    named = {each.sha for verdict in verdicts for each in verdict.candidates} | {
        each.sha for each in verdicts
    }
    return log.short_names(context.lenient_world.git, named - {""})


class _Progress:
    """How far a first reading is, for whoever waits for it."""

    def __init__(self, context: Context) -> None:
        self._shows = sys.stderr.isatty() and not context.as_json
        self._said = False

    def tell(self, count: int) -> None:
        if self._shows:
            self._said = True
            sys.stderr.write(f"\rreading history: {count:,} commits ")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._said:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
