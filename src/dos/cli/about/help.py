"""Show all verbs, or the help of one."""

from typing import Annotated

from msgspec import Struct

from dos.cli.call import verb_page
from dos.cli.help import family_page, overview
from dos.verbs import lookup
from dos.verbs.args import Option, build_parser
from dos.verbs.context import Context, Reply
from dos.verbs.listing.table import VERBS

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The verb to explain; all by default."""

    verb: Annotated[
        list[str], Option(help="a verb, or the first word of several", positional=True)
    ] = []


def run(args: Args, _context: Context) -> Reply:
    """Return the page of all verbs, of one verb, or of the verbs that begin with a word."""
    if args.verb:
        text = page(args.verb)
        verbs = lookup.find_verbs(args.verb)
    else:
        text = overview()
        verbs = list(VERBS.values())
    rows = [{"verb": verb.name, "group": verb.group, "summary": verb.summary} for verb in verbs]
    return Reply(text=text, data={"verbs": rows, "text": text}, indented=True)


def page(words: list[str]) -> str:
    """Return the help page of a verb, or of the verbs that begin with these words.

    `dos VERB --help` prints the same page. Raises BadInput where there is no such verb.
    """
    verb = lookup.find_verbs(words)[0]
    if verb.name != " ".join(words):
        return family_page(words[0])
    module = lookup.load_module(verb)
    return verb_page(verb, module, build_parser(verb.name, verb.summary, module.Args))
