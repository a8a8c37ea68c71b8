// Number crunching thread by thread: finance, fractals, random numbers, sparse matrices, bytes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float normal_cdf(float d) {
    const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * __expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    return d > 0 ? 1.0f - tail : tail;
}
__global__ void __launch_bounds__(128) black_scholes(
    float2* __restrict__ result, const float* __restrict__ price, const float* __restrict__ strike,
    const float* __restrict__ years, float riskless, float volatility, int n) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    float root = __fsqrt_rn(years[i]);
    float d1 = __fdividef(__logf(price[i] / strike[i]) + (riskless + 0.5f * volatility * volatility) * years[i],
                          volatility * root);
    float d2 = d1 - volatility * root, discount = __expf(-riskless * years[i]);
    result[i].x = price[i] * normal_cdf(d1) - strike[i] * discount * normal_cdf(d2);
    result[i].y = strike[i] * discount * (1.0f - normal_cdf(d2)) - price[i] * (1.0f - normal_cdf(d1));
}

__global__ void mandelbrot(uchar4* image, int width, int height, double scale) {
    const int ix = blockDim.x * blockIdx.x + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= width || iy >= height) return;
    double cx = (ix - width * 0.5) * scale - 0.5, cy = (iy - height * 0.5) * scale, x = 0, y = 0;
    int m = 0;
    while (m < 255 && x * x + y * y <= 4) {
        double t = __dadd_rn(__dsub_rn(__dmul_rn(x, x), __dmul_rn(y, y)), cx);
        y = __dadd_rn(__dmul_rn(2 * x, y), cy);
        x = t;
        ++m;
    }
    image[width * iy + ix] = make_uchar4(m, 255 - m, m * 3, 0);
}

// pi by Monte Carlo; each thread has a generator of its own.
__global__ void monte_carlo(unsigned long long* hits, int n_each) {
    unsigned int state = blockIdx.x * blockDim.x + threadIdx.x + 12345u;
    unsigned int mine = 0;
    for (int k = 0; k < n_each; ++k) {
        state = 1664525u * state + 1013904223u;
        float x = (state >> 8) * 0x1p-24f;
        state = 1664525u * state + 1013904223u;
        float y = (state >> 8) * 0x1p-24f;
        mine += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 1.0f;
    }
    for (int lane = 16; lane > 0; lane >>= 1) mine += __shfl_xor_sync(0xffffffff, mine, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, (unsigned long long)mine);
}

// Rows of a sparse matrix: one thread for each, and one warp for each.
__global__ void spmv(const int* start, const int* column, const double* value, const double* x, double* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int k = start[row]; k < start[row + 1]; ++k) sum += value[k] * __ldg(&x[column[k]]);
    y[row] = sum;
}
__global__ void spmv_by_warps(const int* start, const int* column, const double* value, const double* x, double* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}

// Quantised: four products of bytes in one instruction.
__global__ void quantised_dot(const int* a, const char4* b, const uchar4* c, int* signed_dot, unsigned int* unsigned_dot, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int packed = *reinterpret_cast<const int*>(&b[i]);
    atomicAdd(signed_dot, __dp4a(a[i], packed, 0));
    atomicAdd(unsigned_dot, __dp4a(c[i], c[i], 0u));
}

__global__ void half2_axpy(__half a, const __half2* x, __half2* y, float* norm, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = __hfma2(__half2half2(a), x[i], y[i]);
    float2 v = __half22float2(y[i]);
    norm[i] = hypotf(v.x, v.y);
}
__global__ void bfloat_scale(const __nv_bfloat16* x, __nv_bfloat16* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * factor);
}

// Grey values of pixels, text in capitals, differing bits.
__global__ void grey(const uchar4* rgba, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (77 * rgba[i].x + 151 * rgba[i].y + 28 * rgba[i].z) >> 8;
}
__global__ void capitals(char* text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && text[i] >= 'a' && text[i] <= 'z') text[i] ^= 0x20;
}
__global__ void hamming(const unsigned long long* a, const unsigned long long* b, int* distance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = __popcll(a[i] ^ b[i]) + 1000 * __clzll(a[i]) + 100000 * __ffsll(b[i]);
}

// What a device's architecture decides.
__global__ void compiled_for(int* out) {
    *out = 0;
#if __CUDA_ARCH__ >= 700
    *out = 700;
#endif
#ifdef __CUDACC__
    *out += 1;
#endif
}
