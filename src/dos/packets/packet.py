"""What can be dispatched now, out of the units in scope?"""

from collections.abc import Sequence

from msgspec import Struct, structs

from dos.loop.gate import Disposition, Verdict, classify
from dos.packets.prompts import Pick
from dos.units.unit import Claim, Unit


class Candidate(Struct, frozen=True, kw_only=True):
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
    candidates: tuple[Candidate, ...]
    dispositions: tuple[Disposition, ...]
    verdict: Verdict


def plan(candidates: Sequence[Candidate], limit: int) -> Packet:
    """The first units that can be worked on. What waits only for picks of this packet goes with them, after them."""
    picks: list[Pick] = []
    picked: set[str] = set()
    dispositions = []
    # What its plan says is done goes last: if that is true, no agent should be sent there first.
    for candidate in sorted(candidates, key=lambda each: each.unit.claimed == Claim.SHIPPED):
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


def _disposition(candidate: Candidate, *, live: bool) -> Disposition:
    unit = candidate.unit
    made = Disposition(phase=unit.id, series=unit.plan, live=live)
    if live:
        return made
    if candidate.commit:
        stamped = unit.claimed == Claim.SHIPPED
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


def _pick(candidate: Candidate, number: int) -> Pick:
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
        pick_kind="over-claim" if unit.claimed == Claim.SHIPPED else "unit",
        files=list(unit.paths),
        gates_on=[name.rpartition("/")[2] for name in candidate.waits_for],
        reserve_paths=list(candidate.reserve),
        prompt_text=candidate.prompt,
    )
