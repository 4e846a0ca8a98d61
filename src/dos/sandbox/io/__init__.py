"""Probes the kernel, and starts programs behind walls."""
