"""Say what there is to type: all verbs, one family of them, or one verb."""

from typing import Annotated

from msgspec import Struct

from dos.cli import call
from dos.cli.help import family_page, overview
from dos.verbs import catalog
from dos.verbs.args import Option, build_parser
from dos.verbs.context import Context, Reply
from dos.verbs.table import VERBS

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    verb: Annotated[
        list[str], Option(help="the verb, or the first word of a family", positional=True)
    ] = []


def run(args: Args, context: Context) -> Reply:
    text = page(args.verb) if args.verb else overview()
    shown = catalog.find_verbs(args.verb) if args.verb else VERBS.values()
    verbs = [{"verb": verb.name, "group": verb.group, "summary": verb.summary} for verb in shown]
    return Reply(text=text, data={"verbs": verbs, "text": text}, indented=True)


def page(words: list[str]) -> str:
    found = catalog.find_verbs(words)
    verb = found[0]
    if verb.name != " ".join(words):
        return family_page(words[0])
    module = catalog.load_module(verb)
    return call.help_page(verb, module, build_parser(verb.name, verb.summary, module.Args))
