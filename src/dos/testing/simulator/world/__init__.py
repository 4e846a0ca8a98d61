"""The simulated world: scheduler, clock, hosts, repository, workspace, texts and faults."""
