"""What each verb does beside its answer, and the options by which that is another.

Every verb of the table is here: the table is not made without. The shell reader of permissions, the
doctor and the tests of the server and of MCP ask it.
"""

READS = "reads"  # it starts nothing but git and what asks its configured sources
RECORDS = "records"  # it writes to the journal or to refs, and no file of a work tree
CHANGES = "changes"  # it may change files of a work tree, or start programs

# One verb a line. With the options that it has here a verb that reads changes files, and one that
# changes files only shows what it would do.
_TEXTS = {
    READS: """
        status
        top
        wait
        logs
        report --html
        service status
        web
        loop
        supervise
        decisions
        decisions show
        limits
        costs
        test-witness
        commit-audit
        verify
        claims
        hook-exit
        coverage
        answer-shape
        arg-provenance
        memory recall
        memory verify --route
        verify-receipt
        receipt --out
        receipts
        receipt-key show
        account
        reconcile
        plan --tick
        packet --write
        enumerate
        gate
        pickable
        cooldown
        pick-priority
        scout
        health
        why
        replay
        timeline
        rewind
        complete
        verify-result
        trace
        salvage list
        salvage show
        liveness
        convergence
        productivity
        efficiency
        improve
        breaker
        recurring
        arbitrate
        lease-lane live
        lease-lane wait
        whoami
        scope-gate
        lease status
        reap --apply
        observe
        helped
        journal tail
        journal show
        journal check
        journal replay
        journal seq
        journal export --to
        id-alloc peek
        agents
        doctor --fix --deep
        lint
        config show
        config get
        config path
        skills list
        skills check
        help
        man
        exit-codes
        completion
        version
        """,
    RECORDS: """
        down
        pause
        watch
        decisions answer
        decisions add
        decide-for
        limits lift
        hook stop
        hook pretool
        hook posttool
        hook marker
        hook session
        attempt
        decide
        run begin
        run claim
        run verify
        run suspend
        run end
        resume
        halt
        steer
        salvage drop
        lease-lane acquire
        lease-lane heartbeat
        lease-lane release
        lease-lane adopt
        lease-lane reap
        lease-lane spawn
        lease acquire
        lease release
        journal import
        journal prune
        journal compact
        id-alloc allocate
        run-id mint
        """,
    CHANGES: """
        init
        up
        service install
        service remove
        worker
        serve
        demo
        quickstart
        simulate
        notify decisions
        notify top
        test-witness run
        witness
        reward
        judge
        judge-eval
        attest
        receipt-key make
        plan add
        lifecycle tick --dry-run
        salvage apply
        export
        hooks git --dry-run
        guard
        hooks install --dry-run
        hooks uninstall --dry-run
        hooks test
        agents test
        config set
        config unset
        mcp
        """,
}


def _read(texts: dict[str, str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the effect and the options of each verb, by its name."""
    found = {}
    for effect, text in texts.items():
        for line in text.split("\n"):
            name, *options = line.strip().split(" --")
            if name:
                found[name] = (effect, tuple(f"--{option}" for option in options))
    return found


EFFECTS = _read(_TEXTS)
