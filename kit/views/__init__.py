"""What `kit.arrayview` is made of: sources, ghosts, indices, memory."""
