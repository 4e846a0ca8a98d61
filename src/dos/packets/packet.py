"""Plan a packet: the units that can be dispatched now. Render it as a page for people.

A packet is for people, and for loops outside of dos: a page, the prompts of its picks
(`sidecar.py`), and the dispositions of all units in scope, which `dos gate` reads.
"""

import re
from collections.abc import Sequence

from msgspec import Struct, json, structs, to_builtins

from dos.loop.gate import DISPOSITIONS_SCHEMA, Disposition, Verdict, classify
from dos.packets.sidecar import Pick
from dos.text import markdown_table
from dos.units.markdown import blocks
from dos.units.unit import PlanClaim, Unit


class UnitCandidate(Struct, frozen=True, kw_only=True):
    """A unit in scope, with everything that decides whether it can be dispatched."""

    unit: Unit
    lane: str
    reserve: tuple[str, ...] = ()  # the globs of its lane, or of its part of it
    commit: str = ""  # the commit of its landing
    taken_by: str = ""  # the live run that works on it
    held: str = ""  # the reason why it is not offered
    held_because: str = ""
    waits_for: tuple[str, ...] = ()  # names of units that have to land first
    prompt: str = ""


class Packet(Struct, frozen=True, kw_only=True):
    """The units to dispatch now, and why the other units in scope are not among them."""

    picks: tuple[Pick, ...]
    left: int  # units that could be dispatched, but are over the limit
    candidates: tuple[UnitCandidate, ...]
    dispositions: tuple[Disposition, ...]
    verdict: Verdict


def plan(candidates: Sequence[UnitCandidate], limit: int) -> Packet:
    """Pick the first `limit` units that can be worked on.

    A unit that waits only for picks of this packet is picked too, after them. Units beyond the
    limit are counted in `left` and stay live in the dispositions.
    """
    picks: list[Pick] = []
    picked: set[str] = set()
    dispositions = []
    live_count = 0
    # Units that the plan calls done come last: if that is true, they should cost no agent.
    for candidate in sorted(candidates, key=_is_called_done):
        is_free = not (candidate.commit or candidate.taken_by or candidate.held)
        live = is_free and picked.issuperset(candidate.waits_for)
        live_count += live
        dispositions.append(_disposition(candidate, live=live))
        if live and len(picks) < limit:
            picks.append(_pick(candidate, len(picks) + 1))
            picked.add(candidate.unit.name)
    return Packet(
        picks=tuple(picks),
        left=live_count - len(picks),
        candidates=tuple(candidates),
        dispositions=tuple(dispositions),
        verdict=classify(dispositions),
    )


def _is_called_done(candidate: UnitCandidate) -> bool:
    """Whether the plan document calls the unit done, which git does not confirm."""
    return candidate.unit.claimed == PlanClaim.SHIPPED


def _disposition(candidate: UnitCandidate, *, live: bool) -> Disposition:
    """What became of a candidate, for the gate."""
    unit = candidate.unit
    disposition = Disposition(phase=unit.id, series=unit.plan, live=live)
    if live:
        return disposition
    if candidate.commit:
        return structs.replace(
            disposition,
            drop_reason="shipped",
            ship_via="direct",
            ship_sha=candidate.commit,
            plan_doc_stamped=_is_called_done(candidate),
        )
    if candidate.taken_by:
        return structs.replace(
            disposition, drop_reason="soft_claimed", claim_tag=candidate.taken_by
        )
    return structs.replace(disposition, drop_reason=candidate.held.lower() or "dependency_unmet")


def _pick(candidate: UnitCandidate, number: int) -> Pick:
    """The pick of a candidate, with the keys that programs for dos-kernel expect.

    A unit that its plan calls done and git does not is marked, so that a person looks at it first.
    """
    unit = candidate.unit
    pick_kind = "unit"
    if _is_called_done(candidate):
        pick_kind = "over-claim"
    return Pick(
        n=number,
        plan_id=unit.plan,
        phase_id=unit.id,
        phase_title=unit.title,
        phase_chain=[unit.id],
        doc_path=unit.document,
        subagent_type="general-purpose",
        mode="dispatch",
        pick_kind=pick_kind,
        files=list(unit.paths),
        gates_on=[name.rpartition("/")[2] for name in candidate.waits_for],
        reserve_paths=list(candidate.reserve),
        prompt_text=candidate.prompt,
    )


# The heading of a pick, by which `rendered_picks` finds them again.
_PICK = re.compile(r"### (?P<n>\d{1,6})\. (?P<plan>\S{1,200}) (?P<phase>\S{1,200}) — ")
_TILDES = re.compile("~{3,}")


class PageHeader(Struct, frozen=True, kw_only=True):
    """What the head of a page says besides the packet: its tag, the workspace and the time."""

    tag: str
    root: str
    lanes: tuple[str, ...]
    at: str
    scope: tuple[str, ...] = ()


def encode_dispositions(packet: Packet, tag: str) -> bytes:
    """The dispositions file, which the gate reads: what became of every unit in scope."""
    data = {
        "schema": DISPOSITIONS_SCHEMA,
        "tag": tag,
        "dispositions": to_builtins(packet.dispositions),
    }
    return json.format(json.encode(data), indent=2) + b"\n"


def render_page(packet: Packet, header: PageHeader) -> str:
    """The packet as Markdown: the portfolio, each pick with its prompt, and what has shipped."""
    facts = [f"- root: {header.root}", f"- lanes: {', '.join(header.lanes)}"]
    if header.scope:
        facts.append(f"- scope: {', '.join(header.scope)}")
    facts.append(f"- written: {header.at}")
    facts.append(f"- verdict: {packet.verdict.answer}: {packet.verdict.reason}")
    parts = [
        f"# Next up {header.tag}\n",
        "\n".join(facts) + "\n",
        "## Portfolio\n",
        _portfolio(packet),
        "## Dispatch\n",
    ]
    parts += [_rendered_pick(pick) for pick in packet.picks]
    if not packet.picks:
        parts.append("Nothing can be dispatched.\n")
    if packet.left:
        parts.append(f"{packet.left} more can be dispatched, over the limit of this packet.\n")
    shipped = ""
    for candidate in packet.candidates:
        if candidate.commit:
            shipped += f"- {candidate.unit.name}, by its landing: {candidate.commit}\n"
    if shipped:
        parts += ["## Already shipped\n", shipped]
    return "\n".join(parts)


def _portfolio(packet: Packet) -> str:
    """A table of all candidates with their state."""
    live = set()
    for disposition in packet.dispositions:
        if disposition.live:
            live.add((disposition.series, disposition.phase))
    rows = []
    for candidate in packet.candidates:
        unit = candidate.unit
        state = _state(candidate, is_live=(unit.plan, unit.id) in live)
        rows.append((unit.name, candidate.lane, state, unit.title))
    return markdown_table(("unit", "lane", "state", "title"), rows) + "\n"


def _state(candidate: UnitCandidate, *, is_live: bool) -> str:
    """The state of a unit in the portfolio."""
    before = ", ".join(candidate.waits_for)
    if is_live and before:
        return f"live, after {before}"
    if is_live:
        return "live"
    if candidate.commit:
        return f"shipped {candidate.commit[:9]}"
    if candidate.taken_by:
        return f"taken by {candidate.taken_by}"
    if candidate.held_because:
        return candidate.held_because
    if before:
        return f"waits for {before}"
    return ""


def _rendered_pick(pick: Pick) -> str:
    """A pick with its prompt, fenced by more tildes than the prompt has in a row."""
    longest = max((len(tildes) for tildes in _TILDES.findall(pick.prompt_text)), default=2)
    fence = "~" * (longest + 1)
    title = " ".join(pick.phase_title.split())
    head = f"### {pick.n}. {pick.plan_id} {pick.phase_id} — {title}"
    after = ""
    if pick.gates_on:
        after = f"After: {', '.join(pick.gates_on)}\n\n"
    return f"{head}\n\n{after}{fence}text\n{pick.prompt_text.rstrip()}\n{fence}\n"


def rendered_picks(text: str) -> list[tuple[int, str, str]]:
    """The picks that a packet's page shows, each with its number, plan and phase.

    Headings inside of a prompt do not count: a prompt is fenced, and fenced lines are invisible.
    """
    picks = []
    for line in blocks.read_text(text).visible:
        match = _PICK.match(line)
        if match:
            picks.append((int(match["n"]), match["plan"], match["phase"]))
    return picks
