"""The settings tables [verify] and [stamp]."""

from typing import Literal

from dos.fields import Table

Words = tuple[str, ...]


class Policy(Table, frozen=True, kw_only=True):
    """[verify]: how much evidence a unit needs, and whether its CI run must be green."""

    require: Literal["named", "live", "witnessed", "attested"] = "live"
    ci: Literal["advise", "require"] = "advise"
    non_git_oracle: str = ""

    @property
    def ci_required(self) -> bool:
        return self.ci == "require"


class Stamp(Table, frozen=True, kw_only=True):
    """[stamp]: how a commit subject says that a unit shipped."""

    style: str = "grep"
    subject_dirs: Words = ()  # one of these must stand before the series; empty: any folder may
    summary_bundle_prefixes: Words = ()  # subjects that begin so ship several units, as a release
    bookkeeping_prefixes: Words = ()  # subjects that begin so ship nothing
    code_dirs: Words = ()  # only paths below these count among those a plan mentions; empty: all
    infra_basenames: Words = ()  # files that a plan may mention without meaning to change them
    infra_doc_basenames: Words = ()  # documents of the same kind
    progress_markers: Words = ()  # as the word after the unit they say that work continues
    sub_phase_parent_fallback: bool = False
    trailer_stamp: bool = False
