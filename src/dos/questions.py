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

VERBS = {
    verb.name: verb
    for verb in (
        Verb("init", "fleet", _CLI + "init", "look at this repository and write its dos.toml"),
        Verb("up", "fleet", _CLI + "up", "keep the wanted number of workers alive"),
        Verb("down", "fleet", _CLI + "down", "let the workers finish what they do, and stop"),
        Verb("status", "fleet", _CLI + "status", "what runs, what landed, what stopped and why"),
        Verb("worker", "fleet", _CLI + "worker", "work on one lane until a typed stop; `up` starts these"),
    )
}
