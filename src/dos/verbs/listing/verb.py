"""What the table of verbs says of each verb, the groups of help, and who may call a verb."""

from dos.verbs.listing.effects import CHANGES, READS

GROUPS = {
    "fleet": "Run a fleet",
    "people": "Decisions, limits and costs",
    "truth": "Check claims",
    "verdicts": "Rules for your own loop, one at a time",
    "plans": "Plans and units",
    "runs": "Runs",
    "lanes": "Lanes and leases",
    "journal": "Journal",
    "workspace": "Workspace and settings",
    "help": "About dos",
}

# Who may call a verb. A holder is the agent that works on the lane which the arguments name.
ANYONE = "anyone"
PERSON = "person"
PERSON_OR_HOLDER = "person or holder"


class Verb:
    """One verb: the words to type, the module that implements it, its help line, its permission.

    `group` is a key of `GROUPS`, under whose title help lists the verb.
    """

    __slots__ = (
        "allowed",
        "effect",
        "group",
        "module",
        "name",
        "open_argument",
        "other_options",
        "summary",
    )

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        group: str,
        module: str,
        summary: str,
        allowed: str = ANYONE,
        open_argument: str = "",
        *,
        effect: str = CHANGES,
        other_options: tuple[str, ...] = (),
    ) -> None:
        """Describe a verb. This is no Struct, because importing msgspec would delay `dos --help`.

        `summary` is the help line, and the first line of the module's docstring.
        """
        self.name = name
        self.group = group
        self.module = module
        self.summary = summary
        self.allowed = allowed
        self.open_argument = open_argument  # the first argument with which anyone may call it
        # What it does beside its answer. With these options a verb that reads changes files, and
        # one that changes files only reads.
        self.effect = effect
        self.other_options = other_options

    def effect_with(self, options: set[str]) -> str:
        """Return what the verb does beside its answer when it is given these options."""
        if options.isdisjoint(self.other_options):
            return self.effect
        return CHANGES if self.effect == READS else READS
