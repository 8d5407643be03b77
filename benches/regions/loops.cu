// The examples of parallel loops, as one writes them in CUDA: plain kernels of 256 threads a block. Who launches them waits where the next one depends on
// a number of the host's.

typedef unsigned long long u64;

const unsigned NONE = 0xffffffffu;
// Most centres.
const unsigned CENTRES = 64;

// All ways, by one more vertex. The ways from and to it do not change.
extern "C" __global__ void by_vertex(unsigned* ways, unsigned n, unsigned k) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * n) return;
    const unsigned first = ways[at / n * n + k];
    unsigned way = first + ways[k * n + at % n];
    if (way < first) way = NONE;
    if (way < ways[at]) ways[at] = way;
}

// How often each byte occurs, four of them to a word: a table for each block.
extern "C" __global__ void histogram(const unsigned* data, unsigned words, unsigned* counts) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        for (unsigned word = data[i], byte = 0; byte < 4; byte++, word >>= 8) atomicAdd(&own[word & 255], 1);
    }
    __syncthreads();
    if (own[threadIdx.x] != 0) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void greatest(const unsigned* counts, unsigned* most) {
    atomicMax(most, counts[threadIdx.x]);
}

__device__ float distance(float2 a, float2 b) {
    const float x = a.x - b.x, y = a.y - b.y;
    return x * x + y * y;
}

// The nearest centre of each point, and the sums of those of each centre: in the block first.
extern "C" __global__ void assign(const float2* points, unsigned count, const float2* centres, unsigned k, unsigned* nearest, double* sums,
                                  unsigned* counts, unsigned* changed) {
    __shared__ double own[2 * CENTRES];
    __shared__ unsigned own_counts[CENTRES];
    const unsigned lane = threadIdx.x, i = blockIdx.x * blockDim.x + lane;
    if (lane < k) own[2 * lane] = own[2 * lane + 1] = own_counts[lane] = 0;
    __syncthreads();
    bool other = false;
    if (i < count) {
        const float2 point = points[i];
        unsigned best = 0;
        float least = distance(point, centres[0]);
        for (unsigned c = 1; c < k; c++) {
            const float far = distance(point, centres[c]);
            if (far < least) {
                least = far;
                best = c;
            }
        }
        other = nearest[i] != best;
        if (other) nearest[i] = best;
        atomicAdd(&own[2 * best], (double)point.x);
        atomicAdd(&own[2 * best + 1], (double)point.y);
        atomicAdd(&own_counts[best], 1);
    }
    const unsigned others = __syncthreads_count(other);
    if (lane == 0 && others != 0) atomicAdd(changed, others);
    if (lane < k && own_counts[lane] != 0) {
        atomicAdd(&sums[2 * lane], own[2 * lane]);
        atomicAdd(&sums[2 * lane + 1], own[2 * lane + 1]);
        atomicAdd(&counts[lane], own_counts[lane]);
    }
}

// Each centre moves to the middle of its points, and its sums are as before.
extern "C" __global__ void advance(float2* centres, unsigned k, double* sums, unsigned* counts) {
    const unsigned c = threadIdx.x;
    if (blockIdx.x != 0 || c >= k) return;
    if (counts[c] != 0) centres[c] = make_float2((float)(sums[2 * c] / counts[c]), (float)(sums[2 * c + 1] / counts[c]));
    sums[2 * c] = sums[2 * c + 1] = counts[c] = 0;
}

// A step of a plate, and the most that a cell changed: of floats that are no less than 0 the bits are in the same order.
extern "C" __global__ void step(const float* from, float* to, unsigned width, unsigned height, unsigned* most) {
    __shared__ unsigned own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, x = at % width, y = at / width;
    unsigned change = 0;
    if (y < height) {
        float cell = from[at];
        if (x != 0 && y != 0 && x != width - 1 && y != height - 1) {
            const float before = cell;
            cell = 0.25f * (from[at - 1] + from[at + 1] + from[at - width] + from[at + width]);
            change = __float_as_uint(fabsf(cell - before));
        }
        to[at] = cell;
    }
    for (unsigned far = 16; far != 0; far /= 2) change = max(change, __shfl_down_sync(~0u, change, far));
    if (threadIdx.x % 32 == 0 && change != 0) atomicMax(&own, change);
    __syncthreads();
    if (threadIdx.x == 0 && own != 0) atomicMax(most, own);
}

// Prefix sums within each block's 1024 numbers, four to a thread, and what the block comes to.
extern "C" __global__ void scan(u64* data, unsigned count, u64* sums) {
    __shared__ u64 warps[8];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    u64 own[4], sum = 0;
    for (unsigned i = 0; i < 4; i++) own[i] = sum += first + i < count ? data[first + i] : 0;
    u64 before = sum;
    for (unsigned far = 1; far < 32; far *= 2) {
        const u64 other = __shfl_up_sync(~0u, before, far);
        if (lane >= far) before += other;
    }
    if (lane == 31) warps[warp] = before;
    before -= sum;
    __syncthreads();
    for (unsigned i = 0; i < warp; i++) before += warps[i];
    for (unsigned i = 0; i < 4; i++) {
        if (first + i < count) data[first + i] = before + own[i];
    }
    if (threadIdx.x == 255) sums[blockIdx.x] = before + sum;
}

// Adds what comes before each block, where the sums of blocks are prefix sums themselves.
extern "C" __global__ void add(u64* data, unsigned count, const u64* sums) {
    const unsigned first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (blockIdx.x == 0) return;
    for (unsigned i = 0; i < 4; i++) {
        if (first + i < count) data[first + i] += sums[blockIdx.x - 1];
    }
}
