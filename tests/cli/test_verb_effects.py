"""What each verb does beside its answer: one table, that every reader of commands asks."""

import pytest

from dos.doctor.subjects.finding import label_of_command
from dos.mcp.catalog import TOOLS
from dos.mcp.tool import Effect
from dos.permission.footprint import read_footprint
from dos.server.read_verbs import READ_VERBS
from dos.verbs.listing.commands import GLOBAL_FLAGS, effect_of
from dos.verbs.listing.effects import CHANGES, EFFECTS, READS, RECORDS
from dos.verbs.listing.table import VERBS, _section
from dos.verbs.lookup import arguments

# Options that name what is written, or that say that something is.
TELLING = {"--out", "--to", "--html", "--write", "--fix", "--tick", "--deep", "--record", "--keep"}


def test_every_verb_has_an_effect_and_a_new_one_cannot_do_without():
    assert EFFECTS.keys() == VERBS.keys()
    with pytest.raises(KeyError):
        _section("fleet", ("a new verb", "fleet.up", "Do something"))


def test_the_options_that_turn_a_verb_are_its_own_and_none_that_writes_is_missing():
    for verb in VERBS.values():
        flags = {field.flag for field in arguments(verb) if not field.option.positional}
        assert set(verb.other_options) <= flags, verb.name
        if verb.effect == READS:
            assert flags & TELLING <= set(verb.other_options), verb.name


def test_what_servers_offer_as_reading_reads():
    for name, served in READ_VERBS.items():
        assert VERBS[name].effect == READS, name
        options = {f"--{argument.replace('_', '-')}" for argument in served.arguments}
        assert options.isdisjoint(VERBS[name].other_options), name
    for tool in TOOLS.values():
        if tool.effect is Effect.READ:
            assert VERBS[tool.verb].effect == READS, tool.name


COMMANDS = {
    "dos verify PLAN UNIT": READS,
    "dos --workspace /tmp/x verify PLAN UNIT --json": READS,
    "dos report --since 1h": READS,
    "dos report --html page.html": CHANGES,
    "dos report --html=page.html": CHANGES,
    "dos plan": READS,
    "dos plan add A B": CHANGES,
    "dos plan --tick": CHANGES,
    "dos doctor --json": READS,
    "dos doctor --fix": CHANGES,
    "dos lease-lane acquire --lane api --owner me": RECORDS,
    "dos lease-lane live": READS,
    "dos run claim RID-1 2 --sha abc": RECORDS,
    "dos decisions": READS,
    "dos init --help": READS,
    "dos": READS,
    "dos init": CHANGES,
    "dos nonsense": CHANGES,
    "dos --workspace verify": READS,
    "dos --workspace --help init": CHANGES,
    "dos --workspace -- init": CHANGES,
    "dos --output -h init": CHANGES,
    "dos --output json init -h": READS,
    "dos guard -- claude": CHANGES,
    "dos guard -- claude --help": CHANGES,
    "dos guard --dry-run -- claude": CHANGES,
    "dos hooks install codex --dry-run": READS,
    "dos hooks install codex": CHANGES,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_judged_by_the_table(command):
    assert effect_of(command.split()[1:]) == COMMANDS[command]
    found = read_footprint("Bash", {"command": command}, cwd="/r", root="/r")
    assert found.reads_only == (COMMANDS[command] != CHANGES)
    assert (label_of_command(command) == "check") == (COMMANDS[command] == READS)


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("dos verify AUTH U1", True),
        ("dos report $OPTIONS", False),
        ("dos $VERB", False),
        ("/usr/local/bin/dos whoami && dos journal tail 5", True),
        ("dos whoami > api/who.txt", False),
    ],
)
def test_what_the_shell_expands_may_be_an_option(command, reads):
    found = read_footprint("Bash", {"command": command}, cwd="/r", root="/r")
    assert found.reads_only is reads


def test_every_verb_that_agents_may_call_for_reading_is_a_read_of_its_own_shell():
    for verb in VERBS.values():
        found = read_footprint("Bash", {"command": f"dos {verb.name}"}, cwd="/r", root="/r")
        assert found.reads_only == (verb.effect != CHANGES), verb.name
    assert all(flag.startswith("-") for flag in GLOBAL_FLAGS)
