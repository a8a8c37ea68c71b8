// Intrinsics, mathematical functions, half numbers, atomic operations, printf: many at a time.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void integers(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = y[i];
    unsigned results[] = {
        (unsigned)__popc(a), (unsigned)__clz(a), (unsigned)__ffs(a), __brev(a),
        __byte_perm(a, b, 0x7a31), __funnelshift_l(a, b, b), __funnelshift_rc(a, b, b % 40),
        (unsigned)__mulhi((int)a, (int)b), __umulhi(a, b), (unsigned)__mul24((int)a, (int)b), __umul24(a, b),
        (unsigned)__hadd((int)a, (int)b), __urhadd(a, b), __sad((int)a, (int)b, 7u), __usad(a, b, 7u),
        (unsigned)__dp4a((int)a, (int)b, 5), __dp4a(a, b, 5u), (unsigned)min((int)a, -3), min((int)a, b), max(a, b)};
    for (int k = 0; k < 20; ++k) out[k * n + i] = results[k];
}

__global__ void wide_integers(const unsigned long long* x, unsigned long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long a = x[i];
    out[i] = __brevll(a);
    out[n + i] = __umul64hi(a, a + 3);
    out[2 * n + i] = __mul64hi((long long)a, -5);
    out[3 * n + i] = __popcll(a) + 100 * __clzll(a) + 10000 * __ffsll(a);
}

__global__ void rounded_sums(const double* x, const double* y, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[i], b = y[i];
    out[i] = __dadd_rd(a, b), out[n + i] = __dadd_ru(a, b);
    out[2 * n + i] = __dmul_rd(a, b), out[3 * n + i] = __dmul_ru(a, b);
    out[4 * n + i] = __ddiv_rd(a, b), out[5 * n + i] = __ddiv_ru(a, b);
    out[6 * n + i] = __fma_rd(a, b, a), out[7 * n + i] = __fma_ru(a, b, a);
}

__global__ void not_fused(const float* x, const float* y, float* out) {
    int i = threadIdx.x;
    out[i] = __fmul_rn(x[i], y[i]) + x[i];
}

__global__ void to_integers(const float* x, int* out, unsigned* u, long long* wide, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = __float2int_rn(x[i]), out[n + i] = __float2int_rd(x[i]), out[2 * n + i] = __float2int_rz(x[i]);
    u[i] = __float2uint_rz(x[i]);
    wide[i] = __float2ll_ru(x[i]);
}

__global__ void functions(const double* x, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[i], s, c;
    sincospi(a, &s, &c);
    double results[] = {rsqrt(a), rcbrt(a), exp10(a), sinpi(a), c, norm3d(a, 2.0, 3.0), rhypot(a, 1.0),
                        erfinv(a / 5), erfcinv(a / 2), normcdf(a), normcdfinv(a / 5), erfcx(a),
                        cyl_bessel_i0(a), __longlong_as_double(__double_as_longlong(a)),
                        (double)__expf((float)a), (double)__saturatef((float)a - 1)};
    for (int k = 0; k < 16; ++k) out[k * n + i] = results[k];
}

__global__ void halves(const __half* x, const __half* y, const __half* z, __half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = x[i] + y[i], out[n + i] = x[i] * y[i], out[2 * n + i] = x[i] / y[i];
    out[3 * n + i] = __hfma(x[i], y[i], z[i]), out[4 * n + i] = hsqrt(x[i]), out[5 * n + i] = __hmax(x[i], y[i]);
}
__global__ void from_float(const float* x, __half* h, __nv_bfloat16* b, __half* down, __half* up, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    h[i] = x[i], b[i] = x[i], down[i] = __float2half_rd(x[i]), up[i] = __float2half_ru(x[i]);
}

__global__ void fused_bfloats(const __nv_bfloat16* x, const __nv_bfloat16* y, const __nv_bfloat16* z, __nv_bfloat16* out) {
    int i = threadIdx.x;
    out[i] = __hfma(x[i], y[i], z[i]);
}

// The same memory as floats and as integers: one store is seen by the other's load.
__noinline__ __device__ float seen_as_both(float* x, int* y) {
    *x = 1.0f;
    *y = 0x40000000;
    return *x;
}
__global__ void punned(float* x) { x[1] = seen_as_both(x, (int*)x); }

// Many additions at once, from several workers.
__global__ void contended(float* f32, double* f64, unsigned long long* u64, unsigned short* u16) {
    for (int k = 0; k < 100; ++k) {
        atomicAdd(f32, 1.0f), atomicAdd(f64, 1.0), atomicAdd(u64, 1ull);
        unsigned short seen = *u16, before;
        do {
            before = seen;
            seen = atomicCAS(u16, before, (unsigned short)(before + 1));
        } while (seen != before);
    }
}

// Every thread of every block changes the same words.
__global__ void atomics(int* i32, unsigned* u32, unsigned long long* u64, float* f32, double* f64, __half2* h2,
                        unsigned short* u16) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i32[0], -1), atomicSub(&i32[1], 2), atomicMin(&i32[2], (int)t - 100), atomicMax(&i32[3], (int)t);
    atomicOr(&u32[0], 1u << t % 32), atomicAnd(&u32[1], ~(1u << t % 7)), atomicXor(&u32[2], t);
    atomicInc(&u32[3], 9u), atomicDec(&u32[4], 9u), atomicAdd_system(&u32[5], 3u);
    atomicAdd(&u64[0], 1ull << 33), atomicMax(&u64[1], (unsigned long long)t << 40);
    atomicAdd(&f32[0], 0.5f), atomicAdd(&f64[0], 0.25), atomicAdd_block(&f64[1], 1.0);
    atomicAdd(h2, __floats2half2_rn(1.0f, 0.5f));
    unsigned short seen = *u16, before;
    do {
        before = seen;
        seen = atomicCAS(u16, before, (unsigned short)(before + 3));
    } while (seen != before);
}

__global__ void prints(const char* unused, int n) {
    if (threadIdx.x < n) printf("%d|%5.2f|%s|%c|%lld|%%\n", threadIdx.x, 1.5f, "text", 'x', 1ll << 40);
    int count = printf("%d %d\n", 1, 2);
    assert(count == 2);
}
