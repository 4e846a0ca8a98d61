"""The report as one HTML page: no script, nothing fetched, light or dark as the reader prefers.

Names and texts from units, agents and providers are escaped, and invisible characters are shown: an
agent may have written them to mislead a reader. The content security policy of the page forbids
scripts and requests, should an escape ever be missed. Each `_..._rows` function returns the entries
of one section as HTML; a section without entries is left out.
"""

from collections.abc import Iterable
from datetime import datetime
from html import escape

from dos.limits.state import costs
from dos.questions.view import QuestionRow
from dos.report.event_text import parked_for
from dos.report.html_chart import css_class, escape_text, render_chart
from dos.report.html_style import STYLE
from dos.report.session import LandingProof, LimitPeriod, Session, UnprovenClaim
from dos.report.summary import (
    ReportData,
    describe_limit,
    describe_refused,
    format_time,
    heading,
    limit_duration,
    zone_name,
)
from dos.text import escape_invisible, plural
from dos.times import format_duration
from dos.units.unit import LandingEntry

MARKER = "<!-- made by dos report: it may be replaced by another -->"
HEAD = f"<!doctype html>\n{MARKER}\n"
LONGEST_CLAIM = 4000
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_page(report: ReportData) -> str:
    """Return the whole page. It begins with HEAD, by which a later report may replace it."""
    session = report.session
    title = f"Fleet report: {escape_text(report.workspace)}"
    sections = [
        _section("people", "Needs attention", _attention_rows(report)),
        _section("timeline", "Timeline", _timeline(session)),
        _section("landed", "Landed, each with its proof", _landing_rows(report)),
        _section(
            "disbelieved",
            "Not delivered",
            [_claim_row(claim) for claim in session.disbelieved],
        ),
        _section("crashed", "Crashed or hung", _crash_rows(session)),
        _section(
            "incidents",
            "Incidents: an agent changed your branch or checkout itself",
            _incident_rows(session),
        ),
        _section(
            "refused",
            "Refused before it happened",
            [f"<p>{escape_text(describe_refused(each))}</p>" for each in session.refused],
        ),
        _section(
            "own",
            "Your own commits and edits",
            [f"<p>{escape_text(line)}</p>" for line in report.own],
        ),
        _section("waited", "Limits and waits", _wait_rows(session)),
        _section("salvaged", "Saved work that did not land", _saved_rows(session)),
        _section("costs", "Cost", _cost_rows(report)),
    ]
    return (
        f'{HEAD}<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">\n'
        f"<style>{STYLE}</style></head>\n<body><main>\n"
        f"<header><h1>{title}</h1><p>{escape_text(heading(report))}</p></header>\n"
        f"{_tiles(report)}\n{''.join(sections)}</main></body></html>\n"
    )


def _tiles(report: ReportData) -> str:
    """Return the numbers at the top; each links to its section unless it is zero."""
    session = report.session
    waited = str(len(session.limits))
    if session.waits:
        waited = format_duration(sum(wait.seconds for wait in session.waits))
    attention = len(report.questions) + len(report.unasked)
    cost_label, cost = _cost_tile(report)
    rows = [
        ("landed", "landed", str(len(session.landed)), "good"),
        ("disbelieved", "not delivered", str(len(session.disbelieved)), "warn"),
        ("crashed", "crashed or hung", str(len(session.crashed)), "bad"),
        ("waited", "waited", waited, "note"),
        ("salvaged", "saved", str(len(session.salvaged)), ""),
        ("people", "need attention", str(attention), "bad"),
        ("costs", cost_label, cost, ""),
    ]
    tiles = []
    for anchor, label, value, tone in rows:
        inside = f"<b>{escape_text(value)}</b><span>{label}</span>"
        if value == "0":
            tiles.append(f'<div class="tile nothing">{inside}</div>')
        else:
            tiles.append(f'<a class="tile {tone}" href="#{anchor}">{inside}</a>')
    return f'<nav class="tiles">{"".join(tiles)}</nav>'


def _cost_tile(report: ReportData) -> tuple[str, str]:
    """Return the label and the value of the tile of the cost."""
    spent = report.costs.total.total
    if not spent.unpriced:
        return "cost", costs.money(spent)
    if spent.known_usd:
        return "cost, partly unknown", f"${spent.known_usd:,.2f}"
    return "cost", costs.UNKNOWN


def _section(anchor: str, title: str, parts: Iterable[str]) -> str:
    """Return a section; "" where it has no content."""
    inside = "".join(parts)
    if not inside:
        return ""
    return f'<section id="{anchor}"><h2>{title}</h2>{inside}</section>\n'


def _row(tone: str, title: str, body: str, note: str = "") -> str:
    """Return one entry of a section: `title` and `body` are HTML, `note` stands at the right."""
    if note:
        title += f'<span class="when">{note}</span>'
    return f'<article class="row {tone}"><h3>{title}</h3>{body}</article>'


def _attention_rows(report: ReportData) -> list[str]:
    """Return the open questions, then what waits for a person without a question."""
    rows = []
    for question in report.questions:
        waiting = _waiting_text(question, report.session)
        body = f"<p>{waiting}</p><p>{_choices(question)}</p>"
        rows.append(_row("bad", escape_text(question.question), body))
    for wait in report.unasked:
        title = f"{escape_text(wait.subject)}: {escape_text(str(wait))}"
        rows.append(_row("bad", title, f"<p><code>{escape_text(wait.clears_with)}</code></p>"))
    return rows


def _waiting_text(question: QuestionRow, session: Session) -> str:
    """Return what waits for the answer, since when, and what happens without one."""
    since = format_time(datetime.fromisoformat(question.raised_at), session)
    text = f"Nothing waits for it; open since {since}"
    if question.waits:
        waits = escape_text(", ".join(question.waits))
        text = f"Waiting for it: {waits}, since {since}"
    if question.expires_at:
        end = format_time(datetime.fromisoformat(question.expires_at), session)
        text += f"; without an answer by {end}: {escape_text(question.otherwise)}"
    return text


def _choices(question: QuestionRow) -> str:
    """Return the command for each answer, ready to be copied."""
    commands = []
    for choice in question.choices:
        command = f"dos decide-for {escape_text(question.id)} {escape_text(choice.name)}"
        commands.append(f"<code>{command}</code>")
    return " ".join(commands)


def _timeline(session: Session) -> list[str]:
    """Return the chart, and below it the same agents as a table that can be unfolded."""
    if not session.bars:
        return []
    rows = []
    for bar in session.bars:
        cells = [
            f"<td>{format_time(bar.start, session)}</td>",
            f"<td>{escape_text(bar.lane)}</td>",
            f"<td>{escape_text(bar.unit)}</td>",
            f'<td class="how {css_class(bar.how)}">{bar.how}</td>',
            f"<td>{escape_text(bar.ending)}</td>",
            _number(format_duration(bar.seconds)),
            f"<td>{escape_text(bar.agent)}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    start = f"start ({zone_name(session)})"
    titles = (start, "lane", "unit", "outcome", "process", "duration", "agent")
    table = _table(titles, rows)
    summary = plural(len(session.bars), "agent")
    return [
        render_chart(session),
        f"<details><summary>{summary}</summary>{table}</details>",
    ]


def _table(titles: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table that scrolls sideways where it is wider than the page; `rows` are HTML."""
    head = "".join(f"<th>{escape_text(title)}</th>" for title in titles)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _number(text: str) -> str:
    """Return a cell whose text is a number or a duration, and does not wrap."""
    return f'<td class="number">{escape_text(text)}</td>'


def _landing_rows(report: ReportData) -> list[str]:
    """Return an entry for each landing; where there is none, that is said."""
    if not report.session.landed:
        return ['<p class="none">nothing has landed</p>']
    return [_landing_row(entry, report) for entry in report.session.landed]


def _landing_row(entry: LandingEntry, report: ReportData) -> str:
    """Return a landing with its commit, the verdict of `dos verify` and its receipt.

    It is shown as bad if git no longer shows the unit as shipped, for example after a revert.
    """
    landing = entry.landing
    commit = f"<code>{escape_text(landing.commit)}</code>"
    facts = [("commit", f"{commit} on <code>{escape_text(landing.branch)}</code>")]
    title = f"{escape_text(landing.unit)} "
    tone = "good"
    proof = report.proofs.get(landing.commit)
    if proof:
        if proof.answer != "SHIPPED":
            tone = "bad"
        title += f'<span class="badge">{escape_text(proof.verdict)}</span>'
        facts.append(("verify", escape_text(proof.reason)))
        facts.append(("receipt", escape_text(proof.signed)))
        if proof.command:
            command = f"<code>{escape_text(proof.command)}</code>{_exit_code(proof)}"
            facts.append(("accepted by", command))
    if entry.recognised:
        facts.append(("found", "in git, after a crash of the worker that landed it"))
    body = "".join(f"<dt>{term}</dt><dd>{fact}</dd>" for term, fact in facts)
    when = f"{escape_text(entry.lane)}, {format_time(entry.at, report.session)}"
    return _row(tone, title, f"<dl>{body}</dl>", when)


def _exit_code(proof: LandingProof) -> str:
    """Return the exit code of the acceptance command, if the receipt has one."""
    if proof.receipt is None or proof.receipt.exit_code is None:
        return ""
    return f" exit {proof.receipt.exit_code}"


def _claim_row(claim: UnprovenClaim) -> str:
    """Return what an agent claimed beside what was found, the claim with its line breaks."""
    quoted = '<p class="none">it claimed nothing</p>'
    if claim.claim:
        text = claim.claim
        if len(text) > LONGEST_CLAIM:
            text = text[:LONGEST_CLAIM] + "…"
        quoted = f"<blockquote>{escape(escape_invisible(text))}</blockquote>"
    body = (
        f'<div class="beside"><div><h4>the claim</h4>{quoted}</div>'
        f"<div><h4>the fact</h4><p>{escape_text(claim.fact)}</p></div></div>"
    )
    return _row("warn", escape_text(claim.unit), body, escape_text(claim.lane))


def _crash_rows(session: Session) -> list[str]:
    """Return an entry for each agent or worker that died, and what happened next."""
    rows = []
    for crash in session.crashed:
        then = escape_text(crash.then) or "not tried again yet"
        body = f"<p>{escape_text(crash.what)}; {then}</p>"
        when = f"{escape_text(crash.lane)}, {format_time(crash.at, session)}"
        rows.append(_row("bad", escape_text(crash.unit or crash.lane), body, when))
    return rows


def _incident_rows(session: Session) -> list[str]:
    """Return an entry for each incident, with all commits that it is about."""
    rows = []
    for incident in session.incidents:
        branch = escape_text(incident.branch)
        body = f"<p>{escape_text(incident.found)}; on {branch}, not counted as a landing</p>"
        for commit in incident.commits:
            body += f"<p><code>{escape_text(commit)}</code></p>"
        title = escape_text(incident.lane or incident.run_id)
        rows.append(_row("bad", title, body, format_time(incident.at, session)))
    return rows


def _wait_rows(session: Session) -> list[str]:
    """Return an entry for each limit of a provider, then all waits as a table."""
    parts = [_limit_row(limit, session) for limit in session.limits]
    rows = []
    for wait in session.waits:
        duration = format_duration(wait.seconds)
        if not wait.is_over:
            duration += ", still"
        cells = [
            f"<td>{format_time(wait.start, session)}</td>",
            f"<td>{escape_text(wait.lane)}</td>",
            f"<td>{escape_text(parked_for(wait.why))}</td>",
            _number(duration),
            f"<td>{escape_text(wait.detail)}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    if rows:
        start = f"start ({zone_name(session)})"
        parts.append(_table((start, "lane", "waited for", "duration", "why"), rows))
    return parts


def _limit_row(limit: LimitPeriod, session: Session) -> str:
    """Return a limit: what it was, for how long, and what the provider said."""
    body = limit_duration(limit)
    if limit.found:
        body += f"; it said <q>{escape_text(limit.found)}</q>"
    title = escape_text(describe_limit(limit))
    return _row("note", title, f"<p>{body}</p>", format_time(limit.start, session))


def _saved_rows(session: Session) -> list[str]:
    """Return an entry for each ref with work that was saved and did not land."""
    rows = []
    for saved in session.salvaged:
        commit = escape_text(saved.commit[:9])
        body = f"<p>{escape_text(saved.why)}; commit <code>{commit}</code></p>"
        title = f"<code>{escape_text(saved.ref)}</code>"
        rows.append(_row("", title, body, escape_text(saved.lane)))
    return rows


def _cost_rows(report: ReportData) -> list[str]:
    """Return the costs by unit with their total, and what is not known of them."""
    total = report.costs.total
    if not total.total.agents:
        return []
    rows = []
    for row in (*report.costs.rows, total):
        cells = [
            f"<td>{escape_text(row.name)}</td>",
            _number(str(row.landed_units)),
            _number(costs.money(row.total)),
            _number(costs.money(row.rejected)),
            _number(_tokens(row)),
            _number(format_duration(row.total.wall_seconds)),
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    titles = (
        report.costs.by,
        "landed",
        "cost",
        "for work not landed",
        "tokens",
        "agent time",
    )
    parts = [_table(titles, rows)]
    if total.total.unpriced:
        parts.append(f"<p>{costs.unknown_cost_line(total.total)}</p>")
    return parts


def _tokens(row: costs.CostRow) -> str:
    """Return the tokens, marked where some agents did not report theirs."""
    spent = row.total
    if spent.tokens is not None:
        return f"{spent.tokens:,}"
    return f"{spent.known_tokens:,} + {costs.UNKNOWN}"
