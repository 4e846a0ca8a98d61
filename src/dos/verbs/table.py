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
        # fmt: off
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
            "Show provider limits, when they end, and who waits",
        ),
        Verb(
            "limits lift",
            "people",
            _CLI + "limits.lift",
            "End a provider's limit now and wake the waiting workers",
            PERSON,
        ),
        Verb(
            "costs",
            "people",
            _CLI + "limits.costs",
            "Show what landed units cost, and what bought nothing",
        ),
        Verb(
            "test-witness",
            "truth",
            _CLI + "verify.test_witness",
            "Check that a test fails without a change and passes with it",
        ),
        Verb(
            "test-witness run",
            "truth",
            _CLI + "verify.test_witness_run",
            "Run a commit's tests with and without its change",
        ),
        Verb(
            "commit-audit",
            "truth",
            _CLI + "verify.commit_audit",
            "Check that commits do what their subjects say",
        ),
        Verb(
            "verify",
            "truth",
            _CLI + "verify.verify",
            "Check whether a unit shipped, and show the evidence",
        ),
        Verb(
            "claims",
            "truth",
            _CLI + "claims.claims",
            "List the units that an agent's text claims to be done",
        ),
        Verb(
            "hook stop",
            "truth",
            _CLI + "hooks.stop",
            "Refuse an agent's stop while its claims are not in git",
        ),
        Verb(
            "hook pretool",
            "truth",
            _CLI + "hooks.tool",
            "Answer an agent program's hook before a tool call",
        ),
        Verb(
            "hook posttool",
            "truth",
            _CLI + "hooks.tool",
            "Answer an agent program's hook after a tool call",
        ),
        Verb(
            "hook marker",
            "truth",
            _CLI + "hooks.tool",
            "Answer an agent program's hook while it may wait",
        ),
        Verb(
            "hook session",
            "truth",
            _CLI + "hooks.tool",
            "Answer an agent program's hook at session start",
        ),
        Verb(
            "coverage",
            "truth",
            _CLI + "claims.coverage",
            "Count how many dispatched sub-agents returned a result",
        ),
        Verb(
            "answer-shape",
            "truth",
            _CLI + "claims.answer_shape",
            "Check whether a text is shaped like an answer",
        ),
        Verb(
            "arg-provenance",
            "truth",
            _CLI + "claims.arg_provenance",
            "Check that the identifiers in a tool call were read before",
        ),
        Verb(
            "witness",
            "truth",
            _CLI + "verify.witness",
            "Check by independent sources that a claimed effect happened",
        ),
        Verb(
            "reward",
            "truth",
            _CLI + "verify.reward",
            "Decide whether work may serve as a training example",
        ),
        Verb("judge", "truth", _CLI + "verify.judge", "Ask a judge for its opinion on a claim"),
        Verb(
            "judge-eval", "truth", _CLI + "verify.judge_eval", "Measure a judge's false-accept rate"
        ),
        Verb(
            "attest",
            "truth",
            _CLI + "receipts.attest",
            "Sign the outcome of a command or two snapshots of a state",
            PERSON,
        ),
        Verb(
            "verify-receipt",
            "truth",
            _CLI + "receipts.verify_receipt",
            "Verify a receipt's signature, key, age and repository",
        ),
        Verb("receipt", "truth", _CLI + "receipts.receipt", "Print the receipt of a landed unit"),
        Verb("receipts", "truth", _CLI + "receipts.receipts", "List the receipts of landed units"),
        Verb(
            "receipt-key make",
            "truth",
            _CLI + "receipts.key_make",
            "Create the key that signs receipts on this runner",
            PERSON,
        ),
        Verb(
            "receipt-key show",
            "truth",
            _CLI + "receipts.key_show",
            "Show the signing key's path and the trusted keys",
        ),
        Verb("account", "verdicts", _CLI + "plans.account", "Show where every declared unit is"),
        Verb("reconcile", "verdicts", _CLI + "verify.reconcile", 'Compare a "done" claim with git'),
        Verb(
            "plan", "plans", _CLI + "plans.plan", "Compare what the plans claim with what git shows"
        ),
        Verb(
            "packet",
            "plans",
            _CLI + "plans.packet",
            "Show the units that can be dispatched now, with prompts",
        ),
        Verb(
            "enumerate",
            "plans",
            _CLI + "plans.enumerate",
            "List the units that a plan document declares",
        ),
        Verb("gate", "verdicts", _CLI + "plans.gate", "Explain why a dispatch started nothing"),
        Verb(
            "pickable",
            "verdicts",
            _CLI + "plans.pickable",
            "Check whether a worker may take a unit now",
        ),
        Verb(
            "cooldown",
            "verdicts",
            _CLI + "plans.cooldown",
            "Check whether a unit is on cooldown after a failed attempt",
        ),
        Verb(
            "pick-priority",
            "verdicts",
            _CLI + "plans.pick_priority",
            "Compute the sort key of a unit among units of one rank",
        ),
        Verb(
            "health",
            "verdicts",
            _CLI + "lanes.health",
            "Decide whether to launch a worker on a lane",
        ),
        Verb(
            "attempt",
            "runs",
            _CLI + "plans.attempt",
            "Record that an attempt on a unit ended, and how",
        ),
        Verb(
            "decide",
            "runs",
            _CLI + "loop.decide",
            "Decide whether a loop continues after an iteration",
        ),
        Verb("why", "runs", _CLI + "loop.why", "Explain how each iteration of a run was decided"),
        Verb(
            "replay",
            "runs",
            _CLI + "loop.replay",
            "Check that a run's recorded evidence yields its decisions",
        ),
        Verb(
            "timeline",
            "runs",
            _CLI + "runs.timeline",
            "Show what happened in a run, when, and how long it took",
        ),
        Verb(
            "run begin",
            "runs",
            _CLI + "runs.run_begin",
            "Declare the goal and the steps of a run before it starts",
        ),
        Verb(
            "run claim",
            "runs",
            _CLI + "runs.run_claim",
            "Record the claim that a commit did a step of a run",
        ),
        Verb(
            "run verify",
            "runs",
            _CLI + "runs.run_verify",
            "Verify by git that a commit did a step, and record it",
        ),
        Verb(
            "run suspend",
            "runs",
            _CLI + "runs.run_suspend",
            "Suspend a run so that it can be resumed later",
        ),
        Verb("run end", "runs", _CLI + "runs.run_end", "Record how a run ended"),
        Verb(
            "resume",
            "runs",
            _CLI + "runs.resume",
            "Show where a stopped run can resume, or end a pause",
            PERSON,
        ),
        Verb(
            "rewind", "runs", _CLI + "runs.rewind", "Propose the turn to cut a conversation back to"
        ),
        Verb(
            "complete",
            "runs",
            _CLI + "runs.complete",
            "Check whether everything that a run declared is done",
        ),
        Verb(
            "verify-result",
            "runs",
            _CLI + "claims.verify_result",
            "Check that a conversation ended with an answer",
        ),
        Verb(
            "halt",
            "runs",
            _CLI + "runs.halt",
            "Stop a run now, or record that a process should stop",
            PERSON,
        ),
        Verb("trace", "runs", _CLI + "runs.trace", "Show everything recorded about a run"),
        Verb(
            "salvage list",
            "runs",
            _CLI + "salvage.list",
            "List saved work that has not landed, newest first",
        ),
        Verb(
            "salvage show",
            "runs",
            _CLI + "salvage.show",
            "Show a saved work: its run, why it was saved, its files",
        ),
        Verb(
            "salvage apply",
            "runs",
            _CLI + "salvage.apply",
            "Apply saved work to this work tree as uncommitted changes",
            PERSON,
        ),
        Verb("salvage drop", "runs", _CLI + "salvage.drop", "Delete saved work", PERSON),
        Verb(
            "liveness",
            "verdicts",
            _CLI + "loop.liveness",
            "Decide whether a run makes progress or only runs",
        ),
        Verb(
            "convergence",
            "verdicts",
            _CLI + "loop.convergence",
            "Decide whether the remaining work shrinks round by round",
        ),
        Verb(
            "productivity",
            "verdicts",
            _CLI + "loop.productivity",
            "Decide whether the steps of a run yield less and less",
        ),
        Verb(
            "efficiency",
            "verdicts",
            _CLI + "loop.efficiency",
            "Decide whether the work done was worth its tokens",
        ),
        Verb(
            "improve",
            "verdicts",
            _CLI + "loop.improve",
            "Decide whether to keep a change made to improve something",
        ),
        Verb(
            "breaker",
            "verdicts",
            _CLI + "loop.breaker",
            "Decide whether a failure has repeated often enough to stop",
        ),
        Verb(
            "recurring",
            "verdicts",
            _CLI + "loop.recurring",
            "Decide whether a run's stop reason has recurred in others",
        ),
        Verb(
            "arbitrate",
            "lanes",
            _CLI + "lanes.arbitrate",
            "Show which lane could be granted, given the live leases",
        ),
        Verb("lease-lane acquire", "lanes", _CLI + "lanes.acquire", "Take a lease on a lane"),
        Verb(
            "lease-lane heartbeat",
            "lanes",
            _CLI + "lanes.heartbeat",
            "Renew the lease that you hold on a lane",
        ),
        Verb(
            "lease-lane release",
            "lanes",
            _CLI + "lanes.release",
            "Release the lease that you hold on a lane",
            PERSON_OR_HOLDER,
        ),
        Verb("lease-lane live", "lanes", _CLI + "lanes.live", "List the leases and their holders"),
        Verb("lease-lane wait", "lanes", _CLI + "lanes.wait", "Wait until a lane is free"),
        Verb(
            "lease-lane adopt",
            "lanes",
            _CLI + "lanes.adopt",
            "Take over a lease that another owner holds",
            PERSON_OR_HOLDER,
        ),
        Verb(
            "lease-lane reap",
            "lanes",
            _CLI + "lanes.reap",
            "Release leases whose process has exited",
            PERSON_OR_HOLDER,
        ),
        Verb(
            "lease-lane spawn",
            "lanes",
            _CLI + "lanes.spawn",
            "Record that a worker is about to start on a lane",
        ),
        Verb(
            "scope-gate",
            "lanes",
            _CLI + "lanes.scope_gate",
            "Check that changed files belong to the lane",
        ),
        Verb("lease acquire", "lanes", _CLI + "locks.acquire", "Take the archive lock"),
        Verb("lease release", "lanes", _CLI + "locks.release", "Release the archive lock"),
        Verb("lease status", "lanes", _CLI + "locks.status", "Show who holds the archive lock"),
        Verb(
            "journal tail",
            "journal",
            _CLI + "journal.tail",
            "Show the newest events, one JSON object a line",
        ),
        Verb(
            "journal show", "journal", _CLI + "journal.show", "Show one event with all its fields"
        ),
        Verb(
            "journal check",
            "journal",
            _CLI + "journal.check",
            "Check the journal for damage and contradictions",
        ),
        Verb(
            "journal replay",
            "journal",
            _CLI + "journal.replay",
            "Show the live leases in the format of dos-kernel ≤ 0.30",
        ),
        Verb(
            "journal seq", "journal", _CLI + "journal.seq", "Show the position of the newest event"
        ),
        Verb(
            "journal export", "journal", _CLI + "journal.export", "Write the journal as JSON lines"
        ),
        Verb(
            "journal import",
            "journal",
            _CLI + "journal.import_",
            "Import JSON lines into the journal",
            PERSON,
        ),
        Verb(
            "journal prune",
            "journal",
            _CLI + "journal.prune",
            "Remove old events that later events have superseded",
            PERSON,
        ),
        Verb(
            "journal compact",
            "journal",
            _CLI + "journal.compact",
            "Prune the journal, with the output of dos-kernel ≤ 0.30",
            PERSON,
        ),
        Verb(
            "id-alloc allocate",
            "journal",
            _CLI + "journal.id_alloc",
            "Allocate the next number of a scope",
        ),
        Verb(
            "id-alloc peek",
            "journal",
            _CLI + "journal.id_peek",
            "Show the last number allocated in a scope",
        ),
        Verb("run-id mint", "journal", _CLI + "runs.run_id_mint", "Generate a run id"),
        Verb(
            "hooks git",
            "workspace",
            _CLI + "hooks.git",
            "Let git refuse commits that an agent makes outside its lane",
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
        # fmt: on
    )
}
