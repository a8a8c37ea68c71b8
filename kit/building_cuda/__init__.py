"""From a CUDA cell to its cubins: options, store or NVRTC, errors in the cell's own lines."""
