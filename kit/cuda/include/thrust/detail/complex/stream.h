// In the place of CCCL's file of this name (13.3.5), which needs std::basic_ostream: NVRTC (12.9) has
// no streams, and <thrust/complex.h> did not compile for the want of them. Kernels print by printf.
#pragma once
