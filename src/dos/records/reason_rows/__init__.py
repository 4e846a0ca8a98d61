"""The rows of the one table of reasons, by what they are reasons for."""
