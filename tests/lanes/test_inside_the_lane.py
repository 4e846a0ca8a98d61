"""Every surface gives the same answer to whether a file is inside a lane."""

from amounts import EXAMPLES
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from worked_repository import MINUTE, Repository

from dos import globs, regions, workspace
from dos.doctor.subjects.configuration import TrackedFiles
from dos.git.repository import Writer
from dos.landing import measure, shared_tree
from dos.lanes import scope
from dos.lanes.io.gather import scope_evidence
from dos.loop.io import liveness
from dos.verify import footprint
from dos.world import World

names = st.sampled_from(
    ["api", "API", "Api.py", "a", "b", "é", "e\u0301", "x y", "*", "a[1]", "(b)", "a\\b"]
)
written = st.sampled_from(["api", "a*", "*.py", "**", "?", "[ab]", "{a,api}", "É", "[!a]*", "x y"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
lanes = st.lists(st.lists(written, min_size=1, max_size=3).map("/".join), min_size=1, max_size=2)
roots = st.sampled_from(["", "sub/", "sub/api/", "Sub Folder/", "x[1]/", "{a,b}/", "+(c)/"])


@given(lanes, paths, roots, roots)
@settings(max_examples=EXAMPLES)
def test_every_pure_surface_answers_as_the_region_does(
    lane: list[str], path: str, root: str, top: str
) -> None:
    """The folder of dos.toml and that of the file are drawn independently: they may differ."""
    region, file = regions.region(lane), f"{top}{path}"
    # Globs take letters of either case, the folder of dos.toml is named exactly.
    assume(file.startswith(root) or not file.casefold().startswith(root.casefold()))
    held = regions.lane_holds(region, file, root)

    declared = footprint.Scope(paths=tuple(f"{globs.escape_folder(root)}{glob}" for glob in lane))
    assert declared.covers(file) is held

    if file.startswith(root):
        below = file.removeprefix(root)
        judged = scope.judge(scope.evidence_from_paths("lane", [below], lane))
        assert (judged.verdict is scope.Answer.IN_SCOPE) is held
        assert TrackedFiles([below]).has_match(lane) is held
    else:
        assert not held


def test_a_lane_without_a_region_holds_nothing_and_a_backslash_is_in_no_lane() -> None:
    assert not regions.lane_holds(regions.region(()), "api/a.py")
    assert not regions.lane_holds(regions.region(["**"]), "api\\a.py")
    assert not footprint.Scope(paths=("api/**",)).covers("api\\a.py")


INSIDE = ["sub/api/a", "sub/API/b", "sub/api/e\u0301"]
OUTSIDE = ["sub/web/a", "sub/api\\a", "sub/api/x\\a", "sub/apia", "api/a", "subapi/a", " sub/api/a"]


def test_a_name_of_git_s_means_the_same_wherever_work_is_measured(tmp_path) -> None:
    repository = Repository(tmp_path)
    base = repository.commit("sub/dos.toml")
    (repository.root / "sub/dos.toml").write_text(
        '[lanes]\nconcurrent = ["api"]\n[lanes.trees]\napi = ["api/**"]\n'
    )
    lease = repository.lease("api", "api/**")
    repository.pass_time(MINUTE)
    each = [repository.commit(name) for name in (*INSIDE, *OUTSIDE)]

    folder, git = workspace.find(repository.root / "sub"), Writer(repository.root)
    assert folder.prefix == "sub/"
    assert sorted(measure.paths_outside_lane(git, base, each[-1], lease, folder.prefix)) == sorted(
        OUTSIDE
    )
    share = shared_tree.find_unit_commits(git, base, each[-1], "A/A1", lease, folder.prefix)
    assert (share.mine, share.others) == (each[: len(INSIDE)], each[len(INSIDE) :])
    assert liveness.lease_evidence(repository.journal, folder, [lease])[
        lease.fence
    ].commits_since_start == len(INSIDE)
    with World(folder.root) as world:
        seen = scope_evidence(world, lane="api", commits=(base, each[-1]))
    assert len(scope.judge(seen).refused_files) == len(OUTSIDE)
