"""The parts of the artifact store, one idea a file; `kit.cache` is its front."""
