"""Claims of agents: what an agent said, and whether its words can be relied on."""
