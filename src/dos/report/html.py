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
from dos.questions.view import QuestionRow
from dos.report.html_chart import css_class, escape_text, format_time, render_chart
from dos.report.html_style import STYLE
from dos.report.session import LandingProof, Session, UnprovenClaim
from dos.report.summary import needs_person_without_question
from dos.text import escape_invisible, plural
from dos.times import format_duration
from dos.units.unit import LandingEntry

SCHEMA = "dos.report/1"
MARKER = "<!-- made by dos report: it may be replaced by another -->"
HEAD = f"<!doctype html>\n{MARKER}\n"
LONGEST_CLAIM = 4000
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class ReportData(Struct, frozen=True, kw_only=True):
    """All that the report tells."""

    workspace: str
    session: Session
    proofs: dict[str, LandingProof]  # by commit
    questions: list[QuestionRow]
    waiting: list[Waiting] = []  # what lanes and units wait for
    costs: Costs
    own: list[str] = []  # commits and edits of the user


def to_json(sheet: ReportData) -> dict[str, Any]:
    landed = [_landing_data(each, sheet) for each in sheet.session.landed]
    told = to_builtins(structs.asdict(sheet.session) | {"landed": landed})
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


def _landing_data(entry: LandingEntry, sheet: ReportData) -> dict[str, Any]:
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


def heading(sheet: ReportData) -> str:
    """When, how long, how often it was started, how it ended."""
    told = sheet.session
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


def unknown_cost_note(told: Session) -> str:
    return (
        f"what {plural(told.lost, 'agent')} cost whose end nobody saw is unknown"
        if told.lost
        else ""
    )


def render_page(sheet: ReportData) -> str:
    title = f"Fleet report: {escape_text(sheet.workspace)}"
    sections = [
        _section("people", "Waiting for a person", _people(sheet)),
        _section("timeline", "Timeline", _timeline(sheet.session)),
        _section("landed", "Landed, each with its proof", _landings(sheet)),
        _section(
            "disbelieved", "Claimed, and not believed", map(_disbelief, sheet.session.disbelieved)
        ),
        _section("crashed", "Crashed, and what came of it", _crashes(sheet.session)),
        _section(
            "incidents",
            "An agent changed your branch or checkout by itself",
            _incidents(sheet.session),
        ),
        _section(
            "own",
            "Your own commits and edits",
            (f"<p>{escape_text(line)}</p>" for line in sheet.own),
        ),
        _section("waited", "Waited", _waits(sheet.session)),
        _section("salvaged", "Saved before it was cleared away", _salvaged(sheet.session)),
        _section("costs", "What it cost", _costs(sheet)),
    ]
    return (
        f'{HEAD}<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">\n'
        f"<style>{STYLE}</style></head>\n<body><main>\n<header><h1>{title}</h1><p>{escape_text(heading(sheet))}</p></header>\n"
        f"{_tiles(sheet)}\n{''.join(sections)}</main></body></html>\n"
    )


def _tiles(sheet: ReportData) -> str:
    told = sheet.session
    parked = sum(wait.seconds for wait in told.waits)
    waiting = len(sheet.questions) + len(needs_person_without_question(sheet.waiting))
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
        inside = f"<b>{escape_text(value)}</b><span>{label}</span>"
        if value == "0":
            tiles.append(f'<div class="tile nothing">{inside}</div>')
        else:
            tiles.append(f'<a class="tile {tone}" href="#{anchor}">{inside}</a>')
    return f'<nav class="tiles">{"".join(tiles)}</nav>'


def _cost(sheet: ReportData) -> tuple[str, str]:
    spent = sheet.costs.total.total
    if not (spent.unpriced or sheet.session.lost):
        return "cost", costs.money(spent)
    return (
        ("cost, and some unknown", f"${spent.known_usd:,.2f}")
        if spent.known_usd
        else ("cost", costs.UNKNOWN)
    )


def _section(anchor: str, title: str, parts: Iterable[str]) -> str:
    inside = "".join(parts)
    return f'<section id="{anchor}"><h2>{title}</h2>{inside}</section>\n' if inside else ""


def _people(sheet: ReportData) -> list[str]:
    told = [
        f'<article class="row bad"><h3>{escape_text(asked.question)}</h3><p>{_behind(asked)}</p>'
        f"<p>{_choices(asked)}</p></article>"
        for asked in sheet.questions
    ]
    return told + [
        f'<article class="row bad"><h3>{escape_text(each.subject)}: {escape_text(str(each))}</h3>'
        f"<p><code>{escape_text(each.clears_with)}</code></p></article>"
        for each in needs_person_without_question(sheet.waiting)
    ]


def _behind(asked: QuestionRow) -> str:
    waits = (
        f"{escape_text(', '.join(asked.waits))} waits for it"
        if asked.waits
        else "nothing waits for it"
    )
    then = (
        f"; at {asked.expires_at} without an answer: {escape_text(asked.otherwise)}"
        if asked.expires_at
        else ""
    )
    return f"{waits}, since {asked.raised_at}{then}"


def _choices(asked: QuestionRow) -> str:
    return " ".join(
        f"<code>dos decide-for {escape_text(asked.id)} {escape_text(each.name)}</code>"
        for each in asked.choices
    )


def _timeline(told: Session) -> list[str]:
    if not told.bars:
        return []
    rows = "".join(
        f"<tr><td>{format_time(bar.start, told)}</td><td>{escape_text(bar.lane)}</td><td>{escape_text(bar.unit)}</td>"
        f'<td class="how {css_class(bar.how)}">{bar.how}</td><td>{escape_text(bar.ending)}</td>'
        f"{_number(format_duration(bar.seconds))}<td>{escape_text(bar.agent)}</td></tr>"
        for bar in told.bars
    )
    titles = ("from (UTC)", "lane", "unit", "became", "its process", "took", "agent")
    return [
        render_chart(told),
        f"<details><summary>{plural(len(told.bars), 'agent')}</summary>{_table(titles, rows)}</details>",
    ]


def _table(titles: Iterable[str], rows: str) -> str:
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _number(text: str) -> str:
    return f'<td class="number">{escape_text(text)}</td>'


def _landings(sheet: ReportData) -> list[str]:
    return [_landing(each, sheet) for each in sheet.session.landed] or [
        '<p class="none">nothing has landed</p>'
    ]


def _landing(each: LandingEntry, sheet: ReportData) -> str:
    landing = each.landing
    proof = sheet.proofs.get(landing.commit)
    facts = [
        (
            "commit",
            f"<code>{escape_text(landing.commit)}</code> on <code>{escape_text(landing.branch)}</code>",
        )
    ]
    badge, tone = "", "good"
    if proof:
        tone = "good" if proof.answer == "SHIPPED" else "bad"
        badge = f'<span class="badge">{escape_text(proof.verdict)}</span>'
        facts.append(("verify", escape_text(proof.reason)))
        facts.append(("receipt", escape_text(proof.signed)))
        if proof.command:
            facts.append(
                ("accepted by", f"<code>{escape_text(proof.command)}</code>{_exit(proof)}")
            )
    if each.recognised:
        facts.append(("found", "in git, after a crash: whoever landed it could not say so"))
    told = "".join(f"<dt>{term}</dt><dd>{fact}</dd>" for term, fact in facts)
    when = (
        f'<span class="when">{escape_text(each.lane)}, {format_time(each.at, sheet.session)}</span>'
    )
    return f'<article class="row {tone}"><h3>{escape_text(landing.unit)} {badge}{when}</h3><dl>{told}</dl></article>'


def _exit(proof: LandingProof) -> str:
    return (
        f" exit {proof.receipt.exit_code}"
        if proof.receipt and proof.receipt.exit_code is not None
        else ""
    )


def _disbelief(each: UnprovenClaim) -> str:
    said = (
        f"<blockquote>{_claim(each.claim)}</blockquote>"
        if each.claim
        else '<p class="none">it said nothing</p>'
    )
    return (
        f'<article class="row warn"><h3>{escape_text(each.unit)}<span class="when">{escape_text(each.lane)}</span></h3>'
        f'<div class="beside"><div><h4>the claim</h4>{said}</div>'
        f"<div><h4>the fact</h4><p>{escape_text(each.fact)}</p></div></div></article>"
    )


def _claim(text: str) -> str:
    cut = text if len(text) <= LONGEST_CLAIM else text[:LONGEST_CLAIM] + "…"
    return escape(escape_invisible(cut))


def _crashes(told: Session) -> list[str]:
    return [
        f'<article class="row bad"><h3>{escape_text(each.unit or each.lane)}'
        f'<span class="when">{escape_text(each.lane)}, {format_time(each.at, told)}</span></h3>'
        f"<p>{escape_text(each.what)}; {escape_text(each.then) or 'nobody has gone on with it'}</p></article>"
        for each in told.crashed
    ]


def _incidents(told: Session) -> list[str]:
    return [
        f'<article class="row bad"><h3>{escape_text(each.lane or each.run_id)}'
        f'<span class="when">{format_time(each.at, told)}</span></h3>'
        f"<p>{escape_text(each.found)}; on {escape_text(each.branch)}, and it counts as no landing</p>"
        + "".join(f"<p><code>{escape_text(commit)}</code></p>" for commit in each.commits)
        + "</article>"
        for each in told.incidents
    ]


def _waits(told: Session) -> list[str]:
    limits = [
        f'<article class="row note"><h3>{escape_text(f"{each.vendor} {each.model}".rstrip())}: {escape_text(each.ending)}'
        f'<span class="when">{format_time(each.start, told)}</span></h3><p>'
        + (
            f"had room again after {format_duration(each.seconds)}"
            if each.is_over
            else f"no room since {format_duration(each.seconds)}"
        )
        + (f"; it said <q>{escape_text(each.found)}</q>" if each.found else "")
        + "</p></article>"
        for each in told.limits
    ]
    rows = "".join(
        f"<tr><td>{format_time(each.start, told)}</td><td>{escape_text(each.lane)}</td><td>{escape_text(each.why)}</td>"
        f"{_number(format_duration(each.seconds) + ('' if each.is_over else ', still'))}<td>{escape_text(each.detail)}</td></tr>"
        for each in told.waits
    )
    return limits + ([_table(("from (UTC)", "lane", "on", "for", "why"), rows)] if rows else [])


def _salvaged(told: Session) -> list[str]:
    return [
        f'<article class="row"><h3><code>{escape_text(each.ref)}</code><span class="when">{escape_text(each.lane)}</span></h3>'
        f"<p>{escape_text(each.why)}; commit <code>{escape_text(each.commit[:9])}</code></p></article>"
        for each in told.salvaged
    ]


def _costs(sheet: ReportData) -> list[str]:
    told = sheet.costs
    if not told.total.total.agents:
        return []
    rows = "".join(
        f"<tr><td>{escape_text(row.name)}</td>{_number(str(row.landed_units))}{_number(costs.money(row.total))}"
        f"{_number(costs.money(row.rejected))}{_number(_tokens(row))}{_number(format_duration(row.total.wall_seconds))}</tr>"
        for row in (*told.rows, told.total)
    )
    unpriced = told.total.total.unpriced
    notes = (
        [f"the cost of {unpriced} of {told.total.total.agents} agents is unknown"]
        if unpriced
        else []
    )
    notes += [unknown_cost_note(sheet.session)] if sheet.session.lost else []
    titles = (told.by, "landed", "cost", "of it for nothing", "tokens", "agent time")
    return [_table(titles, rows), *(f"<p>{note}</p>" for note in notes)]


def _tokens(row: costs.CostRow) -> str:
    spent = row.total
    return (
        f"{spent.tokens:,}"
        if spent.tokens is not None
        else f"{spent.known_tokens:,} + {costs.UNKNOWN}"
    )
