// Sorting and transforms in shared memory, and complex numbers.
#include <cuda/std/complex>

typedef cuda::std::complex<double> complex;

// Bitonic sort of one block's keys, with their values.
__global__ void bitonic_sort(unsigned int* keys, unsigned int* values, int n, unsigned int ascending) {
    extern __shared__ unsigned int room[];
    unsigned int *k = room, *v = room + n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = keys[i], v[i] = values[i];
    for (unsigned size = 2; size <= n; size <<= 1)
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (unsigned t = threadIdx.x; t < n / 2; t += blockDim.x) {
                unsigned direction = size == n ? ascending : ascending ^ ((t & (size / 2)) != 0);
                unsigned at = 2 * t - (t & (stride - 1));
                if ((k[at] > k[at + stride]) == direction) {
                    unsigned a = k[at], b = v[at];
                    k[at] = k[at + stride], v[at] = v[at + stride];
                    k[at + stride] = a, v[at + stride] = b;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = k[i], values[i] = v[i];
}

// One bit of a radix sort, by votes; a warp sorts its 32 keys.
__global__ void radix_sort(unsigned short* x) {
    unsigned lane = threadIdx.x % 32, key = x[blockIdx.x * 32 + lane];
    __shared__ unsigned room[32];
    for (int bit = 0; bit < 16; ++bit) {
        unsigned ones = __ballot_sync(~0u, key >> bit & 1), below = (1u << lane) - 1;
        unsigned place = key >> bit & 1 ? __popc(~ones) + __popc(ones & below) : __popc(~ones & below);
        room[place] = key;
        __syncwarp();
        key = room[lane];
        __syncwarp();
    }
    x[blockIdx.x * 32 + lane] = key;
}

// Walsh's transform of a block's values.
__global__ void walsh(float* x, int log2_n) {
    extern __shared__ float s[];
    const int n = 1 << log2_n;
    float* mine = x + blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = mine[i];
    for (int stride = n / 2; stride >= 1; stride >>= 1) {
        __syncthreads();
        for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
            int low = t & (stride - 1), i = (t << 1) - low, j = i + stride;
            float a = s[i], b = s[j];
            s[i] = a + b, s[j] = a - b;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = s[i];
}

// Fourier's transform with float2, in place, one block.
__global__ void fourier(float2* x, int log2_n) {
    extern __shared__ float2 f[];
    int n = 1 << log2_n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) f[__brev(i) >> (32 - log2_n)] = x[i];
    for (int half = 1; half < n; half *= 2) {
        __syncthreads();
        for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
            int k = t % half, i = t / half * 2 * half + k;
            float s, c;
            sincospif(-(float)k / half, &s, &c);
            float2 a = f[i], b = f[i + half];
            float2 w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
            f[i] = make_float2(a.x + w.x, a.y + w.y);
            f[i + half] = make_float2(a.x - w.x, a.y - w.y);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = f[i];
}

// The same as a sum, with libcu++'s complex numbers.
__global__ void fourier_sum(const complex* x, complex* y, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    complex sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * cuda::std::polar(1.0, -2 * 3.14159265358979323846 * i * k / n);
    y[k] = sum;
}

// Newton's method for z^3 = 1.
__global__ void newton(const complex* start, int* root, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    complex z = start[i];
    for (int k = 0; k < 60; ++k) z -= (z * z * z - 1.0) / (3.0 * z * z);
    root[i] = z.real() > 0 ? 0 : z.imag() > 0 ? 1 : 2;
}
