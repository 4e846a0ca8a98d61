"""Export and import of the journal, and the logs of dos-kernel ≤ 0.30."""
