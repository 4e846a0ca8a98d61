"""The hooks of agent programs: what each program sends and understands, and what dos answers."""
