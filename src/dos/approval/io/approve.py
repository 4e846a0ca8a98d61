"""What approves plans and settings besides `dos up`: an edit by a verb, a service that is installed. And what does not:
a service that is started by the system goes on by what was approved before."""

from collections.abc import Callable
from hashlib import sha256

from dos.approval.io import checkout, texts
from dos.approval.io.plans import PlanTexts
from dos.approval.io.settings import SettingsText
from dos.config.load import FILE_NAME, LoadedConfig, load, parse
from dos.config.schema import Config
from dos.doctor.subjects import plans
from dos.errors import BadInput
from dos.git import target
from dos.git.repository import Writer
from dos.journal import fold, streams
from dos.journal.backends.open import embedded_path
from dos.journal.events.limits import SettingsApproved
from dos.journal.store import Store
from dos.landing import target as targets
from dos.questions.state import Decisions
from dos.workspace import Workspace
from dos.world import World, open_journal

OTHER_CHANGES = (
    "has other changes that nobody approved, so workers do not use this one yet. Look at them: git diff -- dos.toml."
    " Then approve the file: answer `use` in `dos decisions`, or commit it"
)
OTHER_JOURNAL = "names another journal now. The fleet that runs keeps the one that it has: `dos down`, then `dos up`"


def approve(workspace: Workspace, loaded: LoadedConfig, store: Store, *, by: str) -> None:
    """A person runs the fleet by these settings, and by the plans that are on disk now."""
    git, config = Writer(workspace.root), loaded.config
    target = _known_target_commit(git, config)
    SettingsText.for_checkout(workspace, git, target, journal=config.store.url).approve(
        store, loaded, by=by
    )
    PlanTexts.for_checkout(workspace, config, git, target).approve(store, by=by)


def approve_edit(workspace: Workspace, edited: LoadedConfig, *, by: str) -> str:
    """A person has changed one key of dos.toml: approved, unless the file held what nobody approved; then, a warning.

    Where no fleet has run there is nothing to compare with: `dos up` approves all of it.
    """
    url = parse(edited.replaced, workspace.config, lenient=True).config.store.url
    path = embedded_path(url, workspace.state)
    if workspace.common is None or (path and not path.exists()):
        return ""
    with open_journal(workspace, url, actor=by) as store:
        known = texts.latest_approval(store, SettingsApproved, workspace.root)
        if known is None:
            return ""
        if edited.config.store.url != url:
            why = OTHER_JOURNAL
        elif _was_effective(workspace, store, known, edited.replaced, url):
            target = _known_target_commit(Writer(workspace.root), edited.config)
            SettingsText.for_checkout(
                workspace, Writer(workspace.root), target, journal=url
            ).approve(store, edited, by=by)
            return ""
        else:
            why = OTHER_CHANGES
        locks = store.leases(locks=True, lapsed=False)
        is_running = any(lock.lane in streams.supervisor for lock in locks)
        return f"{workspace.config} {why}" if is_running else ""


def approve_plan_edit(
    workspace: Workspace, config: Config, name: str, *, before: str, after: str, by: str
) -> bool:
    """Approve an edit of a plan document that a verb made. False where nobody had approved `before`.

    Where no fleet has run there is nothing to approve yet: `dos up` approves what is on disk.
    """
    path = embedded_path(config.store.url, workspace.state)
    if workspace.common is None or (path and not path.exists()):
        return True
    git = Writer(workspace.root)
    plan_texts = PlanTexts.for_checkout(workspace, config, git, _known_target_commit(git, config))
    with open_journal(workspace, config.store.url, actor=by) as store:
        answers = fold.current(store, Decisions)[0]
        return plan_texts.approve_edit(store, answers, name, before=before, after=after, by=by)


def _was_effective(
    workspace: Workspace, store: Store, known: texts.Approval, text: str, url: str
) -> bool:
    """Whether the fleet worked by this text: it is the approved one, or is committed, or was answered with `use`."""
    approved = known.documents.get(FILE_NAME, "")
    if text == approved:
        return True
    # By the branch that the approved text names: what is on disk could name one that an agent has made.
    git = Writer(workspace.root)
    settings = SettingsText.for_checkout(
        workspace, git, _target_commit(git, parse(approved, workspace.config).config), journal=url
    )
    return settings.is_effective(store, fold.current(store, Decisions)[0], text)


def journal_mark(url: str) -> str:
    """By which a service knows the journal that it was installed with: what is on disk may name another by now."""
    return sha256(url.encode()).hexdigest()[:16]


def service_settings(workspace: Workspace, journal: str) -> LoadedConfig:
    """The settings that a fleet goes on by when the system starts it: those that were approved, or are committed."""
    git = Writer(workspace.root)
    url = _journal_url(workspace, git, journal)
    with open_journal(workspace, url) as store:
        known = texts.latest_approval(store, SettingsApproved, workspace.root)
        first = known.documents.get(FILE_NAME, "") if known else _committed(git) or ""
        target = _target_commit(git, parse(first, workspace.config).config)
        settings = SettingsText.for_checkout(workspace, git, target, journal=url)
        if not settings.adopt_committed(store):
            raise _nothing_approved(workspace, [FILE_NAME])
        text = settings.effective_text(store, fold.current(store, Decisions)[0])
        loaded = parse(text or "", workspace.config)
        if loaded.config.store.url != url:
            raise _other_journal(workspace)
        if not PlanTexts.for_checkout(workspace, loaded.config, git, target).adopt_committed(store):
            with World(workspace.root, config=loaded.config) as world:
                raise _nothing_approved(workspace, plans.uncommitted_paths(world))
    return loaded


def _journal_url(workspace: Workspace, git: Writer, journal: str) -> str:
    """By what is on disk or is committed, as long as it is the journal that the service was installed with."""
    on_disk = load(workspace.root, lenient=True).config.store.url
    in_head = parse(_committed(git) or "", workspace.config, lenient=True).config.store.url
    for url in (on_disk, in_head):
        if journal_mark(url) == journal:
            return url
    raise _other_journal(workspace)


def _other_journal(workspace: Workspace) -> BadInput:
    return BadInput(
        f"{workspace.config} names another journal ([store] url) than when the service was installed",
        hint="Look at it: git diff -- dos.toml. Then approve it: dos service install",
    )


def _committed(git: Writer) -> str | None:
    """dos.toml as it is committed where the user is."""
    blobs = checkout.committed_blobs(git, git.commit_of("HEAD") or "", [FILE_NAME])
    return checkout.committed_text(git, blobs[FILE_NAME]) if blobs else None


def _nothing_approved(workspace: Workspace, paths: list[str]) -> BadInput:
    verb = "is" if len(paths) == 1 else "are"
    with World(workspace.root, lenient=True) as world:
        commit = plans.commit_command(world, paths)
    return BadInput(
        f"{', '.join(paths)} {verb} not committed, and no person has approved what is on disk",
        hint=f"Commit: {commit}\n  or approve what is on disk: dos service install",
    )


def _target_commit(git: Writer, config: Config) -> Callable[[], str]:
    """The commit that the target branch is at; empty where there is none."""
    branch = target.branch(config, git)
    found = targets.open_target(git, config.workers.remote).newest(branch) if branch else None
    return lambda: found or ""


def _known_target_commit(git: Writer, config: Config) -> Callable[[], str]:
    """The same without asking a remote: to say what was committed when a person approved something else."""
    branch = target.branch(config, git)
    found = git.commit_of(target.ref(branch, git, remote=config.workers.remote)) if branch else None
    return lambda: found or ""
