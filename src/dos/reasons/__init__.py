"""One table of stops, holds and refusals."""
