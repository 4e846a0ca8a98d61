"""The block of AGENTS.md that tells agents how to work in a repository that `dos` looks after."""

from dos.errors import BadInput
from dos.verbs.listing.table import VERBS

FILE_NAME = "AGENTS.md"
BEGIN = "<!-- dos:begin: written by `dos init --agents-md`; text up to dos:end is replaced -->"
END = "<!-- dos:end -->"
_BEGINNING = "<!-- dos:begin"  # how the first line starts in every version
# What an agent may need, with an example. The help line comes from the table of verbs.
_EXAMPLES = {
    "packet": "dos packet --scope LANE",
    "verify": "dos verify PLAN UNIT",
    "scope-gate": "dos scope-gate --lane LANE --staged",
    "lease-lane live": "dos lease-lane live",
    "commit-audit": "dos commit-audit HEAD",
    "decisions add": "dos decisions add --kind KIND --lane LANE --text TEXT",
    "why": "dos why RUN",
}
_TEXT = """\
## Several agents work here

`dos` keeps them apart and checks their work by git. What you say is done counts when git shows it.

- The repository is divided into lanes (`[lanes]` in dos.toml). Change only files of your lane.
- One commit is for one unit of a plan. Its message ends with a paragraph of one line:
  `Unit: PLAN/UNIT`.
- Do not remove, loosen or skip tests, and do not edit dos.toml or plans to get work accepted.
- If a command exits with 77, a person has to run it. Do not look for a way around it.

| to | run |
|---|---|
"""


def block() -> str:
    """Return the block with its marks."""
    rows = [f"| {VERBS[name].summary} | `{example}` |" for name, example in _EXAMPLES.items()]
    body = _TEXT + "\n".join(rows)
    return f"{BEGIN}\n{body}\n{END}\n"


def with_block(text: str) -> str:
    """Return the document with the block in the place of the old one, or at its end.

    Everything outside of the marks stays. Raises BadInput where one mark is missing or doubled.
    """
    begins = text.count(_BEGINNING)
    ends = text.count(END)
    if begins == 0 and ends == 0:
        gap = ""
        if text:
            gap = "\n" if text.endswith("\n") else "\n\n"
        return text + gap + block()
    start = text.find(_BEGINNING)
    stop = text.find(END)
    if begins != 1 or ends != 1 or stop < start:
        raise BadInput(
            f"{FILE_NAME} has {begins} lines `{_BEGINNING}` and {ends} lines `{END}`",
            hint="Remove these lines, and run it again: dos init --agents-md",
        )
    rest = text[stop + len(END) :]
    return text[:start] + block() + rest.removeprefix("\n")
