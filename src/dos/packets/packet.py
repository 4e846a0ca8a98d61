"""What can be dispatched now, out of the units in scope?"""

import re
from collections.abc import Sequence

from msgspec import Struct, json, structs, to_builtins

from dos.loop.gate import DISPOSITIONS_SCHEMA, Disposition, Verdict, classify
from dos.packets.prompts import Pick
from dos.units.markdown import blocks
from dos.units.unit import PlanClaim, Unit


class UnitCandidate(Struct, frozen=True, kw_only=True):
    """A unit in scope, and what is known about it."""

    unit: Unit
    lane: str
    reserve: tuple[str, ...] = ()  # what its lane may change
    commit: str = ""  # of its landing
    taken_by: str = ""  # the run that is at it
    held: str = ""  # why it is not offered
    held_because: str = ""
    waits_for: tuple[str, ...] = ()  # names of units that have to land first
    prompt: str = ""


class Packet(Struct, frozen=True, kw_only=True):
    picks: tuple[Pick, ...]
    left: int  # that could be dispatched, and did not fit in
    candidates: tuple[UnitCandidate, ...]
    dispositions: tuple[Disposition, ...]
    verdict: Verdict


def plan(candidates: Sequence[UnitCandidate], limit: int) -> Packet:
    """The first units that can be worked on. What waits only for picks of this packet goes with them, after them."""
    picks: list[Pick] = []
    picked: set[str] = set()
    dispositions = []
    # What its plan says is done goes last: if that is true, no agent should be sent there first.
    for candidate in sorted(candidates, key=lambda each: each.unit.claimed == PlanClaim.SHIPPED):
        free = not (candidate.commit or candidate.taken_by or candidate.held)
        live = free and picked.issuperset(candidate.waits_for)
        dispositions.append(_disposition(candidate, live=live))
        if live and len(picks) < limit:
            picks.append(_pick(candidate, len(picks) + 1))
            picked.add(candidate.unit.name)
    return Packet(
        picks=tuple(picks),
        left=sum(each.live for each in dispositions) - len(picks),
        candidates=tuple(candidates),
        dispositions=tuple(dispositions),
        verdict=classify(dispositions),
    )


def _disposition(candidate: UnitCandidate, *, live: bool) -> Disposition:
    unit = candidate.unit
    made = Disposition(phase=unit.id, series=unit.plan, live=live)
    if live:
        return made
    if candidate.commit:
        stamped = unit.claimed == PlanClaim.SHIPPED
        return structs.replace(
            made,
            drop_reason="shipped",
            ship_via="direct",
            ship_sha=candidate.commit,
            plan_doc_stamped=stamped,
        )
    if candidate.taken_by:
        return structs.replace(made, drop_reason="soft_claimed", claim_tag=candidate.taken_by)
    return structs.replace(made, drop_reason=candidate.held.lower() or "dependency_unmet")


def _pick(candidate: UnitCandidate, number: int) -> Pick:
    unit = candidate.unit
    return Pick(
        n=number,
        plan_id=unit.plan,
        phase_id=unit.id,
        phase_title=unit.title,
        phase_chain=[unit.id],
        doc_path=unit.document,
        subagent_type="general-purpose",
        mode="dispatch",
        pick_kind="over-claim" if unit.claimed == PlanClaim.SHIPPED else "unit",
        files=list(unit.paths),
        gates_on=[name.rpartition("/")[2] for name in candidate.waits_for],
        reserve_paths=list(candidate.reserve),
        prompt_text=candidate.prompt,
    )


_PICK = re.compile(r"### (?P<n>\d{1,6})\. (?P<plan>\S{1,200}) (?P<phase>\S{1,200}) — ")
_TILDES = re.compile("~{3,}")


class PageHeader(Struct, frozen=True, kw_only=True):
    tag: str
    root: str
    lanes: tuple[str, ...]
    at: str
    scope: tuple[str, ...] = ()


def encode_dispositions(packet: Packet, tag: str) -> bytes:
    """The file that the gate reads."""
    data = {
        "schema": DISPOSITIONS_SCHEMA,
        "tag": tag,
        "dispositions": to_builtins(packet.dispositions),
    }
    return json.format(json.encode(data), indent=2) + b"\n"


def render_page(packet: Packet, header: PageHeader) -> str:
    scope = f"- scope: {', '.join(header.scope)}\n" if header.scope else ""
    facts = f"- root: {header.root}\n- lanes: {', '.join(header.lanes)}\n{scope}- written: {header.at}\n"
    verdict = f"- verdict: {packet.verdict.answer}: {packet.verdict.reason}\n"
    parts = [
        f"# Next up {header.tag}\n",
        facts + verdict,
        "## Portfolio\n",
        _portfolio(packet),
        "## Dispatch\n",
    ]
    parts += [_rendered_pick(pick) for pick in packet.picks]
    if not packet.picks:
        parts.append("Nothing can be dispatched.\n")
    if packet.left:
        parts.append(f"{packet.left} more did not fit in.\n")
    shipped = [candidate for candidate in packet.candidates if candidate.commit]
    if shipped:
        parts.append("## Already shipped\n")
        parts.append(
            "".join(f"- {each.unit.name}, by its landing: {each.commit}\n" for each in shipped)
        )
    return "\n".join(parts)


def _portfolio(packet: Packet) -> str:
    live = {(each.series, each.phase) for each in packet.dispositions if each.live}
    rows = ["| unit | lane | state | title |", "|---|---|---|---|"]
    for each in packet.candidates:
        state = f"live, after {', '.join(each.waits_for)}" if each.waits_for else "live"
        if (each.unit.plan, each.unit.id) not in live:
            waits = f"waits for {', '.join(each.waits_for)}" if each.waits_for else ""
            taken = f"taken by {each.taken_by}" if each.taken_by else ""
            state = (
                (f"shipped {each.commit[:9]}" if each.commit else taken)
                or each.held_because
                or waits
            )
        cells = (each.unit.name, each.lane, state, each.unit.title)
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _rendered_pick(pick: Pick) -> str:
    longest = max((len(found) for found in _TILDES.findall(pick.prompt_text)), default=2)
    fence = "~" * (longest + 1)
    after = f"After: {', '.join(pick.gates_on)}\n\n" if pick.gates_on else ""
    title = " ".join(pick.phase_title.split())
    head = f"### {pick.n}. {pick.plan_id} {pick.phase_id} — {title}"
    return f"{head}\n\n{after}{fence}text\n{pick.prompt_text.rstrip()}\n{fence}\n"


def rendered_picks(text: str) -> list[tuple[int, str, str]]:
    """The picks that a packet's page shows: number, plan and phase."""
    found = (_PICK.match(line) for line in blocks.read_text(text).visible)
    return [(int(match["n"]), match["plan"], match["phase"]) for match in found if match]
