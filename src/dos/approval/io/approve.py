"""Approve plans and settings: by `dos up`, by a verb that edits them, by installing a service.

A service that the system starts approves nothing: it uses what was approved before.
"""

from collections.abc import Callable
from hashlib import sha256

from dos.approval.io import checkout, texts
from dos.approval.io.documents import PlanTexts, SettingsText
from dos.config.load import FILE_NAME, LoadedConfig, load, parse
from dos.config.schema import Config
from dos.doctor.subjects import plans
from dos.errors import BadInput
from dos.git.repository import Writer
from dos.journal import fold, streams
from dos.journal.backends.open import embedded_path
from dos.journal.events.limits import SettingsApproved
from dos.journal.store import Store
from dos.landing.target import open_target
from dos.questions.state import Decisions
from dos.workspace import Workspace
from dos.world import World, open_journal

OTHER_CHANGES = (
    "has other changes that nobody approved, so workers do not use this one yet. Show them:"
    " git diff -- dos.toml. Then approve the file: answer `use` in `dos decisions`, or commit it"
)
OTHER_JOURNAL = (
    "names another journal now. The running fleet keeps its journal. To change over: `dos down`,"
    " then `dos up`"
)


def approve(workspace: Workspace, loaded: LoadedConfig, store: Store, *, by: str) -> None:
    """Record that a person approves these settings, and the plans that are on disk now."""
    git = Writer(workspace.root)
    config = loaded.config
    known_commit = _known_target_commit(git, config)
    settings = SettingsText.for_checkout(workspace, git, known_commit, journal=config.store.url)
    settings.approve(store, loaded, by=by)
    PlanTexts.for_checkout(workspace, config, git, known_commit).approve(store, by=by)


def approve_edit(workspace: Workspace, edited: LoadedConfig, *, by: str) -> str:
    """Approve an edit of dos.toml that a verb made, and return a warning or an empty string.

    The edit is not approved when the file held other changes that nobody approved. Where no fleet
    has run there is nothing to compare with: `dos up` approves the whole file.
    """
    url = parse(edited.replaced, workspace.config, lenient=True).config.store.url
    if not _has_journal(workspace, url):
        return ""
    with open_journal(workspace, url, actor=by) as store:
        known = texts.latest_approval(store, SettingsApproved, workspace.root)
        if known is None:
            return ""
        if edited.config.store.url != url:
            why = OTHER_JOURNAL
        elif _was_effective(workspace, store, known, edited.replaced, url):
            git = Writer(workspace.root)
            known_commit = _known_target_commit(git, edited.config)
            settings = SettingsText.for_checkout(workspace, git, known_commit, journal=url)
            settings.approve(store, edited, by=by)
            return ""
        else:
            why = OTHER_CHANGES
        locks = store.leases(locks=True, lapsed=False)
        if any(lock.lane in streams.supervisor for lock in locks):
            return f"{workspace.config} {why}"
        return ""  # no fleet runs that would keep the old settings


def _has_journal(workspace: Workspace, url: str) -> bool:
    """Whether a fleet can have run here. False also outside of a git repository."""
    path = embedded_path(url, workspace.state)
    if workspace.common is None:
        return False
    return path is None or path.exists()


def approve_plan_edit(
    workspace: Workspace, config: Config, name: str, *, before: str, after: str, by: str
) -> bool:
    """Approve an edit of a plan document that a verb made. False when `before` was not approved.

    Where no fleet has run there is nothing to approve yet: `dos up` approves what is on disk.
    """
    if not _has_journal(workspace, config.store.url):
        return True
    git = Writer(workspace.root)
    plan_texts = PlanTexts.for_checkout(workspace, config, git, _known_target_commit(git, config))
    with open_journal(workspace, config.store.url, actor=by) as store:
        answers = fold.current(store, Decisions)[0]
        return plan_texts.approve_edit(store, answers, name, before=before, after=after, by=by)


def _was_effective(
    workspace: Workspace, store: Store, known: texts.Approval, text: str, url: str
) -> bool:
    """Whether the fleet used this text: it is approved, committed, or was answered with `use`."""
    approved = known.documents.get(FILE_NAME, "")
    if text == approved:
        return True
    # The target branch is the one that the approved text names: the text on disk could name a
    # branch that an agent created.
    git = Writer(workspace.root)
    commit = _target_commit(git, parse(approved, workspace.config).config)
    settings = SettingsText.for_checkout(workspace, git, commit, journal=url)
    return settings.is_effective(store, fold.current(store, Decisions)[0], text)


def journal_mark(url: str) -> str:
    """A digest of the journal's URL, by which a service recognises the journal it was made for."""
    return sha256(url.encode()).hexdigest()[:16]


def service_settings(workspace: Workspace, journal: str) -> LoadedConfig:
    """The settings of a fleet that the system starts: the approved ones, or the committed ones.

    `journal` is the mark of the journal that the service was installed with. Raises BadInput when
    dos.toml names another journal, or when nothing is approved or committed.
    """
    git = Writer(workspace.root)
    url = _journal_url(workspace, git, journal)
    with open_journal(workspace, url) as store:
        known = texts.latest_approval(store, SettingsApproved, workspace.root)
        if known:
            first = known.documents.get(FILE_NAME, "")
        else:
            first = _committed(git)
        commit = _target_commit(git, parse(first, workspace.config).config)
        settings = SettingsText.for_checkout(workspace, git, commit, journal=url)
        if not settings.adopt_committed(store):
            raise _nothing_approved(workspace, [FILE_NAME])
        text = settings.effective_text(store, fold.current(store, Decisions)[0])
        loaded = parse(text or "", workspace.config)
        if loaded.config.store.url != url:
            raise _other_journal(workspace)
        plan_texts = PlanTexts.for_checkout(workspace, loaded.config, git, commit)
        if not plan_texts.adopt_committed(store):
            with World(workspace.root, config=loaded.config) as world:
                raise _nothing_approved(workspace, plans.uncommitted_paths(world))
    return loaded


def _journal_url(workspace: Workspace, git: Writer, journal: str) -> str:
    """The URL with this mark, from dos.toml on disk or as committed; BadInput for neither."""
    on_disk = load(workspace.root, lenient=True).config.store.url
    committed = parse(_committed(git), workspace.config, lenient=True).config.store.url
    for url in (on_disk, committed):
        if journal_mark(url) == journal:
            return url
    raise _other_journal(workspace)


def _other_journal(workspace: Workspace) -> BadInput:
    return BadInput(
        f"{workspace.config} names another journal ([store] url) than when the service was"
        " installed",
        hint="Show the change: git diff -- dos.toml. Then approve it: dos service install",
    )


def _committed(git: Writer) -> str:
    """dos.toml as committed at HEAD; empty when it is not."""
    blobs = checkout.committed_blobs(git, git.commit_of("HEAD") or "", [FILE_NAME])
    if not blobs:
        return ""
    return checkout.committed_text(git, blobs[FILE_NAME])


def _nothing_approved(workspace: Workspace, paths: list[str]) -> BadInput:
    verb = "are"
    if len(paths) == 1:
        verb = "is"
    with World(workspace.root, lenient=True) as world:
        commit = plans.commit_command(world, paths)
    return BadInput(
        f"{', '.join(paths)} {verb} not committed, and no person has approved what is on disk",
        hint=f"Commit: {commit}\n  or approve what is on disk: dos service install",
    )


def _target_commit(git: Writer, config: Config) -> Callable[[], str]:
    """Returns the commit of the target branch, asked from the remote; empty: there is none."""
    commit = ""
    branch = git.target_branch(config.workers.target_branch)
    if branch:
        commit = open_target(git, config.workers.remote).newest(branch) or ""
    return lambda: commit


def _known_target_commit(git: Writer, config: Config) -> Callable[[], str]:
    """Returns the commit of the target branch as this repository knows it, without the network.

    That is enough to record what was committed when a person approved something else.
    """
    commit = ""
    branch = git.target_branch(config.workers.target_branch)
    if branch:
        ref = git.target_ref(branch, remote=config.workers.remote)
        commit = git.commit_of(ref) or ""
    return lambda: commit
