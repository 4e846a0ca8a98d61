"""Did a unit ship, and how do we know?

A commit that names a unit is a claim. It counts when it changed something real, where the unit said it would, and
that still stands at the ref. T5 and T6 are for what a runner or somebody else saw. `[verify] require` says how much
it takes.

What stands is there; whether it is right, only tests can say. With --all every unit that the plans declare is asked
about in one read of history, and the exit code is 0 only if all of them shipped.
"""

import sys
from typing import Annotated, Any

from msgspec import Struct

from dos.errors import BadInput, WorkspaceMissing
from dos.evidence.work import shipped as evidence
from dos.records.names import shown
from dos.sources.history import log
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.verdicts.work.shipped import SCHEMA, Answer, Candidate, Tier, Verdict

EXITS = {
    "shipped": 0,
    "not_shipped": 1,
    "unproven": 3,
    "undone": 4,
    "cannot_tell": 5,
    "contract_error": 2,
}
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
            help="the plan and the unit; or several such pairs", metavar="PLAN UNIT", positional=True, may_be_empty=True
        ),
    ] = []
    all: Annotated[bool, Option(help="every unit that the plans declare")] = False
    ref: Annotated[str, Option(help="where to look", metavar="REF")] = "HEAD"
    merged_into: Annotated[
        str, Option(help="it also has to be in this branch, which keeps the policy", metavar="BRANCH")
    ] = ""
    require: Annotated[
        str,
        Option(help="instead of [verify] require", metavar="TIER", choices=("named", "live", "witnessed", "attested")),
    ] = ""
    no_ci: Annotated[bool, Option(help="do not ask the configured CI")] = False
    no_index: Annotated[bool, Option(help="walk the whole history instead of using its index")] = False
    strict_root: Annotated[bool, Option(help="refuse to answer from a repository around the workspace")] = False
    legacy_exit: Annotated[bool, Option(help="exit with 1 for whatever is not shipped")] = False


def run(args: Args, desk: Desk) -> Reply:
    world = desk.forgiving_world
    units = None if args.all else _pairs(args.units)
    if args.strict_root and world.start != world.workspace.tree:
        raise WorkspaceMissing(
            f"{world.start} is not the top of a repository; {world.workspace.tree} is around it",
            hint=f"dos verify --workspace {world.workspace.tree} …",
        )
    ask = evidence.Ask(
        ref=args.ref,
        merged_into=args.merged_into,
        uses_index=not args.no_index,
        asks_ci=not args.no_ci,
        require=args.require,
    )
    verdicts = evidence.verify(world, units, ask, progress=_progress(desk))
    short = _abbreviated(desk, verdicts)
    if units is None or len(units) > 1:
        return _many(verdicts, short, args)
    verdict = verdicts[0]
    code = verdict.exit_code if not args.legacy_exit else min(verdict.exit_code, 1)
    return Reply(
        code=code,
        text=line(verdict, short),
        data=data(verdict, short),
        plain=PLAIN[verdict.answer].format(unit=f"{verdict.plan} {verdict.phase}"),
        next_action=NEXT[verdict.answer],
    )


def line(verdict: Verdict, short: dict[str, str]) -> str:
    """`SHIPPED AUTH AUTH1 7fe0962 (via grep-subject)  T4 live: 12 of 12 lines stand`"""
    sha = f" {short[verdict.sha]}" if verdict.sha else ""
    head = f"{verdict.answer} {verdict.plan} {verdict.phase}{sha}"
    if verdict.answer is Answer.UNPROVEN:
        return f"{head} ({_word(verdict.tier)} only: {verdict.reason})"
    via = f" (via {verdict.source})"
    limits = f" [{', '.join(verdict.limits)}]" if verdict.limits else ""
    return f"{head}{via}  T{int(verdict.tier)} {_word(verdict.tier)}: {verdict.reason}{limits}"


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
    named = {"sha": short.get(verdict.sha, ""), "commit": verdict.sha, "summary": verdict.summary, "rung": verdict.rung}
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
    return Reply(
        code=0 if all(each.shipped for each in verdicts) else 1,
        text="\n".join(
            [*(line(each, short) for each in verdicts), f"{len(verdicts)} units at {ref}: {said or 'none'}"]
        ),
        data={"schema": SCHEMA, "ref": ref, "verdicts": [data(each, short) for each in verdicts], "counts": counts},
    )


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    if len(words) == 1 and words[0].count("/") == 1:
        words = words[0].split("/")
    if not words or len(words) % 2:
        found = f"{len(words)} words" if words else "nothing"
        raise BadInput(
            f"a unit is a plan and an id, and there is {found}: {shown(' '.join(words))}",
            hint="dos verify PLAN UNIT; dos verify --all asks about all that the plans declare",
        )
    return list(zip(words[::2], words[1::2], strict=True))


def _word(tier: Tier) -> str:
    return tier.name.lower().replace("_", " ")


def _abbreviated(desk: Desk, verdicts: list[Verdict]) -> dict[str, str]:
    named = {each.sha for verdict in verdicts for each in verdict.candidates} | {each.sha for each in verdicts}
    return log.abbreviated(desk.forgiving_world.git, named - {""})


def _progress(desk: Desk) -> Any:
    """How far a first reading is, for whoever waits for it."""
    if desk.as_json or not sys.stderr.isatty():
        return None
    return lambda count: sys.stderr.write(f"\rreading history: {count:,} commits ")
