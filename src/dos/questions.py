"""The table of everything that can be asked or told: the index of the project.

Parsers, help, completion, the exit-code table and the reference page come from it. It is read on every start, so it
holds names only; a verb's module is imported when the verb is called.
"""

GROUPS = {
    "fleet": "Run a fleet",
    "lanes": "Lanes and leases",
    "journal": "The record",
    "workspace": "This workspace",
    "help": "About dos",
}


class Verb:
    """One row: the words to type, the module that answers, what it is for."""

    __slots__ = ("group", "module", "name", "summary")

    def __init__(self, name: str, group: str, module: str, summary: str) -> None:
        self.name, self.group, self.module, self.summary = name, group, module, summary


_CLI = "dos.surfaces.cli.verbs."
_LANES = _CLI + "lanes."
_LOCKS = _CLI + "locks."
_JOURNAL = _CLI + "journal."
_CONFIG = _CLI + "config."
_ABOUT = _CLI + "about."

VERBS = {
    verb.name: verb
    for verb in (
        Verb("init", "fleet", _CLI + "init", "look at this repository and write its dos.toml"),
        Verb("up", "fleet", _CLI + "up", "keep the wanted number of workers alive"),
        Verb("down", "fleet", _CLI + "down", "let the workers finish what they do, and stop"),
        Verb("status", "fleet", _CLI + "status", "what runs, what landed, what stopped and why"),
        Verb("worker", "fleet", _CLI + "worker", "work on one lane until a typed stop; `up` starts these"),
        Verb("arbitrate", "lanes", _LANES + "arbitrate", "which lane may be worked on, given what is live?"),
        Verb("lease-lane acquire", "lanes", _LANES + "acquire", "take a lane, for a limited time"),
        Verb("lease-lane heartbeat", "lanes", _LANES + "heartbeat", "say that you still hold a lane"),
        Verb("lease-lane release", "lanes", _LANES + "release", "give a lane back"),
        Verb("lease-lane live", "lanes", _LANES + "live", "who holds what"),
        Verb("lease-lane wait", "lanes", _LANES + "wait", "sleep until a lane can be taken"),
        Verb("lease-lane adopt", "lanes", _LANES + "adopt", "go on with a lane that another holds"),
        Verb("lease-lane reap", "lanes", _LANES + "reap", "free the lanes of the dead"),
        Verb("lease-lane spawn", "lanes", _LANES + "spawn", "write down that a worker is about to be started"),
        Verb("scope-gate", "lanes", _LANES + "scope_gate", "do the files that were touched belong to the lane?"),
        Verb("lease acquire", "lanes", _LOCKS + "lease_acquire", "take the archive lock"),
        Verb("lease release", "lanes", _LOCKS + "lease_release", "give the archive lock back"),
        Verb("lease status", "lanes", _LOCKS + "lease_status", "who has the archive lock"),
        Verb("journal tail", "journal", _JOURNAL + "tail", "the newest events; --follow goes on"),
        Verb("journal show", "journal", _JOURNAL + "show", "one event, whole"),
        Verb("journal check", "journal", _JOURNAL + "check", "is the journal what it should be?"),
        Verb("journal replay", "journal", _JOURNAL + "replay", "the live leases, in the shape of released versions"),
        Verb("journal seq", "journal", _JOURNAL + "seq", "the position of the newest event"),
        Verb("journal export", "journal", _JOURNAL + "export", "write the journal as JSON lines"),
        Verb("journal import", "journal", _JOURNAL + "import_", "read JSON lines into the journal"),
        Verb("journal prune", "journal", _JOURNAL + "prune", "remove old events that later ones have superseded"),
        Verb("journal compact", "journal", _JOURNAL + "compact", "the same, by its released name"),
        Verb("id-alloc allocate", "journal", _LOCKS + "id_allocate", "give out the next number of a scope"),
        Verb("id-alloc peek", "journal", _LOCKS + "id_peek", "the last number that was given out in a scope"),
        Verb("run-id mint", "journal", _LOCKS + "run_id_mint", "make up the identity of a new run"),
        Verb("doctor", "workspace", _CLI + "doctor", "what would go wrong, each with one command that clears it"),
        Verb("lint", "workspace", _CLI + "lint", "what in dos.toml is a mistake"),
        Verb("config show", "workspace", _CONFIG + "show", "every key of the configuration with its value"),
        Verb("config get", "workspace", _CONFIG + "get", "one value, bare, for scripts"),
        Verb("config set", "workspace", _CONFIG + "set", "set one key of dos.toml"),
        Verb("config unset", "workspace", _CONFIG + "unset", "take one key out of dos.toml"),
        Verb("config path", "workspace", _CONFIG + "path", "where dos.toml is, or would be"),
        Verb("help", "help", _ABOUT + "help", "what there is to type"),
        Verb("man", "help", _ABOUT + "man", "explain a lane, a reason or a verb"),
        Verb("exit-codes", "help", _ABOUT + "exit_codes", "what every exit code of every verb means"),
        Verb("completion", "help", _ABOUT + "completion", "let the shell complete verbs, flags and lanes"),
        Verb("version", "help", _ABOUT + "version", "the version of dos"),
    )
}
