"""Where the elements of an array lie: facts, index arithmetic, overlap, foreign protocols."""
