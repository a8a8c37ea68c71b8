"""What a CUDA cell says, what its kernels take, and how arguments are packed for them."""
