"""Acts: the supervisor, the workers, and the driver that performs their effects."""
