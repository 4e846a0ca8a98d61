"""The settings tables [verify] and [stamp].

Both are read from the commit that is verified, not from disk: an agent that edits dos.toml must
not be able to lower what is required of its own work.
"""

from typing import Literal

from dos.fields import Table

Words = tuple[str, ...]


class Policy(Table, frozen=True, kw_only=True):
    """[verify]: how much evidence a unit needs, and whether its CI run must be green."""

    require: Literal["named", "live", "witnessed", "attested"] = "live"
    """Least evidence for a ship: named by a commit, still there, seen to work, or attested."""
    ci: Literal["advise", "require"] = "advise"
    """`require`: the CI checks of the commit must be green too; `advise`: they need not."""
    non_git_oracle: Literal["", "ci_status"] = ""
    """`ci_status`: also ask the CI, whose green run attests a unit; empty: ask nobody."""

    @property
    def asks_ci(self) -> bool:
        """Whether the state of the CI is asked at all."""
        return bool(self.non_git_oracle) or self.ci_required

    @property
    def ci_required(self) -> bool:
        """Whether a green CI run is a condition for SHIPPED."""
        return self.ci == "require"


class Stamp(Table, frozen=True, kw_only=True):
    """[stamp]: how a commit subject says that a unit shipped."""

    style: str = "grep"
    """Name of the grammar of subjects; `dos doctor` shows it, and it has no other effect."""
    subject_dirs: Words = ()
    """Folders, one of which must precede a unit that begins a subject; empty: any or none."""
    summary_bundle_prefixes: Words = ()
    """Prefixes of subjects that may name units anywhere, also in the body, as a release does."""
    bookkeeping_prefixes: Words = ()
    """Prefixes of subjects that never ship a unit."""
    code_dirs: Words = ()
    """Top-level folders whose files count where a unit's text mentions them; empty: all."""
    infra_basenames: Words = ()
    """Names of files that do not count where a unit's text mentions them."""
    infra_doc_basenames: Words = ()
    """Names of documents that do not count where a unit's text mentions them."""
    progress_markers: Words = ()
    """Words directly after the unit by which a subject says that it is not done yet."""
    sub_phase_parent_fallback: bool = False
    """Let a subject that begins with `PLAN 3` and mentions `retry` ship the unit `3-retry`."""
    trailer_stamp: bool = False
    """Let `(PLAN UNIT)` at the end of a subject count even if no declared path backs it."""
