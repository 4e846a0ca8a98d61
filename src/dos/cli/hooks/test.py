"""Try the hooks with the real agent program, offline.

Starts the program that is on the PATH in a scratch repository with a home of its own, with the
hooks that `dos hooks install` writes and a scripted model on this machine. The model asks for two
writes in a lane that another worker holds and for two elsewhere, by the program's tool and by the
shell; then the disk is looked at. Your settings, logins and files are not used or changed. The
state of the hooks in this repository is shown beside the result.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Struct

from dos.agenthooks.io.install import State
from dos.agenthooks.wiring import HOSTS, Host, chosen_hosts
from dos.conformance.hook_trial import HookVerdict, Result
from dos.errors import DosError
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verbs.output import print_stderr

EXITS = {"works": 0, "inert": 1, "contract_error": 2, "failed": 3, "not-found": 4}
# The worst comes first: it is the exit code where several programs are tested.
_ORDER = (Result.INERT, Result.FAILED, Result.WORKS, Result.NOT_FOUND, Result.NOT_TRIED)
_CODES = {Result.INERT: 1, Result.FAILED: 3, Result.WORKS: 0}
_NOT_FOUND = 4
_HERE = {
    State.WIRED: "the hooks are installed here",
    State.NOT_WIRED: "no hooks are installed here; to install them: dos hooks install {host}",
    State.DRIFTED: "the hooks installed here are not those of this dos; fix: dos hooks install"
    " {host}",
    State.UNTRUSTED: "{host} does not trust the hooks here and skips them; fix: dos hooks install"
    " {host}",
    State.UNREADABLE: "the settings here cannot be read; to see why: dos hooks install {host}"
    " --dry-run",
}


class Args(Struct, kw_only=True):
    """Which program."""

    host: Annotated[
        str, Option(help=f"{', '.join(HOSTS)}, or all", positional=True, metavar="HOST")
    ]


class Tested(Struct, frozen=True, kw_only=True):
    """What a test showed of one program, and the state of its hooks in this repository."""

    verdict: HookVerdict
    here: State

    @property
    def is_inert_here(self) -> bool:
        """Whether hooks that work elsewhere are installed here and would not all run."""
        return self.verdict.result is Result.WORKS and self.here in (
            State.DRIFTED,
            State.UNTRUSTED,
            State.UNREADABLE,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        verdict = self.verdict
        return {
            "result": verdict.result,
            "reason": verdict.reason,
            "version": verdict.version,
            "program": verdict.program,
            "here": self.here,
        }


def run(args: Args, context: Context) -> Reply:
    """Try one program or all, record the results, and return them."""
    hosts = chosen_hosts([args.host])
    tested = [_test(host, context) for host in hosts]
    _record(tested, context)
    lines = [line for each in tested for line in _describe(each)]
    return Reply(
        code=_code(tested),
        text="\n".join(lines),
        data={"hosts": {each.verdict.host: each.to_dict() for each in tested}},
    )


def _test(host: Host, context: Context) -> Tested:
    from dos import workspace
    from dos.agenthooks.io import wire
    from dos.conformance.io.try_hooks import try_host

    here = wire.look(host, workspace.find(context.start_directory)).state
    return Tested(verdict=try_host(host.name, print_stderr), here=here)


def _describe(tested: Tested) -> list[str]:
    """Return the lines about one program."""
    verdict = tested.verdict
    name = " ".join(filter(None, (verdict.host, verdict.version)))
    here = _HERE[tested.here]
    return [
        f"{name}: {verdict.result}: {verdict.reason}",
        f"  {here.format(host=verdict.host)}",
    ]


def _code(tested: Sequence[Tested]) -> int:
    """Return the exit code: that of the worst result, and 4 where no program could be tried."""
    if any(each.is_inert_here for each in tested):
        return _CODES[Result.INERT]
    results = [each.verdict.result for each in tested]
    worst = min(results, key=_ORDER.index)
    return _CODES.get(worst, _NOT_FOUND)


def _record(tested: Sequence[Tested], context: Context) -> None:
    """Record what was tried, in a repository that uses dos; that this fails changes no result."""
    from dos.conformance.io import results

    try:
        if not results.keeps_records(context.journal_world):
            return
        for each in tested:
            verdict = each.verdict
            if verdict.version:
                results.record(
                    context.journal,
                    results.HOOKS,
                    verdict.host,
                    result=verdict.result,
                    version=verdict.version,
                    reason=verdict.reason,
                )
    except (DosError, OSError) as error:
        print_stderr(f"dos: the result could not be recorded: {error}")
