"""A disk for tests: it records what a process does to it, fails on demand, and shows what a power
cut could leave."""
