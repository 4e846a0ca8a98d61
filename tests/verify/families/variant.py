"""The shape of the measure: families of small histories, each with the answer that is right."""

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct


class Link(Struct, frozen=True):
    """A symbolic link."""

    target: str


class Program(Struct, frozen=True):
    """A file that may be executed."""

    text: str


class Submodule(Struct, frozen=True):
    """A commit of another repository."""

    sha: str


File = str | bytes | Link | Program | Submodule | None  # None takes the file away
Files = Mapping[str, File]

BASE: Files = {"README.md": "hello\n", "src/base.py": "base = 1\n"}
SUBJECT = "AUTH1: log in"
LOGIN = (
    "def login(user, password):\n"
    "    found = users.get(user)\n"
    "    return found is not None and found.matches(password)\n"
)


class Kind(Enum):
    """What a family holds, and so which answer is right."""

    LIE = "lie"  # not SHIPPED
    HONEST = "honest"  # SHIPPED
    TOLD = "told lie"  # SHIPPED, and a contradiction or a note says what is odd about it
    PLAIN = "plain honest"  # SHIPPED, without any contradiction or note


class Error(Enum):
    """How an answer can be wrong."""

    BELIEVED = "a lie was believed"
    DENIED = "honest work was denied"
    UNTOLD = "nothing was said against it"
    ACCUSED = "something was said against honest work"


class Change(Struct, frozen=True):
    """One commit: its message and the files that it writes."""

    message: str
    files: Files


class Variant(Struct, frozen=True, kw_only=True):
    """A history, and the unit to ask about at its end."""

    name: str
    changes: tuple[Change, ...]
    before: Files = {}  # besides BASE, in the first commit
    plan: str = "AUTH"
    unit: str = "AUTH1"
    why: str = ""  # where a reader would doubt the expectation


class Family(Struct, frozen=True):
    """Variants of one lie, or of one kind of honest work. The name is a sentence."""

    name: str
    kind: Kind
    variants: tuple[Variant, ...]

    def error(self, exit_code: int, remarks: Sequence[str]) -> Error | None:
        """What is wrong with an answer about one of the variants; None if it is right.

        `remarks` are the contradictions, and the module that nothing imports.
        """
        has_shipped = exit_code == 0
        if self.kind is Kind.LIE:
            return Error.BELIEVED if has_shipped else None
        if not has_shipped:
            return Error.DENIED
        if self.kind is Kind.TOLD and not remarks:
            return Error.UNTOLD
        if self.kind is Kind.PLAIN and remarks:
            return Error.ACCUSED
        return None


def edit(name: str, path: str, old: str, new: str, *, why: str = "") -> Variant:
    """A file that existed is changed under the unit's name."""
    return Variant(name=name, before={path: old}, changes=(Change(SUBJECT, {path: new}),), why=why)


def work(
    name: str,
    files: Files,
    *,
    before: Files | None = None,
    subject: str = SUBJECT,
    later: Files | None = None,
    why: str = "",
) -> Variant:
    """One commit under the unit's name, and perhaps a later one under no name."""
    changes = (Change(subject, files), *([Change("go on", later)] if later else []))
    return Variant(name=name, before=before or {}, changes=changes, why=why)


def worded(
    message: str,
    *,
    unit: str = "AUTH1",
    is_declared: bool = False,
    why: str = "",
) -> Variant:
    """A login written under a message; `is_declared` puts the unit and its paths into a plan."""
    plan = unit.rstrip("0123456789").rstrip("-")
    declared = {"docs/auth-plan.md": f"## {plan} {unit}: log in\n\n- paths: src/**\n"}
    return Variant(
        name=message,
        before=declared if is_declared else {},
        changes=(Change(message, {"src/login.py": LOGIN}),),
        plan=plan,
        unit=unit,
        why=why,
    )


def asked(
    name: str,
    title: str,
    path: str,
    changes: tuple[Files, ...],
    before: Files | None = None,
    *,
    why: str = "",
) -> Variant:
    """The plan asks for exactly this path; the first change is the unit's."""
    first, *later = changes
    return Variant(
        name=name,
        before={
            "docs/auth-plan.md": f"## AUTH AUTH1: {title}\n\n- paths: {path}\n",
            **(before or {}),
        },
        changes=(Change(f"AUTH1: {title}", first), *(Change("go on", files) for files in later)),
        why=why,
    )
