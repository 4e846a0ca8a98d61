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

    def __init__(self, name: str, group: str, module: str, summary: str, who: str = ANYBODY, free: str = "") -> None:
        self.name, self.group, self.module, self.summary = name, group, module, summary
        self.who, self.free = who, free


_CLI = "dos.surfaces.cli.verbs."
_FLEET = _CLI + "fleet."
_PEOPLE = _CLI + "people."
_LANES = _CLI + "lanes."
_TRUTH = _CLI + "truth."
_RECEIPTS = _CLI + "receipts."
_VERDICTS = _CLI + "verdicts."
_PLANS = _CLI + "plans."
_RUNS = _CLI + "runs."
_LEDGER = _CLI + "ledger."
_LOCKS = _CLI + "locks."
_SALVAGE = _CLI + "salvage."
_JOURNAL = _CLI + "journal."
_CONFIG = _CLI + "config."
_ABOUT = _CLI + "about."

VERBS = {
    verb.name: verb
    for verb in (
        Verb("init", "fleet", _CLI + "init", "look at this repository and write its dos.toml", PERSON),
        Verb("up", "fleet", _CLI + "up", "keep the wanted number of workers alive", PERSON),
        Verb("down", "fleet", _CLI + "down", "let the workers finish what they do, and stop", PERSON),
        Verb("status", "fleet", _CLI + "status", "what runs, what landed, what stopped and why"),
        Verb("top", "fleet", _FLEET + "top", "what runs, what waits and on what, what landed, what it cost"),
        Verb("logs", "fleet", _FLEET + "logs", "what does the agent on a lane say?"),
        Verb("report", "fleet", _FLEET + "report", "what came of the fleet's time, each landing with its proof?"),
        Verb(
            "pause", "fleet", _FLEET + "pause", "let nothing new begin, on a lane or on all; `resume` ends it", PERSON
        ),
        Verb("service install", "fleet", _FLEET + "service_install", "let the system itself keep `up` running", PERSON),
        Verb("service status", "fleet", _FLEET + "service_status", "does the system keep `up` running here?", PERSON),
        Verb("service remove", "fleet", _FLEET + "service_remove", "take that away again", PERSON),
        Verb("worker", "fleet", _CLI + "worker", "work on one lane until a typed stop; `up` starts these", PERSON),
        Verb("loop", "fleet", _CLI + "loop", "who should be started, who is dead, who only runs?"),
        Verb("supervise", "fleet", _CLI + "supervise", "the same from evidence that is given, many times over"),
        Verb("watch", "fleet", _CLI + "watch", "which runs have stopped moving, and should be stopped?"),
        Verb("simulate", "fleet", _CLI + "simulate", "break a fleet on a virtual clock, thousands of times"),
        Verb("decisions", "people", _PEOPLE + "decisions", "what needs a person, and what is stuck behind it"),
        Verb("decisions show", "people", _PEOPLE + "show", "one question, with its choices and what each does"),
        Verb(
            "decisions answer", "people", _PEOPLE + "answer", "answer a question, and let go what waited for it", PERSON
        ),
        Verb("decisions add", "people", _PEOPLE + "add", "put something on the list of what needs a person"),
        Verb("decide-for", "people", _PEOPLE + "answer", "the same, in one word", PERSON),
        Verb("limits", "people", _PEOPLE + "limits", "Show which providers are limited, until when, and who waits"),
        Verb(
            "limits lift",
            "people",
            _PEOPLE + "limits_lift",
            "End a provider's limit now and wake who waits for it",
            PERSON,
        ),
        Verb("costs", "people", _PEOPLE + "costs", "what a landed unit cost, and what was paid for nothing"),
        Verb("test-witness", "truth", _TRUTH + "test_witness", "is a test red without a change and green with it?"),
        Verb(
            "test-witness run", "truth", _TRUTH + "test_witness_run", "run a commit's tests with and without its change"
        ),
        Verb("commit-audit", "truth", _TRUTH + "commit_audit", "does the diff do what the subject says?"),
        Verb("verify", "truth", _TRUTH + "verify", "did a unit ship, and how do we know?"),
        Verb("claims", "truth", _TRUTH + "claims", "what does an agent say it has done?"),
        Verb("hook stop", "truth", _TRUTH + "hook_stop", "may an agent stop on what it said?"),
        Verb("hook pretool", "truth", _CLI + "hooks.moments", "answer an agent program before a tool call"),
        Verb("hook posttool", "truth", _CLI + "hooks.moments", "answer an agent program after a tool call"),
        Verb("hook marker", "truth", _CLI + "hooks.moments", "answer an agent program that may be kept waiting"),
        Verb("hook session", "truth", _CLI + "hooks.moments", "answer an agent program that begins a session"),
        Verb("coverage", "truth", _TRUTH + "coverage", "how many of the workers sent out returned something?"),
        Verb("answer-shape", "truth", _TRUTH + "answer_shape", "is a text shaped like an answer that can be shown?"),
        Verb("arg-provenance", "truth", _TRUTH + "arg_provenance", "did an agent make up an identifier in a call?"),
        Verb("witness", "truth", _TRUTH + "witness", "did a claimed effect happen, by the word of others?"),
        Verb("reward", "truth", _TRUTH + "reward", "may a piece of work be shown to a learner as a good example?"),
        Verb("judge", "truth", _TRUTH + "judge", "what does a judge think of a claim?"),
        Verb("judge-eval", "truth", _TRUTH + "judge_eval", "how often does a judge agree to what is not so?"),
        Verb("attest", "truth", _RECEIPTS + "attest", "sign what a command or two snapshots say about a claim", PERSON),
        Verb("verify-receipt", "truth", _RECEIPTS + "verify_receipt", "does a receipt hold, here and now?"),
        Verb("receipt", "truth", _RECEIPTS + "receipt", "the receipt of a landed unit, to be given away"),
        Verb("receipts", "truth", _RECEIPTS + "receipts", "what was signed of the units that landed"),
        Verb("receipt-key make", "truth", _RECEIPTS + "key_make", "make the key that signs receipts", PERSON),
        Verb("receipt-key show", "truth", _RECEIPTS + "key_show", "which key signs receipts, which are trusted"),
        Verb("account", "verdicts", _VERDICTS + "account", "where is every unit that was declared?"),
        Verb("reconcile", "verdicts", _VERDICTS + "reconcile", "does the truth stand behind a claim that it is done?"),
        Verb("plan", "plans", _PLANS + "plan", "what do the plans claim, and what is true?"),
        Verb("packet", "plans", _PLANS + "packet", "what can be dispatched now, each with its prompt?"),
        Verb("enumerate", "plans", _PLANS + "enumerate", "which units does a plan document declare?"),
        Verb("gate", "verdicts", _VERDICTS + "gate", "what kind of nothing to dispatch is this?"),
        Verb("pickable", "verdicts", _VERDICTS + "pickable", "may a worker take this unit now, and if not, why?"),
        Verb("cooldown", "verdicts", _VERDICTS + "cooldown", "was this unit tried a short while ago, without moving?"),
        Verb("pick-priority", "verdicts", _VERDICTS + "pick_priority", "which of two equal units goes first?"),
        Verb("health", "verdicts", _VERDICTS + "health", "is a lane worth launching on?"),
        Verb("attempt", "runs", _RUNS + "attempt", "write down that a try at a unit is over"),
        Verb("decide", "runs", _RUNS + "decide", "does a loop go on after an iteration, and if not, why not?"),
        Verb("why", "runs", _RUNS + "why", "how a run came to where it is: evidence, rungs, decisions"),
        Verb("replay", "runs", _RUNS + "replay", "would a run's evidence be decided the same way again?"),
        Verb("timeline", "runs", _RUNS + "timeline", "what happened in a run, when, and how long it took"),
        Verb("run begin", "runs", _LEDGER + "run_begin", "say what a run sets out to do, or go on with another's work"),
        Verb("run claim", "runs", _LEDGER + "run_claim", "say that a step is done, and by which commit"),
        Verb("run verify", "runs", _LEDGER + "run_verify", "ask git whether a commit does a step, and keep the answer"),
        Verb("run suspend", "runs", _LEDGER + "run_suspend", "put a run aside, so that it can go on later"),
        Verb("run end", "runs", _LEDGER + "run_end", "say how a run ended"),
        Verb("resume", "runs", _RUNS + "resume", "can a run go on, and from where? Or: end a pause", PERSON),
        Verb("rewind", "runs", _RUNS + "rewind", "back to which turn should a conversation be cut?"),
        Verb("complete", "runs", _RUNS + "complete", "is the whole of what a run declared done?"),
        Verb("verify-result", "runs", _RUNS + "verify_result", "did a conversation end with an answer?"),
        Verb("halt", "runs", _RUNS + "halt", "stop a run now; or write down that somebody should", PERSON),
        Verb("trace", "runs", _RUNS + "trace", "all that is written of one run"),
        Verb("salvage list", "runs", _SALVAGE + "list", "which work was saved and did not land"),
        Verb("salvage show", "runs", _SALVAGE + "show", "one piece of saved work: whose, why, which files"),
        Verb("salvage apply", "runs", _SALVAGE + "apply", "bring saved work into this work tree, uncommitted", PERSON),
        Verb("salvage drop", "runs", _SALVAGE + "drop", "let go of saved work", PERSON),
        Verb("liveness", "verdicts", _VERDICTS + "liveness", "is a run moving, or only running?"),
        Verb("convergence", "verdicts", _VERDICTS + "convergence", "is what is left to do getting less?"),
        Verb("productivity", "verdicts", _VERDICTS + "productivity", "is the work of each step fading?"),
        Verb("efficiency", "verdicts", _VERDICTS + "efficiency", "did the tokens buy work?"),
        Verb("improve", "verdicts", _VERDICTS + "improve", "is a change worth keeping?"),
        Verb("breaker", "verdicts", _VERDICTS + "breaker", "has something failed often enough to stop?"),
        Verb("recurring", "verdicts", _VERDICTS + "recurring", "has what stopped a run stopped others before?"),
        Verb("arbitrate", "lanes", _LANES + "arbitrate", "which lane may be worked on, given what is live?"),
        Verb("lease-lane acquire", "lanes", _LANES + "acquire", "take a lane, for a limited time"),
        Verb("lease-lane heartbeat", "lanes", _LANES + "heartbeat", "say that you still hold a lane"),
        Verb("lease-lane release", "lanes", _LANES + "release", "give a lane back", PERSON_OR_HOLDER),
        Verb("lease-lane live", "lanes", _LANES + "live", "who holds what"),
        Verb("lease-lane wait", "lanes", _LANES + "wait", "sleep until a lane can be taken"),
        Verb("lease-lane adopt", "lanes", _LANES + "adopt", "go on with a lane that another holds", PERSON_OR_HOLDER),
        Verb("lease-lane reap", "lanes", _LANES + "reap", "free the lanes of the dead", PERSON_OR_HOLDER),
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
        Verb("journal import", "journal", _JOURNAL + "import_", "read JSON lines into the journal", PERSON),
        Verb(
            "journal prune", "journal", _JOURNAL + "prune", "remove old events that later ones have superseded", PERSON
        ),
        Verb("journal compact", "journal", _JOURNAL + "compact", "the same, by its released name", PERSON),
        Verb("id-alloc allocate", "journal", _LOCKS + "id_allocate", "give out the next number of a scope"),
        Verb("id-alloc peek", "journal", _LOCKS + "id_peek", "the last number that was given out in a scope"),
        Verb("run-id mint", "journal", _LOCKS + "run_id_mint", "make up the identity of a new run"),
        Verb(
            "hooks git",
            "workspace",
            _CLI + "hooks.git",
            "let git refuse what agents commit outside of their lane",
            PERSON,
            free="check",
        ),
        Verb("doctor", "workspace", _CLI + "doctor", "what would go wrong, each with one command that clears it"),
        Verb("lint", "workspace", _CLI + "lint", "what in dos.toml is a mistake"),
        Verb("config show", "workspace", _CONFIG + "show", "every key of the configuration with its value"),
        Verb("config get", "workspace", _CONFIG + "get", "one value, bare, for scripts"),
        Verb("config set", "workspace", _CONFIG + "set", "set one key of dos.toml", PERSON),
        Verb("config unset", "workspace", _CONFIG + "unset", "take one key out of dos.toml", PERSON),
        Verb("config path", "workspace", _CONFIG + "path", "where dos.toml is, or would be"),
        Verb("help", "help", _ABOUT + "help", "what there is to type"),
        Verb("man", "help", _ABOUT + "man", "explain a lane, a reason or a verb"),
        Verb("exit-codes", "help", _ABOUT + "exit_codes", "what every exit code of every verb means"),
        Verb("completion", "help", _ABOUT + "completion", "let the shell complete verbs, flags and lanes"),
        Verb("version", "help", _ABOUT + "version", "the version of dos"),
    )
}
