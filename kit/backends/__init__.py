"""One module per way to run code, and what they share; each imports its toolchain when used."""
