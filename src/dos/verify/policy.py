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
    """Evidence that a unit needs to count as shipped."""
    ci: Literal["advise", "require"] = "advise"
    """`require`: the CI run of the commit must be green too."""
    non_git_oracle: str = ""
    """Evidence besides git that is asked for: `ci_status`; empty: none."""

    @property
    def ci_required(self) -> bool:
        """Whether a green CI run is a condition for SHIPPED."""
        return self.ci == "require"


class Stamp(Table, frozen=True, kw_only=True):
    """[stamp]: how a commit subject says that a unit shipped."""

    style: str = "grep"
    """Grammar of commit subjects; `grep` finds the unit's name anywhere in the subject."""
    subject_dirs: Words = ()
    """Folders that may stand before the series in a subject; empty: any."""
    summary_bundle_prefixes: Words = ()
    """Prefixes of subjects that ship several units, such as a release."""
    bookkeeping_prefixes: Words = ()
    """Prefixes of subjects that ship nothing."""
    code_dirs: Words = ()
    """Folders whose paths count among those that a plan mentions; empty: all."""
    infra_basenames: Words = ()
    """Files that a plan may mention without meaning to change them."""
    infra_doc_basenames: Words = ()
    """Documents that a plan may mention without meaning to change them."""
    progress_markers: Words = ()
    """Words after the unit that say that its work continues."""
    sub_phase_parent_fallback: bool = False
    """Let a commit that names a phase ship its sub-phases too."""
    trailer_stamp: bool = False
    """Also read `(PLAN UNIT)` at the end of a subject."""
