"""From a unit to its compiled module: options, store or compiler, errors in the cell's lines."""
