"""The report of a fleet's time as one page: no script, nothing fetched, light or dark as its reader likes it.

Whatever units, agents and providers called themselves or said is escaped, and what would be unseen is written out.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

from msgspec import Struct, structs, to_builtins

from dos.backlog.waiting import Waiting
from dos.limits.state import costs
from dos.limits.state.costs import Costs
from dos.questions.view import QuestionRow, format_duration
from dos.report.html_chart import chart, clock, css_class, name
from dos.report.html_style import STYLE
from dos.report.proof import Proved
from dos.report.session import Disbelief, Session
from dos.report.summary import unasked
from dos.text import escape_invisible, plural
from dos.units.unit import LandingEntry

SCHEMA = "dos.report/1"
MARKER = "<!-- made by dos report: it may be replaced by another -->"
HEAD = f"<!doctype html>\n{MARKER}\n"
LONGEST_CLAIM = 4000
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Sheet(Struct, frozen=True, kw_only=True):
    """All that the report tells."""

    workspace: str
    told: Session
    proofs: dict[str, Proved]  # by commit
    questions: list[QuestionRow]
    waiting: list[Waiting] = []  # what lanes and units wait for
    costs: Costs
    own: list[str] = []  # commits and edits of the user


def data(sheet: Sheet) -> dict[str, Any]:
    landed = [_landing_data(each, sheet) for each in sheet.told.landed]
    told = to_builtins(structs.asdict(sheet.told) | {"landed": landed})
    asked = to_builtins(sheet.questions)
    waiting = to_builtins(sheet.waiting)
    spent = to_builtins(sheet.costs)
    return {
        "schema": SCHEMA,
        **told,
        "questions": asked,
        "waiting": waiting,
        "costs": spent,
        "own": sheet.own,
    }


def _landing_data(entry: LandingEntry, sheet: Sheet) -> dict[str, Any]:
    landing = entry.landing
    return {
        "at": entry.at,
        "unit": landing.unit,
        "lane": entry.lane,
        "run_id": entry.run_id,
        "commit": landing.commit,
        "branch": landing.branch,
        "claim": entry.claim,
        "recognised": entry.recognised,
        "proof": sheet.proofs.get(landing.commit),
    }


def heading(sheet: Sheet) -> str:
    """When, how long, how often it was started, how it ended."""
    told = sheet.told
    if told.since is None or told.until is None:
        return "nothing happened"
    ended = (
        f"{told.until:%H:%M:%S}"
        if told.since.date() == told.until.date()
        else f"{told.until:%Y-%m-%d %H:%M:%S}"
    )
    again = sum(bool(start.found) for start in told.starts)
    parts = [f"{told.since:%Y-%m-%d %H:%M:%S} to {ended} UTC ({format_duration(told.seconds)})"]
    parts += (
        [
            f"started again {'once' if again == 1 else f'{again} times'} after it had ended without a word"
        ]
        if again
        else []
    )
    parts.append(f"stopped: {told.ended}" if told.ended else "not stopped since")
    return "; ".join(parts)


def unseen(told: Session) -> str:
    return (
        f"what {plural(told.lost, 'agent')} cost whose end nobody saw is unknown"
        if told.lost
        else ""
    )


def page(sheet: Sheet) -> str:
    title = f"Fleet report: {name(sheet.workspace)}"
    sections = [
        _section("people", "Waiting for a person", _people(sheet)),
        _section("timeline", "Timeline", _timeline(sheet.told)),
        _section("landed", "Landed, each with its proof", _landings(sheet)),
        _section(
            "disbelieved", "Claimed, and not believed", map(_disbelief, sheet.told.disbelieved)
        ),
        _section("crashed", "Crashed, and what came of it", _crashes(sheet.told)),
        _section(
            "incidents",
            "An agent changed your branch or checkout by itself",
            _incidents(sheet.told),
        ),
        _section(
            "own", "Your own commits and edits", (f"<p>{name(line)}</p>" for line in sheet.own)
        ),
        _section("waited", "Waited", _waits(sheet.told)),
        _section("salvaged", "Saved before it was cleared away", _salvaged(sheet.told)),
        _section("costs", "What it cost", _costs(sheet)),
    ]
    return (
        f'{HEAD}<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">\n'
        f"<style>{STYLE}</style></head>\n<body><main>\n<header><h1>{title}</h1><p>{name(heading(sheet))}</p></header>\n"
        f"{_tiles(sheet)}\n{''.join(sections)}</main></body></html>\n"
    )


def _tiles(sheet: Sheet) -> str:
    told = sheet.told
    parked = sum(wait.seconds for wait in told.waits)
    waiting = len(sheet.questions) + len(unasked(sheet.waiting))
    rows = [
        ("landed", "landed", str(len(told.landed)), "good"),
        ("disbelieved", "not believed", str(len(told.disbelieved)), "warn"),
        ("crashed", "crashed", str(len(told.crashed)), "bad"),
        (
            "waited",
            "waited",
            format_duration(parked) if told.waits else str(len(told.limits)),
            "note",
        ),
        ("salvaged", "saved", str(len(told.salvaged)), ""),
        ("people", "for a person", str(waiting), "bad"),
        ("costs", *_cost(sheet), ""),
    ]
    tiles = []
    for anchor, label, value, tone in rows:
        inside = f"<b>{name(value)}</b><span>{label}</span>"
        if value == "0":
            tiles.append(f'<div class="tile nothing">{inside}</div>')
        else:
            tiles.append(f'<a class="tile {tone}" href="#{anchor}">{inside}</a>')
    return f'<nav class="tiles">{"".join(tiles)}</nav>'


def _cost(sheet: Sheet) -> tuple[str, str]:
    spent = sheet.costs.total.total
    if not (spent.unpriced or sheet.told.lost):
        return "cost", costs.money(spent)
    return (
        ("cost, and some unknown", f"${spent.known_usd:,.2f}")
        if spent.known_usd
        else ("cost", costs.UNKNOWN)
    )


def _section(anchor: str, title: str, parts: Iterable[str]) -> str:
    inside = "".join(parts)
    return f'<section id="{anchor}"><h2>{title}</h2>{inside}</section>\n' if inside else ""


def _people(sheet: Sheet) -> list[str]:
    told = [
        f'<article class="row bad"><h3>{name(asked.question)}</h3><p>{_behind(asked)}</p>'
        f"<p>{_choices(asked)}</p></article>"
        for asked in sheet.questions
    ]
    return told + [
        f'<article class="row bad"><h3>{name(each.subject)}: {name(str(each))}</h3>'
        f"<p><code>{name(each.clears_with)}</code></p></article>"
        for each in unasked(sheet.waiting)
    ]


def _behind(asked: QuestionRow) -> str:
    waits = (
        f"{name(', '.join(asked.waits))} waits for it" if asked.waits else "nothing waits for it"
    )
    then = (
        f"; at {asked.expires_at} without an answer: {name(asked.otherwise)}"
        if asked.expires_at
        else ""
    )
    return f"{waits}, since {asked.raised_at}{then}"


def _choices(asked: QuestionRow) -> str:
    return " ".join(
        f"<code>dos decide-for {name(asked.id)} {name(each.name)}</code>" for each in asked.choices
    )


def _timeline(told: Session) -> list[str]:
    if not told.bars:
        return []
    rows = "".join(
        f"<tr><td>{clock(bar.start, told)}</td><td>{name(bar.lane)}</td><td>{name(bar.unit)}</td>"
        f'<td class="how {css_class(bar.how)}">{bar.how}</td><td>{name(bar.ending)}</td>'
        f"{_number(format_duration(bar.seconds))}<td>{name(bar.agent)}</td></tr>"
        for bar in told.bars
    )
    titles = ("from (UTC)", "lane", "unit", "became", "its process", "took", "agent")
    return [
        chart(told),
        f"<details><summary>{plural(len(told.bars), 'agent')}</summary>{_table(titles, rows)}</details>",
    ]


def _table(titles: Iterable[str], rows: str) -> str:
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _number(text: str) -> str:
    return f'<td class="number">{name(text)}</td>'


def _landings(sheet: Sheet) -> list[str]:
    return [_landing(each, sheet) for each in sheet.told.landed] or [
        '<p class="none">nothing has landed</p>'
    ]


def _landing(each: LandingEntry, sheet: Sheet) -> str:
    landing = each.landing
    proof = sheet.proofs.get(landing.commit)
    facts = [
        ("commit", f"<code>{name(landing.commit)}</code> on <code>{name(landing.branch)}</code>")
    ]
    badge, tone = "", "good"
    if proof:
        tone = "good" if proof.answer == "SHIPPED" else "bad"
        badge = f'<span class="badge">{name(proof.verdict)}</span>'
        facts.append(("verify", name(proof.reason)))
        facts.append(("receipt", name(proof.signed)))
        if proof.command:
            facts.append(("accepted by", f"<code>{name(proof.command)}</code>{_exit(proof)}"))
    if each.recognised:
        facts.append(("found", "in git, after a crash: whoever landed it could not say so"))
    told = "".join(f"<dt>{term}</dt><dd>{fact}</dd>" for term, fact in facts)
    when = f'<span class="when">{name(each.lane)}, {clock(each.at, sheet.told)}</span>'
    return f'<article class="row {tone}"><h3>{name(landing.unit)} {badge}{when}</h3><dl>{told}</dl></article>'


def _exit(proof: Proved) -> str:
    return (
        f" exit {proof.receipt.exit_code}"
        if proof.receipt and proof.receipt.exit_code is not None
        else ""
    )


def _disbelief(each: Disbelief) -> str:
    said = (
        f"<blockquote>{_claim(each.claim)}</blockquote>"
        if each.claim
        else '<p class="none">it said nothing</p>'
    )
    return (
        f'<article class="row warn"><h3>{name(each.unit)}<span class="when">{name(each.lane)}</span></h3>'
        f'<div class="beside"><div><h4>the claim</h4>{said}</div>'
        f"<div><h4>the fact</h4><p>{name(each.fact)}</p></div></div></article>"
    )


def _claim(text: str) -> str:
    cut = text if len(text) <= LONGEST_CLAIM else text[:LONGEST_CLAIM] + "…"
    return escape(escape_invisible(cut))


def _crashes(told: Session) -> list[str]:
    return [
        f'<article class="row bad"><h3>{name(each.unit or each.lane)}'
        f'<span class="when">{name(each.lane)}, {clock(each.at, told)}</span></h3>'
        f"<p>{name(each.what)}; {name(each.then) or 'nobody has gone on with it'}</p></article>"
        for each in told.crashed
    ]


def _incidents(told: Session) -> list[str]:
    return [
        f'<article class="row bad"><h3>{name(each.lane or each.run_id)}'
        f'<span class="when">{clock(each.at, told)}</span></h3>'
        f"<p>{name(each.found)}; on {name(each.branch)}, and it counts as no landing</p>"
        + "".join(f"<p><code>{name(commit)}</code></p>" for commit in each.commits)
        + "</article>"
        for each in told.incidents
    ]


def _waits(told: Session) -> list[str]:
    limits = [
        f'<article class="row note"><h3>{name(f"{each.vendor} {each.model}".rstrip())}: {name(each.ending)}'
        f'<span class="when">{clock(each.start, told)}</span></h3><p>'
        + (
            f"had room again after {format_duration(each.seconds)}"
            if each.is_over
            else f"no room since {format_duration(each.seconds)}"
        )
        + (f"; it said <q>{name(each.found)}</q>" if each.found else "")
        + "</p></article>"
        for each in told.limits
    ]
    rows = "".join(
        f"<tr><td>{clock(each.start, told)}</td><td>{name(each.lane)}</td><td>{name(each.why)}</td>"
        f"{_number(format_duration(each.seconds) + ('' if each.is_over else ', still'))}<td>{name(each.detail)}</td></tr>"
        for each in told.waits
    )
    return limits + ([_table(("from (UTC)", "lane", "on", "for", "why"), rows)] if rows else [])


def _salvaged(told: Session) -> list[str]:
    return [
        f'<article class="row"><h3><code>{name(each.ref)}</code><span class="when">{name(each.lane)}</span></h3>'
        f"<p>{name(each.why)}; commit <code>{name(each.commit[:9])}</code></p></article>"
        for each in told.salvaged
    ]


def _costs(sheet: Sheet) -> list[str]:
    told = sheet.costs
    if not told.total.total.agents:
        return []
    rows = "".join(
        f"<tr><td>{name(row.name)}</td>{_number(str(row.landed_units))}{_number(costs.money(row.total))}"
        f"{_number(costs.money(row.rejected))}{_number(_tokens(row))}{_number(format_duration(row.total.wall_seconds))}</tr>"
        for row in (*told.rows, told.total)
    )
    unpriced = told.total.total.unpriced
    notes = (
        [f"the cost of {unpriced} of {told.total.total.agents} agents is unknown"]
        if unpriced
        else []
    )
    notes += [unseen(sheet.told)] if sheet.told.lost else []
    titles = (told.by, "landed", "cost", "of it for nothing", "tokens", "agent time")
    return [_table(titles, rows), *(f"<p>{note}</p>" for note in notes)]


def _tokens(row: costs.Row) -> str:
    spent = row.total
    return (
        f"{spent.tokens:,}"
        if spent.tokens is not None
        else f"{spent.known_tokens:,} + {costs.UNKNOWN}"
    )
