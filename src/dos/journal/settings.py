"""The tables [store] and [retention] of `dos.toml`: where the journal is, and how much is kept."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from dos.fields import BadValue, Table, check_text

Keep = Annotated[int, Meta(ge=-1, le=1_000_000_000)] | Literal["none"]
Days = Annotated[float, Meta(ge=-1, le=3_650)] | Literal["none"]


class Store(Table, frozen=True, kw_only=True):
    """[store]: where the journal is. Empty: SQLite under the git common directory."""

    url: str = ""
    """URL of the journal; empty: SQLite below the git common directory."""

    def __post_init__(self) -> None:
        check_text(self.url, ("url",))
        scheme, _, rest = self.url.partition(":")
        if self.url and (scheme not in ("sqlite", "postgresql", "postgres") or not rest.strip("/")):
            raise BadValue(
                ("url",),
                f"{self.url!r} is not the URL of a journal",
                "Write sqlite:PATH or postgresql://USER@HOST/DATABASE, or leave it empty.",
            )


class Retention(Table, frozen=True, kw_only=True):
    """[retention]: how much is kept: a number, or -1 or "none" for everything."""

    journal_max_entries: Keep = 5000
    """With more events than this, `dos journal prune` removes superseded ones after one day."""
    journal_max_age_days: Days = 30.0
    """Days for which `dos journal prune` keeps superseded events; 0 counts as 1."""
    runs_keep_last: Keep = 200
    """Runs of each lane whose logs are kept, with the running one; 0 and 1 count as 2."""
    verdicts_keep_last: Keep = 500
    """Verdicts kept by `dos journal prune`, beside those of one day; packets kept by `dos reap`."""
    hook_events_keep: Keep = 20_000
    """Tool calls and answers of hooks that `dos journal prune` keeps beside those of one day."""
    audits_keep_last: Keep = 200
    """Not read by this version; accepted because dos-kernel files may set it."""
    projections_compact: bool = True
    """Not read by this version; accepted because dos-kernel files may set it."""

    def __post_init__(self) -> None:
        if isinstance(self.journal_max_age_days, float) and -1 < self.journal_max_age_days < 0:
            raise BadValue(
                ("journal_max_age_days",),
                "journal_max_age_days is below 0",
                'Write "none" for no limit.',
            )

    def limit(self, key: str) -> float | None:
        """Return the number behind a key; None: no limit."""
        value = getattr(self, key)
        return None if value in ("none", -1) else value


def beyond_limit(changed: Mapping[str, float], keep: float | None) -> list[str]:
    """Return the names of all but the newest `keep`, by when each changed; None: of nothing.

    Of two that changed at once the one with the greater name is newer.
    """
    if keep is None:
        return []
    newest_first = sorted(changed, key=lambda name: (changed[name], name), reverse=True)
    return newest_first[max(0, int(keep)) :]
