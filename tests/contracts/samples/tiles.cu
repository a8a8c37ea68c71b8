// Kernels that share tiles: matrices, stencils, filters, particles.

__constant__ float filter[17];

__global__ void transpose(const double* x, double* y, int width, int height) {
    __shared__ double tile[32][32 + 1];
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (i < width && j + k < height) tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * width + i];
    __syncthreads();
    i = blockIdx.y * 32 + threadIdx.x;
    j = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (i < height && j + k < width) y[(j + k) * height + i] = tile[threadIdx.x][threadIdx.y + k];
}

#define TILE 16
__global__ void __launch_bounds__(TILE * TILE) matmul(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        int x = t * TILE + threadIdx.x, y = t * TILE + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < m && x < k ? A[row * k + x] : 0.f;
        b[threadIdx.y][threadIdx.x] = y < k && col < n ? B[y * n + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}

// Jacobi's method: a tile with a rim, and the largest change of all.
__global__ void jacobi(const double* __restrict__ u, double* __restrict__ v, unsigned long long* change, int nx, int ny) {
    __shared__ double s[18][18];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int i = blockIdx.x * 16 + tx, j = blockIdx.y * 16 + ty;
    bool inside = i < nx - 1 && j < ny - 1;
    if (i < nx && j < ny) {
        s[ty][tx] = u[j * nx + i];
        if (tx == 1) s[ty][0] = u[j * nx + i - 1];
        if (ty == 1) s[0][tx] = u[(j - 1) * nx + i];
        if (tx == 16 && i + 1 < nx) s[ty][17] = u[j * nx + i + 1];
        if (ty == 16 && j + 1 < ny) s[17][tx] = u[(j + 1) * nx + i];
    }
    __syncthreads();
    double moved = 0;
    if (inside) {
        double next = 0.25 * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
        moved = fabs(next - s[ty][tx]);
        v[j * nx + i] = next;
    }
    if (__syncthreads_or(moved > 0)) atomicMax(change, (unsigned long long)__double_as_longlong(moved));
}

// Rows of a separable filter; the halo comes with the tile.
__global__ void filter_rows(const float* x, float* y, int width, int radius) {
    extern float __shared__ row[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    for (int k = threadIdx.x; k < blockDim.x + 2 * radius; k += blockDim.x) {
        int at = min(max((int)(blockIdx.x * blockDim.x) + k - radius, 0), width - 1);
        row[k] = x[j * width + at];
    }
    __syncthreads();
    if (i >= width) return;
    float sum = 0;
    for (int k = -radius; k <= radius; ++k) sum = fmaf(filter[k + radius], row[threadIdx.x + radius + k], sum);
    y[j * width + i] = sum;
}

// A stencil in three dimensions that walks along z with its values in registers.
template <int R>
__global__ void laplace(const float* in, float* out, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < R || i >= nx - R || j < R || j >= ny - R) return;
    const int plane = nx * ny;
    float column[2 * R + 1];
    for (int k = 0; k < 2 * R; ++k) column[k + 1] = in[k * plane + j * nx + i];
    for (int k = R; k < nz - R; ++k) {
        for (int r = 0; r < 2 * R; ++r) column[r] = column[r + 1];
        column[2 * R] = in[(k + R) * plane + j * nx + i];
        float sum = -6 * R * column[R];
#pragma unroll
        for (int r = 1; r <= R; ++r) {
            const float* at = in + k * plane + j * nx + i;
            sum += column[R - r] + column[R + r] + at[-r] + at[r] + at[-r * nx] + at[r * nx];
        }
        out[k * plane + j * nx + i] = sum;
    }
}

// All pairs, tile by tile; position and mass in one float4.
__device__ float3 pull(float3 a, float4 me, float4 other) {
    float3 d = make_float3(other.x - me.x, other.y - me.y, other.z - me.z);
    float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 1e-3f;
    float inverse = rsqrtf(r2), s = other.w * inverse * inverse * inverse;
    a.x += d.x * s, a.y += d.y * s, a.z += d.z * s;
    return a;
}
__global__ void n_body(const float4* body, float3* acceleration, int n) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float3 a = {0.0f, 0.0f, 0.0f};
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) a = pull(a, me, tile[k]);
        __syncthreads();
    }
    acceleration[i] = a;
}

// One step of Floyd and Warshall.
__global__ void shorten_paths(int* distance, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    __shared__ int to_k;
    if (threadIdx.x == 0) to_k = distance[i * n + k];
    __syncthreads();
    if (j < n) distance[i * n + j] = min(distance[i * n + j], to_k + distance[k * n + j]);
}

// Conway's game of life on bytes, with a torus's edges.
__global__ void live(const unsigned char* now, unsigned char* next, int width, int height) {
    dim3 at(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
    if (at.x >= width || at.y >= height) return;
    int around = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy)
                around += now[(at.y + dy + height) % height * width + (at.x + dx + width) % width];
    next[at.y * width + at.x] = around == 3 || (around == 2 && now[at.y * width + at.x]);
}
