"""The table of verbs: name, module, help line and permission of each.

Parsers, help, completion, the exit-code table and the reference page are made from it. It is read
at every start, so it holds names alone; the module of a verb is imported when the verb is called.
"""

from dos.verbs.listing.effects import EFFECTS
from dos.verbs.listing.verb import PERSON, PERSON_OR_HOLDER, Verb


def _section(group: str, *rows: tuple[str, ...]) -> list[Verb]:
    """Return the verbs of a group; modules are named from `dos.cli` on.

    Raises KeyError for a verb that `effects.py` does not have.
    """
    verbs = []
    for name, module, *rest in rows:
        effect, options = EFFECTS[name]
        path = f"dos.cli.{module}"
        verbs.append(Verb(name, group, path, *rest, effect=effect, other_options=options))
    return verbs


_ALL = (
    *_section(
        "fleet",
        ("init", "workspace.init", "Inspect the repository and write dos.toml", PERSON),
        ("up", "fleet.up", "Start the fleet and keep its workers running", PERSON),
        ("down", "fleet.down", "Stop the fleet after the work in progress", PERSON),
        ("status", "fleet.status", "Show what runs, what landed, what stopped and why"),
        ("top", "fleet.top", "Watch the lanes: work, waits, landings and cost"),
        ("wait", "fleet.wait", "Wait until work landed, a question came up or nobody works"),
        ("logs", "fleet.logs", "Show the log of the agent on a lane"),
        ("report", "fleet.report", "Report what landed, with proof, and what did not"),
        ("pause", "fleet.pause", "Start nothing new on a lane or on the whole fleet", PERSON),
        (
            "service install",
            "service.install",
            "Install a system service that runs `dos up`",
            PERSON,
        ),
        (
            "service status",
            "service.status",
            "Show whether the system service is installed and running",
            PERSON,
        ),
        ("service remove", "service.remove", "Remove the system service", PERSON),
        ("worker", "fleet.worker", "Run one worker on a lane (`dos up` starts workers)", PERSON),
        (
            "serve",
            "server.serve",
            "Serve hooks, MCP, events and the read verbs on this machine",
            PERSON,
        ),
        ("web", "server.web", "Print the address of the server with its token", PERSON),
        ("loop", "fleet.loop", "Show which workers to start, reap or flag"),
        (
            "supervise",
            "fleet.supervise",
            "Plan starts and reaps from JSON lines of evidence on stdin",
        ),
        ("watch", "fleet.watch", "Record a halt proposal for each run that stopped moving"),
        (
            "demo",
            "fleet.demo",
            "Run a real fleet of scripted agents on a sample repository",
            PERSON,
        ),
        ("quickstart", "fleet.demo", "Another name for `dos demo`", PERSON),
        ("simulate", "fleet.simulate", "Test a simulated fleet with random faults, by seed"),
    ),
    *_section(
        "people",
        ("decisions", "decisions.list", "List open decisions and what waits for each"),
        ("decisions show", "decisions.show", "Show one decision, its choices and their effects"),
        (
            "decisions answer",
            "decisions.answer",
            "Answer a decision and release what waits for it",
            PERSON,
        ),
        ("decisions add", "decisions.add", "Add a decision for a person"),
        (
            "notify decisions",
            "outward.notify_decisions",
            "Tell people about open decisions, once each",
            PERSON,
        ),
        (
            "notify top",
            "outward.notify_top",
            "Tell people which lanes are at work, in one message",
            PERSON,
        ),
        ("decide-for", "decisions.answer", "Short for `decisions answer`", PERSON),
        ("limits", "limits.show", "Show provider limits, when they end, and who waits"),
        (
            "limits lift",
            "limits.lift",
            "End a provider's limit now and wake the waiting workers",
            PERSON,
        ),
        ("costs", "limits.costs", "Show the cost of landed units and of work not landed"),
    ),
    *_section(
        "truth",
        (
            "test-witness",
            "verify.test_witness",
            "Check that a test fails without a change and passes with it",
        ),
        (
            "test-witness run",
            "verify.test_witness_run",
            "Run a commit's tests with and without its change",
        ),
        ("commit-audit", "verify.commit_audit", "Check that commits do what their subjects say"),
        ("verify", "verify.verify", "Check whether a unit shipped, and show the evidence"),
        ("claims", "claims.claims", "List the units that an agent's text claims to be done"),
        ("hook stop", "hooks.stop", "Refuse an agent's stop while its claims are not in git"),
        ("hook pretool", "hooks.pretool", "Answer an agent program's hook before a tool call"),
        ("hook posttool", "hooks.posttool", "Answer an agent program's hook after a tool call"),
        ("hook marker", "hooks.marker", "Answer an agent program's hook while it may wait"),
        ("hook session", "hooks.session", "Answer an agent program's hook at session start"),
        (
            "hook-exit",
            "hooks.exit_code",
            "Decide what the exit code of another program's hook means",
        ),
        ("coverage", "claims.coverage", "Count how many dispatched sub-agents returned a result"),
        ("answer-shape", "claims.answer_shape", "Check whether a text is shaped like an answer"),
        (
            "arg-provenance",
            "claims.arg_provenance",
            "Check that the identifiers in a tool call were read before",
        ),
        (
            "witness",
            "verify.witness",
            "Check by independent sources that a claimed effect happened",
        ),
        (
            "memory recall",
            "memory.recall",
            "Check an agent's note against the repository",
        ),
        (
            "memory verify",
            "memory.verify",
            "Check all notes of an agent, the stale ones first",
        ),
        ("reward", "verify.reward", "Decide whether work may serve as a training example"),
        ("judge", "verify.judge", "Ask a judge for its opinion on a claim"),
        ("judge-eval", "verify.judge_eval", "Measure a judge's false-accept rate"),
        (
            "attest",
            "receipts.attest",
            "Sign the outcome of a command or two snapshots of a state",
            PERSON,
        ),
        (
            "verify-receipt",
            "receipts.verify_receipt",
            "Verify a receipt's signature, key, age and repository",
        ),
        ("receipt", "receipts.receipt", "Print the receipt of a landed unit"),
        ("receipts", "receipts.receipts", "List the receipts of landed units"),
        (
            "receipt-key make",
            "receipts.key_make",
            "Create the key that signs receipts on this runner",
            PERSON,
        ),
        (
            "receipt-key show",
            "receipts.key_show",
            "Show the signing key's path and the trusted keys",
        ),
    ),
    *_section(
        "verdicts",
        ("account", "plans.account", "Show where every declared unit is"),
        ("reconcile", "verify.reconcile", 'Compare a "done" claim with git'),
    ),
    *_section(
        "plans",
        ("plan", "plans.plan", "Compare what the plans claim with what git shows"),
        ("plan add", "plans.add", "Add a unit to a plan document", PERSON),
        ("packet", "plans.packet", "Show the units that can be dispatched now, with prompts"),
        ("enumerate", "plans.enumerate", "List the units that a plan document declares"),
        (
            "lifecycle tick",
            "plans.lifecycle_tick",
            "Move plans whose units have shipped to their next class",
        ),
    ),
    *_section(
        "verdicts",
        ("gate", "plans.gate", "Explain why a dispatch started nothing"),
        ("pickable", "plans.pickable", "Check whether a worker may take a unit now"),
        (
            "cooldown",
            "plans.cooldown",
            "Check whether a unit is on cooldown after a failed attempt",
        ),
        (
            "pick-priority",
            "plans.pick_priority",
            "Compute the sort key of a unit among units of one rank",
        ),
        ("scout", "loop.scout", "Choose the next activity: dispatch, replan, unstick or wait"),
        ("health", "lanes.health", "Decide whether to launch a worker on a lane"),
    ),
    *_section(
        "runs",
        ("attempt", "plans.attempt", "Record that an attempt on a unit ended, and how"),
        ("decide", "loop.decide", "Decide whether a loop continues after an iteration"),
        ("why", "loop.why", "Explain why a run continued or stopped, by iteration"),
        ("replay", "loop.replay", "Check that a run's recorded evidence yields its decisions"),
        ("timeline", "runs.timeline", "Show what happened in a run, when, and how long it took"),
        ("run begin", "runs.run_begin", "Declare the goal and the steps of a run before it starts"),
        ("run claim", "runs.run_claim", "Record the claim that a commit did a step of a run"),
        ("run verify", "runs.run_verify", "Verify by git that a commit did a step, and record it"),
        ("run suspend", "runs.run_suspend", "Suspend a run so that it can be resumed later"),
        ("run end", "runs.run_end", "Record how a run ended"),
        ("resume", "runs.resume", "Show where a stopped run can resume, or end a pause", PERSON),
        ("rewind", "runs.rewind", "Propose the turn to cut a conversation back to"),
        ("complete", "runs.complete", "Check whether everything that a run declared is done"),
        ("verify-result", "claims.verify_result", "Check that a conversation ended with an answer"),
        ("halt", "runs.halt", "Stop a run now, or record that a process should stop", PERSON),
        ("steer", "runs.steer", "Tell a running agent something while it works", PERSON),
        ("trace", "runs.trace", "Show everything recorded about a run"),
        ("salvage list", "salvage.list", "List saved work that has not landed, newest first"),
        ("salvage show", "salvage.show", "Show one piece of saved work: its run, reason and files"),
        (
            "salvage apply",
            "salvage.apply",
            "Apply saved work to this work tree as uncommitted changes",
            PERSON,
        ),
        ("salvage drop", "salvage.drop", "Delete saved work", PERSON),
    ),
    *_section(
        "verdicts",
        ("liveness", "loop.liveness", "Decide whether a run makes progress or only runs"),
        (
            "convergence",
            "loop.convergence",
            "Decide whether the remaining work shrinks round by round",
        ),
        (
            "productivity",
            "loop.productivity",
            "Decide whether the steps of a run yield less and less",
        ),
        ("efficiency", "loop.efficiency", "Decide whether the work done was worth its tokens"),
        ("improve", "loop.improve", "Decide whether to keep a change made to improve something"),
        ("breaker", "loop.breaker", "Decide whether a failure has repeated often enough to stop"),
        (
            "recurring",
            "loop.recurring",
            "Decide whether a run's stop reason has recurred in others",
        ),
    ),
    *_section(
        "lanes",
        ("arbitrate", "lanes.arbitrate", "Show which lane could be granted, given the live leases"),
        ("lease-lane acquire", "lanes.acquire", "Take a lease on a lane"),
        ("lease-lane heartbeat", "lanes.heartbeat", "Renew the lease that you hold on a lane"),
        (
            "lease-lane release",
            "lanes.release",
            "Release the lease that you hold on a lane",
            PERSON_OR_HOLDER,
        ),
        ("lease-lane live", "lanes.live", "List the leases and their holders"),
        ("lease-lane wait", "lanes.wait", "Wait until a lane is free"),
        (
            "lease-lane adopt",
            "lanes.adopt",
            "Take over a lease that another owner holds",
            PERSON_OR_HOLDER,
        ),
        (
            "lease-lane reap",
            "lanes.reap",
            "Release leases whose process has exited",
            PERSON_OR_HOLDER,
        ),
        ("lease-lane spawn", "lanes.spawn", "Record that a worker is about to start on a lane"),
        ("whoami", "lanes.whoami", "Show which lane the caller works on, and what it may change"),
        ("scope-gate", "lanes.scope_gate", "Check that changed files belong to the lane"),
        ("lease acquire", "locks.acquire", "Take the archive lock"),
        ("lease release", "locks.release", "Release the archive lock"),
        ("lease status", "locks.status", "Show who holds the archive lock"),
    ),
    *_section(
        "journal",
        ("observe", "outward.observe", "Show the verdicts of verbs, hooks and workers on record"),
        ("export", "outward.export", "Ship verdicts to a file, statsd or OpenTelemetry", PERSON),
        ("helped", "outward.helped", "Count what hooks refused, deferred and warned of"),
        ("journal tail", "journal.tail", "Show the newest events, one JSON object a line"),
        ("journal show", "journal.show", "Show one event with all its fields"),
        ("journal check", "journal.check", "Check the journal for damage and contradictions"),
        (
            "journal replay",
            "journal.replay",
            "Show the live leases in the format of dos-kernel ≤ 0.30",
        ),
        ("journal seq", "journal.seq", "Show the position of the newest event"),
        ("journal export", "journal.export", "Write the journal as JSON lines"),
        ("journal import", "journal.import_", "Import JSON lines into the journal", PERSON),
        (
            "journal prune",
            "journal.prune",
            "Remove old events that later events have superseded",
            PERSON,
        ),
        (
            "journal compact",
            "journal.compact",
            "Prune the journal, with the output of dos-kernel ≤ 0.30",
            PERSON,
        ),
        ("reap", "journal.reap", "Remove old packets and logs, and old events", PERSON),
        ("id-alloc allocate", "journal.id_alloc", "Allocate the next number of a scope"),
        ("id-alloc peek", "journal.id_peek", "Show the last number allocated in a scope"),
        ("run-id mint", "runs.run_id_mint", "Generate a run id"),
    ),
    *_section(
        "workspace",
        (
            "hooks git",
            "hooks.git",
            "Let git refuse commits that an agent makes outside its lane",
            PERSON,
            "check",
        ),
        ("guard", "hooks.guard", "Start an agent program with the hooks and tools of dos"),
        ("hooks install", "hooks.install", "Wire the hooks of an agent program to dos", PERSON),
        (
            "hooks uninstall",
            "hooks.uninstall",
            "Remove the hooks of dos from an agent program",
            PERSON,
        ),
        ("hooks test", "hooks.test", "Try the hooks with the real agent program, offline", PERSON),
        ("agents", "agents.list", "Show the agent programs that dos knows, and what each can"),
        ("agents test", "agents.test", "Measure what a real agent program can, offline", PERSON),
        ("doctor", "workspace.doctor", "Check the workspace and show a fix for each problem"),
        ("lint", "workspace.lint", "Check dos.toml for errors"),
        ("config show", "config.show", "Show every setting with its value"),
        ("config get", "config.get", "Print the value of one setting, for scripts"),
        ("config set", "config.set", "Set one key of dos.toml", PERSON),
        (
            "config unset",
            "config.unset",
            "Remove a key from dos.toml, or an entry from its list",
            PERSON,
        ),
        ("config path", "config.path", "Print the path of dos.toml"),
        ("mcp", "mcp.mcp", "Serve the verbs to agents by MCP on stdin and stdout"),
        ("skills list", "skills.list", "List the skills, and where each is installed"),
        (
            "skills check",
            "skills.check",
            "Check that the installed skills are those of this version",
        ),
    ),
    *_section(
        "help",
        ("help", "about.help", "Show all verbs, or the help of one"),
        ("man", "about.man", "Explain a lane, a reason or a verb"),
        ("exit-codes", "about.exit_codes", "List the exit codes of every verb"),
        ("completion", "about.completion", "Print the completion script of a shell"),
        ("version", "about.version", "Print the version of dos and of Python"),
    ),
)

VERBS = {verb.name: verb for verb in _ALL}
