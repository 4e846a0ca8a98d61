"""What was measured of the work, as it is written down."""
