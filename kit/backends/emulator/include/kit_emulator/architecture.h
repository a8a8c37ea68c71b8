// Which device the cell's code believes to be compiled for (device_macros.py has the same numbers).
#pragma once

#ifndef KIT_EMULATED_ARCHITECTURE  // what the cell was compiled for, defined before it
#define KIT_EMULATED_ARCHITECTURE 800
#endif
#define __CUDA_ARCH__ KIT_EMULATED_ARCHITECTURE
#define __CUDA_ARCH_LIST__ KIT_EMULATED_ARCHITECTURE
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9

// __CUDACC__ in the cell's own text; NVIDIA's headers are not to see that name.
#define KIT_CUDACC 1
#define KIT_CUDACC_RTC 1

// thrust::complex without the rest of Thrust: algorithms of the host.
#define THRUST_HOST_SYSTEM 1    // THRUST_HOST_SYSTEM_CPP
#define THRUST_DEVICE_SYSTEM 4  // THRUST_DEVICE_SYSTEM_CPP
