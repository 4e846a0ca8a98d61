"""A packet as a page for people: the portfolio, each pick with its prompt, what has shipped already."""

import re

from msgspec import Struct, json, to_builtins

from dos.loop.gate import DISPOSITIONS_SCHEMA
from dos.packets.packet import Packet
from dos.packets.prompts import Pick
from dos.units.markdown import lines

_PICK = re.compile(r"### (?P<n>\d{1,6})\. (?P<plan>\S{1,200}) (?P<phase>\S{1,200}) — ")
_TILDES = re.compile("~{3,}")


class Header(Struct, frozen=True, kw_only=True):
    tag: str
    root: str
    lanes: tuple[str, ...]
    at: str
    scope: tuple[str, ...] = ()


def dispositions(packet: Packet, tag: str) -> bytes:
    """The file that the gate reads."""
    data = {
        "schema": DISPOSITIONS_SCHEMA,
        "tag": tag,
        "dispositions": to_builtins(packet.dispositions),
    }
    return json.format(json.encode(data), indent=2) + b"\n"


def render(packet: Packet, header: Header) -> str:
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
    found = (_PICK.match(line) for line in lines.read(text).visible)
    return [(int(match["n"]), match["plan"], match["phase"]) for match in found if match]
