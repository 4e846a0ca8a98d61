"""What is held against the promises of a fleet, beside what each event shows by itself."""
