// Breadth-first search level by level, as one writes it in CUDA: a kernel a level, and the host asks after each how many vertices were found.
// A lane follows the edges of its vertex, and its warp those of a vertex of many.

const unsigned NONE = 0xffffffffu;
const unsigned MANY = 32;

__device__ void reach(unsigned target, unsigned step, unsigned* steps, unsigned* next, unsigned* found) {
    if (steps[target] == NONE && atomicCAS(&steps[target], NONE, step) == NONE) {
        next[atomicAdd(found, 1)] = target;
    }
}

extern "C" __global__ void level(const unsigned* offsets, const unsigned* targets, unsigned* steps, const unsigned* vertices, unsigned count,
                                 unsigned* next, unsigned* found, unsigned step) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    unsigned first = 0;
    unsigned end = 0;
    if (thread < count) {
        unsigned vertex = vertices[thread];
        first = offsets[vertex];
        end = offsets[vertex + 1];
    }
    bool many = end - first >= MANY;
    for (unsigned left = __ballot_sync(~0u, many); left != 0; left &= left - 1) {
        int owner = __ffs(left) - 1;
        unsigned to = __shfl_sync(~0u, end, owner);
        for (unsigned edge = __shfl_sync(~0u, first, owner) + lane; edge < to; edge += 32) {
            reach(targets[edge], step, steps, next, found);
        }
    }
    if (!many) {
        for (unsigned edge = first; edge < end; edge++) {
            reach(targets[edge], step, steps, next, found);
        }
    }
}
