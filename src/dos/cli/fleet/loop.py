"""Show which workers to start, reap or flag.

A plan: it starts nobody, stops nobody and writes nothing. The journal says who holds what, git what they committed in
their own region, the system whether their process is there. What cannot be read counts as held.
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
    target: Annotated[
        int | None, Option(help="how many workers; [supervise] target when not given", metavar="N")
    ] = None
    max_concurrency: Annotated[
        int | None,
        Option(help="let lanes of autopick repeat, up to so many workers in all", metavar="N"),
    ] = None
    watch: Annotated[bool, Option(help="look again and again, until Ctrl-C")] = False
    interval: Annotated[
        float, Option(help="with --watch: seconds between two looks", metavar="SECONDS")
    ] = 30.0
    max_ticks: Annotated[
        int | None, Option(help="with --watch: end after so many looks", metavar="N")
    ] = None
    now_ms: Annotated[
        int | None, Option(help="what time it is; now when not given", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    _check_number("--target", args.target, 0)
    _check_number("--max-concurrency", args.max_concurrency, 1)
    repeat.check_options(args.interval, args.max_ticks, args.now_ms)
    if not args.watch:
        return _tick(args, context, args.now_ms)

    def tell(number: int) -> None:
        found = _tick(args, context, repeat.tick_time_ms(args.now_ms, number, args.interval))
        said = json.encode(found.data, order="sorted").decode() if context.as_json else found.text
        for line in said.splitlines():
            context.print_line(line)
        context.reload()

    repeat.repeat(tell, interval_seconds=args.interval, max_ticks=args.max_ticks)
    return Reply()


def _tick(args: Args, context: Context, now_ms: int | None) -> Reply:
    rules = context.policy.supervise.policy(
        target=args.target, max_concurrency=args.max_concurrency
    )
    verdict, handles = reader.plan(context.policy_world, rules, now_ms=now_ms)
    return Reply(text=view.render_population(verdict, rules, handles), data=to_builtins(verdict))


def _check_number(flag: str, number: int | None, least: int) -> None:
    if number is not None and not least <= number <= MOST_WORKERS:
        raise BadInput(
            f"{flag} is {number}; it must be from {least} to {MOST_WORKERS}",
            hint=f"For example: {flag} 2",
        )
