// CUDA on threads of this computer, just enough for the generated text: a thread for each CUDA thread, small warps and blocks,
// barriers of the standard library. It tries the code's logic, its barriers included; it says nothing of its speed.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define pause emulated_pause  // <unistd.h> has one
#define EMULATED
#define WARP 4u
#define BLOCK 8u
#define NEAR 4u
#define WALK_BYTES 512u
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __launch_bounds__(a, b)
#define FN [[maybe_unused]] static

struct Dim {
  unsigned x;
};
static thread_local Dim threadIdx, blockIdx;
static Dim gridDim;

// What a block shares: its barriers, a word for each lane, and its shared memory by name.
struct Block {
  std::barrier<> all{BLOCK};
  std::vector<std::unique_ptr<std::barrier<>>> warps;
  unsigned words[BLOCK];
  std::mutex lock;
  std::map<std::string, std::unique_ptr<char[]>> shared;
  Block() {
    for (unsigned w = 0; w < BLOCK / WARP; w++) warps.push_back(std::make_unique<std::barrier<>>(WARP));
  }
  void* named(const char* name, size_t size) {
    std::lock_guard<std::mutex> hold(lock);
    auto& place = shared[name];
    if (!place) {
      place.reset(new char[size + 64]);
      // Shared memory holds anything at first.
      memset(place.get(), 0xa5, size + 64);
    }
    return (void*)(((uintptr_t)place.get() + 63) & ~(uintptr_t)63);
  }
};
static thread_local Block* block_of;
#define SHARED(type, name) type& name = *(type*)block_of->named(#name, sizeof(type))

static void __syncthreads() { block_of->all.arrive_and_wait(); }
static void __syncwarp() { block_of->warps[threadIdx.x / WARP]->arrive_and_wait(); }
// Every lane of the warp gives a word and takes the one of lane `from`.
static unsigned exchange(unsigned x, unsigned from) {
  block_of->words[threadIdx.x] = x;
  __syncwarp();
  const unsigned y = block_of->words[threadIdx.x / WARP * WARP + from % WARP];
  __syncwarp();
  return y;
}
static unsigned lane() { return threadIdx.x % WARP; }
static unsigned __shfl_sync(unsigned, unsigned x, unsigned from, unsigned) { return exchange(x, from); }
static unsigned __shfl_up_sync(unsigned, unsigned x, unsigned by, unsigned) { return exchange(x, lane() >= by ? lane() - by : lane()); }
static unsigned __shfl_xor_sync(unsigned, unsigned x, unsigned by, unsigned) { return exchange(x, lane() ^ by); }
static unsigned __ballot_sync(unsigned, bool x) {
  unsigned out = 0;
  for (unsigned i = 0; i < WARP; i++) out |= (exchange(x, i) != 0) << i;
  return out;
}
static int __any_sync(unsigned mask, bool x) { return __ballot_sync(mask, x) != 0; }
// A lane by itself: the lanes of a warp need not stay together.
static unsigned active_lanes() { return 1u << lane(); }
static void regroup() {}
typedef char* near;
static near near_of(const void* p) { return (near)p; }
static char* at_near(near at) { return at; }
static unsigned count_up(near at) { return __atomic_fetch_add((unsigned*)at, 1u, __ATOMIC_RELAXED); }
static unsigned shuffle(unsigned, unsigned x, unsigned) { return x; }
template <class T>
static constexpr bool brings() { return false; }
template <class T>
static void bring(T*, const T*) {}
static void brought() {}
static void pause(unsigned) { std::this_thread::yield(); }
static unsigned long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static int __ffs(int x) { return __builtin_ffs(x); }
static int __ffsll(long long x) { return __builtin_ffsll(x); }
static unsigned long long __brevll(unsigned long long x) {
  unsigned long long r = 0;
  for (int i = 0; i < 64; i++) r |= (x >> i & 1) << (63 - i);
  return r;
}
static unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_DEVICE 0
#define __NV_THREAD_SCOPE_SYSTEM 0
#define __nv_atomic_load_n(p, o, s) __atomic_load_n(p, o)
#define __nv_atomic_store_n(p, v, o, s) __atomic_store_n(p, v, o)
#define __nv_atomic_exchange_n(p, v, o, s) __atomic_exchange_n(p, v, o)
#define __nv_atomic_compare_exchange_n(p, e, d, w, so, fo, s) __atomic_compare_exchange_n(p, e, d, w, so, fo)
#define __nv_atomic_thread_fence(o, s) __atomic_thread_fence(o)
template <class T, class F>
static T exchange_until(T* p, F f) {
  T old, next;
  __atomic_load(p, &old, __ATOMIC_SEQ_CST);
  do next = f(old);
  while (!__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}
#define __nv_atomic_fetch_add(p, v, o, s) exchange_until(p, [&](auto old) { return (decltype(old))(old + (v)); })
#define __nv_atomic_fetch_sub(p, v, o, s) exchange_until(p, [&](auto old) { return (decltype(old))(old - (v)); })
#define __nv_atomic_fetch_and(p, v, o, s) exchange_until(p, [&](auto old) { return (decltype(old))(old & (v)); })
#define __nv_atomic_fetch_or(p, v, o, s) exchange_until(p, [&](auto old) { return (decltype(old))(old | (v)); })
#define __nv_atomic_fetch_xor(p, v, o, s) exchange_until(p, [&](auto old) { return (decltype(old))(old ^ (v)); })
#define __nv_atomic_fetch_min(p, v, o, s) exchange_until(p, [&](auto old) { return (v) < old ? (decltype(old))(v) : old; })
#define __nv_atomic_fetch_max(p, v, o, s) exchange_until(p, [&](auto old) { return (v) > old ? (decltype(old))(v) : old; })

template <class F>
static void launch(unsigned blocks, F kernel) {
  gridDim.x = blocks;
  std::vector<std::unique_ptr<Block>> all;
  std::vector<std::thread> threads;
  for (unsigned b = 0; b < blocks; b++) {
    all.push_back(std::make_unique<Block>());
    for (unsigned t = 0; t < BLOCK; t++)
      threads.emplace_back([&, b, t, block = all[b].get()] {
        threadIdx.x = t;
        blockIdx.x = b;
        block_of = block;
        kernel();
      });
  }
  for (auto& thread : threads) thread.join();
}
