"""Show which workers to start, reap or flag.

It is a plan: it starts nothing, stops nothing and writes nothing. The journal says who holds which
lane, git what was committed in its region, the operating system whether the process is alive. What
cannot be read counts as held.
"""

from typing import Annotated

from msgspec import Struct, json, to_builtins

from dos.cli import repeat
from dos.errors import BadInput
from dos.fleet import view
from dos.fleet.io import reader
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
MOST_WORKERS = 1_000_000


class Args(Struct, kw_only=True):
    """How many workers to plan for, and how often to plan."""

    target: Annotated[
        int | None, Option(help="number of workers (default: [supervise] target)", metavar="N")
    ] = None
    max_concurrency: Annotated[
        int | None,
        Option(help="let autopick lanes have several workers, up to N in all", metavar="N"),
    ] = None
    watch: Annotated[bool, Option(help="repeat until Ctrl-C")] = False
    interval: Annotated[
        float, Option(help="with --watch: seconds between two plans", metavar="SECONDS")
    ] = 30.0
    max_ticks: Annotated[
        int | None, Option(help="with --watch: stop after N plans", metavar="N")
    ] = None
    now_ms: Annotated[
        int | None, Option(help="the current time, in ms since 1970 (default: now)", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Print the plan once, or with --watch again and again; dos.toml is read anew each time."""
    _check_number("--target", args.target, 0)
    _check_number("--max-concurrency", args.max_concurrency, 1)
    repeat.check_options(args.interval, args.max_ticks, args.now_ms)
    if not args.watch:
        return _plan(args, context, args.now_ms)

    def print_plan(number: int) -> None:
        """Print one plan, as text or as one line of JSON."""
        now_ms = repeat.tick_time_ms(args.now_ms, number, args.interval)
        reply = _plan(args, context, now_ms)
        text = reply.text
        if context.as_json:
            text = json.encode(reply.data, order="sorted").decode()
        for line in text.splitlines():
            context.print_line(line)
        context.reload()

    repeat.repeat(print_plan, interval_seconds=args.interval, max_ticks=args.max_ticks)
    return Reply()


def _plan(args: Args, context: Context, now_ms: int | None) -> Reply:
    """Return the population plan with the commands that would enact it.

    It is the plan that a supervisor would make now, from the same evidence.
    """
    policy = context.policy.supervise.policy(
        target=args.target, max_concurrency=args.max_concurrency
    )
    verdict, handles = reader.plan(context.policy_world, policy, now_ms=now_ms)
    if verdict.spawn:
        _warn_of_missing_skill(context, policy.worker_launch_template)
    return Reply(text=view.render_population(verdict, policy, handles), data=to_builtins(verdict))


def _warn_of_missing_skill(context: Context, template: str) -> None:
    """Warn where the launch template starts a skill that no agent program would find here."""
    from dos.skills.io import installed, packaged
    from dos.skills.skill import skill_of_prompt

    skill = skill_of_prompt(template, packaged.names())
    if skill and not installed.is_available(context.world.workspace.tree, skill):
        context.warn(
            f"warning: the launch template starts the skill {skill}, which is not installed here\n"
            f"  hint: dos init --skill {skill}; or run `dos up`, which needs no skill"
        )


def _check_number(flag: str, number: int | None, least: int) -> None:
    """Raise BadInput for a number of workers out of range."""
    if number is not None and not least <= number <= MOST_WORKERS:
        raise BadInput(
            f"{flag} is {number}; it must be from {least} to {MOST_WORKERS}",
            hint=f"For example: {flag} 2",
        )
