"""What it takes to believe that a unit shipped."""

from typing import Literal

from dos.fields import Table


class Policy(Table, frozen=True, kw_only=True):
    """[verify]: how much has to stand behind a unit, and whether its checks have to be green."""

    require: Literal["named", "live", "witnessed", "attested"] = "live"
    ci: Literal["advise", "require"] = "advise"
    non_git_oracle: str = ""

    @property
    def ci_required(self) -> bool:
        return self.ci == "require"


Words = tuple[str, ...]


class Stamp(Table, frozen=True, kw_only=True):
    """[stamp]: how a commit subject says that a unit shipped."""

    style: str = "grep"
    subject_dirs: Words = ()  # one of them must stand before the series; none: any folder may
    summary_bundle_prefixes: Words = ()  # subjects that begin with one bring several units, as a release does
    bookkeeping_prefixes: Words = ()  # subjects that begin with one ship nothing
    code_dirs: Words = ()  # of the paths that a plan mentions, those below one of these count; none: all do
    infra_basenames: Words = ()  # files that a plan may mention without meaning to change them
    infra_doc_basenames: Words = ()  # and such documents
    progress_markers: Words = ()  # as the next word after the unit they say that it goes on
    sub_phase_parent_fallback: bool = False
    trailer_stamp: bool = False
