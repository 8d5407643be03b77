// Programs without tasks, as one writes them in CUDA.

// Boards on which all rows but ROWS at most are placed: a thread each, which goes back by a stack of its own in shared memory.
#define ROWS 10
extern "C" __global__ void queens(const unsigned* boards, unsigned count, unsigned all, unsigned long long* placements) {
    __shared__ unsigned free_of[ROWS][256];
    __shared__ unsigned left_of[ROWS][256];
    __shared__ unsigned right_of[ROWS][256];
    __shared__ unsigned columns_of[ROWS][256];
    const unsigned lane = threadIdx.x, board = blockIdx.x * 256 + lane;
    unsigned long long found = 0;
    if (board < count) {
        unsigned columns = boards[3 * board], left = boards[3 * board + 1], right = boards[3 * board + 2];
        int row = 0;
        columns_of[0][lane] = columns;
        left_of[0][lane] = left;
        right_of[0][lane] = right;
        free_of[0][lane] = all & ~(columns | left | right);
        if (columns == all) {
            found = 1;
            row = -1;
        }
        while (row >= 0) {
            const unsigned squares = free_of[row][lane];
            if (squares == 0) {
                row--;
                continue;
            }
            const unsigned queen = squares & -squares;
            free_of[row][lane] = squares ^ queen;
            columns = columns_of[row][lane] | queen;
            if (columns == all) {
                found++;
                continue;
            }
            left = (left_of[row][lane] | queen) << 1;
            right = (right_of[row][lane] | queen) >> 1;
            row++;
            columns_of[row][lane] = columns;
            left_of[row][lane] = left;
            right_of[row][lane] = right;
            free_of[row][lane] = all & ~(columns | left | right);
        }
    }
    if (found) atomicAdd(placements, found);
}

// The ordinary product by tiles in shared memory, a thread an element; `n` is a multiple of 16.
#define SIDE 16
extern "C" __global__ void product(const float* a, const float* b, float* c, unsigned n) {
    __shared__ float tile_a[SIDE][SIDE];
    __shared__ float tile_b[SIDE][SIDE];
    const unsigned x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const unsigned column = blockIdx.x % (n / SIDE) * SIDE + x, row = blockIdx.x / (n / SIDE) * SIDE + y;
    float sum = 0;
    for (unsigned k = 0; k < n; k += SIDE) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (unsigned i = 0; i < SIDE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
