"""Who asks, where the paths of a call lead on the disk, and the record of what was answered."""
