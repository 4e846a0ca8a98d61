"""May an agent do this? One pure answer, before it is done; hooks and protocols only carry it."""
