"""A unit of work, as a plan document states it."""

from msgspec import Struct


class Unit(Struct, frozen=True, kw_only=True):
    plan: str
    id: str
    title: str
    text: str = ""
    lane: str = ""
    paths: tuple[str, ...] = ()
    acceptance: str = ""
    document: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        return f"{self.plan}/{self.id}"
