"""The table of everything that can be asked or told: the index of the project.

Parsers, help, completion, the exit-code table and the reference page come from it. It is read on every start, so it
holds names only; a verb's module is imported when the verb is called.
"""

GROUPS = {
    "fleet": "Run a fleet",
    "people": "What needs a person",
    "truth": "Did it happen?",
    "verdicts": "What is true",
    "plans": "Plans and units",
    "runs": "Runs, and where they go on",
    "lanes": "Lanes and leases",
    "journal": "The record",
    "workspace": "This workspace",
    "help": "About dos",
}


ANYBODY, PERSON, PERSON_OR_HOLDER = "anybody", "person", "person or holder"


class Verb:
    """One row: the words to type, the module that answers, what it is for, who may type it.

    PERSON: no agent of a fleet may. PERSON_OR_HOLDER: an agent may for its own lane. `free` is the first argument with
    which anybody may.
    """

    __slots__ = ("free", "group", "module", "name", "summary", "who")

    def __init__(
        self, name: str, group: str, module: str, summary: str, who: str = ANYBODY, free: str = ""
    ) -> None:
        self.name, self.group, self.module, self.summary = name, group, module, summary
        self.who, self.free = who, free


_CLI = "dos.cli."

VERBS = {
    verb.name: verb
    for verb in (
        Verb(
            "init",
            "fleet",
            _CLI + "workspace.init",
            "look at this repository and write its dos.toml",
            PERSON,
        ),
        Verb("up", "fleet", _CLI + "fleet.up", "keep the wanted number of workers alive", PERSON),
        Verb(
            "down",
            "fleet",
            _CLI + "fleet.down",
            "let the workers finish what they do, and stop",
            PERSON,
        ),
        Verb(
            "status", "fleet", _CLI + "fleet.status", "what runs, what landed, what stopped and why"
        ),
        Verb(
            "top",
            "fleet",
            _CLI + "fleet.top",
            "what runs, what waits and on what, what landed, what it cost",
        ),
        Verb("logs", "fleet", _CLI + "fleet.logs", "what does the agent on a lane say?"),
        Verb(
            "report",
            "fleet",
            _CLI + "fleet.report",
            "what came of the fleet's time, each landing with its proof?",
        ),
        Verb(
            "pause",
            "fleet",
            _CLI + "fleet.pause",
            "let nothing new begin, on a lane or on all; `resume` ends it",
            PERSON,
        ),
        Verb(
            "service install",
            "fleet",
            _CLI + "service.install",
            "let the system itself keep `up` running",
            PERSON,
        ),
        Verb(
            "service status",
            "fleet",
            _CLI + "service.status",
            "does the system keep `up` running here?",
            PERSON,
        ),
        Verb("service remove", "fleet", _CLI + "service.remove", "take that away again", PERSON),
        Verb(
            "worker",
            "fleet",
            _CLI + "fleet.worker",
            "work on one lane until a typed stop; `up` starts these",
            PERSON,
        ),
        Verb(
            "loop",
            "fleet",
            _CLI + "fleet.loop",
            "who should be started, who is dead, who only runs?",
        ),
        Verb(
            "supervise",
            "fleet",
            _CLI + "fleet.supervise",
            "the same from evidence that is given, many times over",
        ),
        Verb(
            "watch",
            "fleet",
            _CLI + "fleet.watch",
            "which runs have stopped moving, and should be stopped?",
        ),
        Verb(
            "simulate",
            "fleet",
            _CLI + "fleet.simulate",
            "break a fleet on a virtual clock, thousands of times",
        ),
        Verb(
            "decisions",
            "people",
            _CLI + "decisions.list",
            "what needs a person, and what is stuck behind it",
        ),
        Verb(
            "decisions show",
            "people",
            _CLI + "decisions.show",
            "one question, with its choices and what each does",
        ),
        Verb(
            "decisions answer",
            "people",
            _CLI + "decisions.answer",
            "answer a question, and let go what waited for it",
            PERSON,
        ),
        Verb(
            "decisions add",
            "people",
            _CLI + "decisions.add",
            "put something on the list of what needs a person",
        ),
        Verb("decide-for", "people", _CLI + "decisions.answer", "the same, in one word", PERSON),
        Verb(
            "limits",
            "people",
            _CLI + "limits.show",
            "Show which providers are limited, until when, and who waits",
        ),
        Verb(
            "limits lift",
            "people",
            _CLI + "limits.lift",
            "End a provider's limit now and wake who waits for it",
            PERSON,
        ),
        Verb(
            "costs",
            "people",
            _CLI + "limits.costs",
            "what a landed unit cost, and what was paid for nothing",
        ),
        Verb(
            "test-witness",
            "truth",
            _CLI + "verify.test_witness",
            "is a test red without a change and green with it?",
        ),
        Verb(
            "test-witness run",
            "truth",
            _CLI + "verify.test_witness_run",
            "run a commit's tests with and without its change",
        ),
        Verb(
            "commit-audit",
            "truth",
            _CLI + "verify.commit_audit",
            "does the diff do what the subject says?",
        ),
        Verb("verify", "truth", _CLI + "verify.verify", "did a unit ship, and how do we know?"),
        Verb("claims", "truth", _CLI + "claims.claims", "what does an agent say it has done?"),
        Verb("hook stop", "truth", _CLI + "hooks.stop", "may an agent stop on what it said?"),
        Verb(
            "hook pretool",
            "truth",
            _CLI + "hooks.tool",
            "answer an agent program before a tool call",
        ),
        Verb(
            "hook posttool",
            "truth",
            _CLI + "hooks.tool",
            "answer an agent program after a tool call",
        ),
        Verb(
            "hook marker",
            "truth",
            _CLI + "hooks.tool",
            "answer an agent program that may be kept waiting",
        ),
        Verb(
            "hook session",
            "truth",
            _CLI + "hooks.tool",
            "answer an agent program that begins a session",
        ),
        Verb(
            "coverage",
            "truth",
            _CLI + "claims.coverage",
            "how many of the workers sent out returned something?",
        ),
        Verb(
            "answer-shape",
            "truth",
            _CLI + "claims.answer_shape",
            "is a text shaped like an answer that can be shown?",
        ),
        Verb(
            "arg-provenance",
            "truth",
            _CLI + "claims.arg_provenance",
            "did an agent make up an identifier in a call?",
        ),
        Verb(
            "witness",
            "truth",
            _CLI + "verify.witness",
            "did a claimed effect happen, by the word of others?",
        ),
        Verb(
            "reward",
            "truth",
            _CLI + "verify.reward",
            "may a piece of work be shown to a learner as a good example?",
        ),
        Verb("judge", "truth", _CLI + "verify.judge", "what does a judge think of a claim?"),
        Verb(
            "judge-eval",
            "truth",
            _CLI + "verify.judge_eval",
            "how often does a judge agree to what is not so?",
        ),
        Verb(
            "attest",
            "truth",
            _CLI + "receipts.attest",
            "sign what a command or two snapshots say about a claim",
            PERSON,
        ),
        Verb(
            "verify-receipt",
            "truth",
            _CLI + "receipts.verify_receipt",
            "does a receipt hold, here and now?",
        ),
        Verb(
            "receipt",
            "truth",
            _CLI + "receipts.receipt",
            "the receipt of a landed unit, to be given away",
        ),
        Verb(
            "receipts",
            "truth",
            _CLI + "receipts.receipts",
            "what was signed of the units that landed",
        ),
        Verb(
            "receipt-key make",
            "truth",
            _CLI + "receipts.key_make",
            "make the key that signs receipts",
            PERSON,
        ),
        Verb(
            "receipt-key show",
            "truth",
            _CLI + "receipts.key_show",
            "which key signs receipts, which are trusted",
        ),
        Verb(
            "account", "verdicts", _CLI + "plans.account", "where is every unit that was declared?"
        ),
        Verb(
            "reconcile",
            "verdicts",
            _CLI + "verify.reconcile",
            "does the truth stand behind a claim that it is done?",
        ),
        Verb("plan", "plans", _CLI + "plans.plan", "what do the plans claim, and what is true?"),
        Verb(
            "packet",
            "plans",
            _CLI + "plans.packet",
            "what can be dispatched now, each with its prompt?",
        ),
        Verb(
            "enumerate",
            "plans",
            _CLI + "plans.enumerate",
            "which units does a plan document declare?",
        ),
        Verb("gate", "verdicts", _CLI + "plans.gate", "what kind of nothing to dispatch is this?"),
        Verb(
            "pickable",
            "verdicts",
            _CLI + "plans.pickable",
            "may a worker take this unit now, and if not, why?",
        ),
        Verb(
            "cooldown",
            "verdicts",
            _CLI + "plans.cooldown",
            "was this unit tried a short while ago, without moving?",
        ),
        Verb(
            "pick-priority",
            "verdicts",
            _CLI + "plans.pick_priority",
            "which of two equal units goes first?",
        ),
        Verb("health", "verdicts", _CLI + "lanes.health", "is a lane worth launching on?"),
        Verb("attempt", "runs", _CLI + "plans.attempt", "write down that a try at a unit is over"),
        Verb(
            "decide",
            "runs",
            _CLI + "loop.decide",
            "does a loop go on after an iteration, and if not, why not?",
        ),
        Verb(
            "why",
            "runs",
            _CLI + "loop.why",
            "how a run came to where it is: evidence, rungs, decisions",
        ),
        Verb(
            "replay",
            "runs",
            _CLI + "loop.replay",
            "would a run's evidence be decided the same way again?",
        ),
        Verb(
            "timeline",
            "runs",
            _CLI + "runs.timeline",
            "what happened in a run, when, and how long it took",
        ),
        Verb(
            "run begin",
            "runs",
            _CLI + "runs.run_begin",
            "say what a run sets out to do, or go on with another's work",
        ),
        Verb(
            "run claim",
            "runs",
            _CLI + "runs.run_claim",
            "say that a step is done, and by which commit",
        ),
        Verb(
            "run verify",
            "runs",
            _CLI + "runs.run_verify",
            "ask git whether a commit does a step, and keep the answer",
        ),
        Verb(
            "run suspend",
            "runs",
            _CLI + "runs.run_suspend",
            "put a run aside, so that it can go on later",
        ),
        Verb("run end", "runs", _CLI + "runs.run_end", "say how a run ended"),
        Verb(
            "resume",
            "runs",
            _CLI + "runs.resume",
            "can a run go on, and from where? Or: end a pause",
            PERSON,
        ),
        Verb(
            "rewind",
            "runs",
            _CLI + "runs.rewind",
            "back to which turn should a conversation be cut?",
        ),
        Verb(
            "complete", "runs", _CLI + "runs.complete", "is the whole of what a run declared done?"
        ),
        Verb(
            "verify-result",
            "runs",
            _CLI + "claims.verify_result",
            "did a conversation end with an answer?",
        ),
        Verb(
            "halt",
            "runs",
            _CLI + "runs.halt",
            "stop a run now; or write down that somebody should",
            PERSON,
        ),
        Verb("trace", "runs", _CLI + "runs.trace", "all that is written of one run"),
        Verb(
            "salvage list", "runs", _CLI + "salvage.list", "which work was saved and did not land"
        ),
        Verb(
            "salvage show",
            "runs",
            _CLI + "salvage.show",
            "one piece of saved work: whose, why, which files",
        ),
        Verb(
            "salvage apply",
            "runs",
            _CLI + "salvage.apply",
            "bring saved work into this work tree, uncommitted",
            PERSON,
        ),
        Verb("salvage drop", "runs", _CLI + "salvage.drop", "let go of saved work", PERSON),
        Verb("liveness", "verdicts", _CLI + "loop.liveness", "is a run moving, or only running?"),
        Verb(
            "convergence",
            "verdicts",
            _CLI + "loop.convergence",
            "is what is left to do getting less?",
        ),
        Verb(
            "productivity",
            "verdicts",
            _CLI + "loop.productivity",
            "is the work of each step fading?",
        ),
        Verb("efficiency", "verdicts", _CLI + "loop.efficiency", "did the tokens buy work?"),
        Verb("improve", "verdicts", _CLI + "loop.improve", "is a change worth keeping?"),
        Verb(
            "breaker",
            "verdicts",
            _CLI + "loop.breaker",
            "has something failed often enough to stop?",
        ),
        Verb(
            "recurring",
            "verdicts",
            _CLI + "loop.recurring",
            "has what stopped a run stopped others before?",
        ),
        Verb(
            "arbitrate",
            "lanes",
            _CLI + "lanes.arbitrate",
            "which lane may be worked on, given what is live?",
        ),
        Verb(
            "lease-lane acquire", "lanes", _CLI + "lanes.acquire", "take a lane, for a limited time"
        ),
        Verb(
            "lease-lane heartbeat",
            "lanes",
            _CLI + "lanes.heartbeat",
            "say that you still hold a lane",
        ),
        Verb(
            "lease-lane release",
            "lanes",
            _CLI + "lanes.release",
            "give a lane back",
            PERSON_OR_HOLDER,
        ),
        Verb("lease-lane live", "lanes", _CLI + "lanes.live", "who holds what"),
        Verb("lease-lane wait", "lanes", _CLI + "lanes.wait", "sleep until a lane can be taken"),
        Verb(
            "lease-lane adopt",
            "lanes",
            _CLI + "lanes.adopt",
            "go on with a lane that another holds",
            PERSON_OR_HOLDER,
        ),
        Verb(
            "lease-lane reap",
            "lanes",
            _CLI + "lanes.reap",
            "free the lanes of the dead",
            PERSON_OR_HOLDER,
        ),
        Verb(
            "lease-lane spawn",
            "lanes",
            _CLI + "lanes.spawn",
            "write down that a worker is about to be started",
        ),
        Verb(
            "scope-gate",
            "lanes",
            _CLI + "lanes.scope_gate",
            "do the files that were touched belong to the lane?",
        ),
        Verb("lease acquire", "lanes", _CLI + "locks.acquire", "take the archive lock"),
        Verb("lease release", "lanes", _CLI + "locks.release", "give the archive lock back"),
        Verb("lease status", "lanes", _CLI + "locks.status", "who has the archive lock"),
        Verb(
            "journal tail", "journal", _CLI + "journal.tail", "the newest events; --follow goes on"
        ),
        Verb("journal show", "journal", _CLI + "journal.show", "one event, whole"),
        Verb(
            "journal check", "journal", _CLI + "journal.check", "is the journal what it should be?"
        ),
        Verb(
            "journal replay",
            "journal",
            _CLI + "journal.replay",
            "the live leases, in the shape of released versions",
        ),
        Verb("journal seq", "journal", _CLI + "journal.seq", "the position of the newest event"),
        Verb(
            "journal export", "journal", _CLI + "journal.export", "write the journal as JSON lines"
        ),
        Verb(
            "journal import",
            "journal",
            _CLI + "journal.import_",
            "read JSON lines into the journal",
            PERSON,
        ),
        Verb(
            "journal prune",
            "journal",
            _CLI + "journal.prune",
            "remove old events that later ones have superseded",
            PERSON,
        ),
        Verb(
            "journal compact",
            "journal",
            _CLI + "journal.compact",
            "the same, by its released name",
            PERSON,
        ),
        Verb(
            "id-alloc allocate",
            "journal",
            _CLI + "journal.id_alloc",
            "give out the next number of a scope",
        ),
        Verb(
            "id-alloc peek",
            "journal",
            _CLI + "journal.id_peek",
            "the last number that was given out in a scope",
        ),
        Verb(
            "run-id mint", "journal", _CLI + "runs.run_id_mint", "make up the identity of a new run"
        ),
        Verb(
            "hooks git",
            "workspace",
            _CLI + "hooks.git",
            "let git refuse what agents commit outside of their lane",
            PERSON,
            free="check",
        ),
        Verb(
            "doctor",
            "workspace",
            _CLI + "workspace.doctor",
            "what would go wrong, each with one command that clears it",
        ),
        Verb("lint", "workspace", _CLI + "workspace.lint", "what in dos.toml is a mistake"),
        Verb(
            "config show",
            "workspace",
            _CLI + "config.show",
            "every key of the configuration with its value",
        ),
        Verb("config get", "workspace", _CLI + "config.get", "one value, bare, for scripts"),
        Verb("config set", "workspace", _CLI + "config.set", "set one key of dos.toml", PERSON),
        Verb(
            "config unset",
            "workspace",
            _CLI + "config.unset",
            "take one key out of dos.toml",
            PERSON,
        ),
        Verb("config path", "workspace", _CLI + "config.path", "where dos.toml is, or would be"),
        Verb("help", "help", _CLI + "about.help", "what there is to type"),
        Verb("man", "help", _CLI + "about.man", "explain a lane, a reason or a verb"),
        Verb(
            "exit-codes",
            "help",
            _CLI + "about.exit_codes",
            "what every exit code of every verb means",
        ),
        Verb(
            "completion",
            "help",
            _CLI + "about.completion",
            "let the shell complete verbs, flags and lanes",
        ),
        Verb("version", "help", _CLI + "about.version", "the version of dos"),
    )
}
