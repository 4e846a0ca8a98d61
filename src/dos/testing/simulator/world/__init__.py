"""What a simulated fleet lives in: clock, repository, settings, plans and the scheduler of its processes."""
