"""Settings of test runners and CI services: which tests run, and whether a failure counts."""
