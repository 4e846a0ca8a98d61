"""The ground that an agent works on, and how what it did there is measured, saved and landed."""
