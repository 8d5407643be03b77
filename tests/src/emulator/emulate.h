// CUDA on one thread of this computer, just enough for the generated text: a fiber for each CUDA thread, small warps and blocks. Who goes on is
// drawn by lot at every barrier and at atomic operations, so that a seed is an interleaving, and the same seed the same one. It tries the code's
// logic, its barriers included; it says nothing of its speed. Of accesses between these, and of memory orders, it says something behind `watch.h` alone.
//
// Every test reads it anew for each of its programs: headers of C++ take longer to read than all that follows, and so do those of C behind them.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define pause emulated_pause  // <unistd.h> has one
#define EMULATED
#define WARP 4u
#define BLOCK 8u
#define NEAR 4u
#define WALK_BYTES 520u
// So little that every way out of them is taken all the time.
#define PRIVATE_PLACES 11u
#define MOST_WAVEFRONTS 12u
#define LEAST_WAVEFRONTS 2u
#define LOOKS_AROUND 2u
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __launch_bounds__(...)
// In line, so that a race is told with the line that called.
#ifdef WATCHED
#define FN [[maybe_unused]] __attribute__((always_inline)) static inline
#else
#define FN [[maybe_unused]] static
#endif

struct Dim {
  volatile unsigned x;  // changes whenever another thread goes on
};
static Dim threadIdx, blockIdx, gridDim;

#ifndef WATCHED
#define QUIET inline
template <class Each>
static void watch_meeting(unsigned, Each) {}
static void watch_atomic(const void*, unsigned, bool, bool, int, void*) {}
static void watch_fence() {}
static void watch_begins(unsigned) {}
static unsigned watched_thread;
#endif

// A CUDA thread: the first place on its stack, where every kernel begins, and the one where it goes on.
struct Fiber {
  unsigned thread, block;
  uint64_t wakes;  // by how many turns are left
  jmp_buf first, here;
};
static unsigned number_of(const Fiber* fiber) { return fiber->block * BLOCK + fiber->thread; }
// Where fibers wait for each other.
struct Barrier {
  unsigned expected, count;
  Fiber* waiting[BLOCK];
};
// Shared memory of all blocks, one behind the other.
constexpr size_t MOST_SHARED = 256 << 10, MOST_BLOCKS = 256, MOST_DECLARED = 64;
static char* const shared_memory =
    (char*)mmap(nullptr, MOST_BLOCKS * MOST_SHARED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
// What a block shares: its barriers, a word for each lane, and its shared memory, by the number of its declaration.
struct Block {
  char* next;  // where the next declaration goes
  Barrier all, warps[BLOCK / WARP];
  unsigned words[BLOCK];
  void* shared[MOST_DECLARED];
  QUIET void begin(char* memory) {
    next = memory;
    all = Barrier{BLOCK, 0, {}};
    for (Barrier& warp : warps) warp = Barrier{WARP, 0, {}};
    memset(shared, 0, sizeof(shared));
  }
  QUIET void* place(unsigned number, size_t size) {
    if (number >= MOST_DECLARED) abort();
    if (!shared[number]) {
      shared[number] = next;
      next += (size + 63) & ~(size_t)63;
      // Shared memory holds anything at first.
      memset(shared[number], 0xa5, size);
    }
    return shared[number];
  }
};
static unsigned declarations;
#define SHARED(type, name)                          \
  static const unsigned name##_at = declarations++; \
  type& name = *(type*)blocks_of_launch[blockIdx.x].place(name##_at, sizeof(type))
#define COMMON(type, name, reach) \
  FN type& reach() {              \
    SHARED(type, name);           \
    return name;                  \
  }

static Block blocks_of_launch[MOST_BLOCKS];
// Shared memory that blocks have beside what they declare.
static unsigned dynamic_of_launch;
static const unsigned dynamic_at = declarations++;
static Fiber* ready[MOST_BLOCKS * BLOCK];
static unsigned ready_count;
static Fiber* running;
static jmp_buf scheduler;
static uint64_t lots = 1;
// An atomic operation is where another goes on once in so many times; 0: never.
static unsigned switches = 8;

// How often somebody goes on, at most: who then still waits waits for ever.
static uint64_t turns_left = ~0ull;
// Who lets others go on is left behind by them for long once in so many times; 0: never. By lot alone all go on at about one speed, and nobody stands
// between two of its steps while others go through many of theirs.
static unsigned sleeps = 32;

static unsigned lot() {
  lots ^= lots << 13;
  lots ^= lots >> 7;
  lots ^= lots << 17;
  return (unsigned)(lots >> 32);
}
static void leave() {
  if (_setjmp(running->here) == 0) _longjmp(scheduler, 1);
}
static void others() {
  ready[ready_count++] = running;
  leave();
}
static void maybe_others() {
  if (!switches || lot() % switches != 0) return;
  if (sleeps && lot() % sleeps == 0) running->wakes = turns_left - lot() % 4096;
  others();
}
#ifdef WATCHED
QUIET static void end_launch() { _longjmp(scheduler, 3); }
// An access of shared memory is where another goes on once in so many times; 0: never.
static unsigned steps = 0;
QUIET static void maybe_others_at_access() {
  if (steps && lot() % steps == 0) others();
}
extern "C" void set_steps(unsigned one_in) {
  steps = one_in;
  watch_range(0, shared_memory, MOST_BLOCKS * MOST_SHARED);
}
#endif
static void meet(Barrier& barrier, bool orders = true) {
  barrier.waiting[barrier.count++] = running;
  if (barrier.count == barrier.expected) {
    if (orders) watch_meeting(barrier.expected, [&](unsigned i) { return number_of(barrier.waiting[i]); });
    memcpy(ready + ready_count, barrier.waiting, barrier.count * sizeof(Fiber*));
    ready_count += barrier.count;
    barrier.count = 0;
  }
  leave();
}
static void __syncthreads() { meet(blocks_of_launch[blockIdx.x].all); }
static void __syncwarp() { meet(blocks_of_launch[blockIdx.x].warps[threadIdx.x / WARP]); }
// That votes and shuffles order memory, too, is not promised.
static void lanes_vote() { meet(blocks_of_launch[blockIdx.x].warps[threadIdx.x / WARP], false); }
// Every lane of the warp gives a word and takes the one of lane `from`.
static unsigned exchange(unsigned x, unsigned from) {
  unsigned* const words = blocks_of_launch[blockIdx.x].words;
  words[threadIdx.x] = x;
  lanes_vote();
  const unsigned y = words[threadIdx.x / WARP * WARP + from % WARP];
  lanes_vote();
  return y;
}
static unsigned lane() { return threadIdx.x % WARP; }
static unsigned __shfl_sync(unsigned, unsigned x, unsigned from, unsigned) { return exchange(x, from); }
static unsigned __shfl_up_sync(unsigned, unsigned x, unsigned by, unsigned) { return exchange(x, lane() >= by ? lane() - by : lane()); }
static unsigned __shfl_xor_sync(unsigned, unsigned x, unsigned by, unsigned) { return exchange(x, lane() ^ by); }
static unsigned __ballot_sync(unsigned, bool x) {
  unsigned* const words = blocks_of_launch[blockIdx.x].words + threadIdx.x / WARP * WARP;
  words[lane()] = x;
  lanes_vote();
  unsigned out = 0;
  for (unsigned i = 0; i < WARP; i++) out |= (words[i] != 0) << i;
  lanes_vote();
  return out;
}
static unsigned __match_any_sync(unsigned, unsigned x) {
  unsigned* const words = blocks_of_launch[blockIdx.x].words + threadIdx.x / WARP * WARP;
  words[lane()] = x;
  lanes_vote();
  unsigned out = 0;
  for (unsigned i = 0; i < WARP; i++) out |= (words[i] == x) << i;
  lanes_vote();
  return out;
}
static int __any_sync(unsigned mask, bool x) { return __ballot_sync(mask, x) != 0; }
// A lane by itself: the lanes of a warp need not stay together.
static unsigned active_lanes() { return 1u << lane(); }
static void regroup() {}
typedef char* near;
static near near_of(const void* p) { return (near)p; }
static char* at_near(near at) { return at; }
static unsigned dynamic_bytes() { return dynamic_of_launch; }
static near dynamic_memory() { return (near)blocks_of_launch[blockIdx.x].place(dynamic_at, dynamic_of_launch); }
static unsigned shuffle(unsigned, unsigned x, unsigned) { return x; }
template <class T>
static constexpr bool brings() { return false; }
template <class T>
static void bring(T*, const T*) {}
static void brought() {}
static void pause(unsigned) { others(); }
// The smaller one.
// Nothing is hidden from this compiler.
static char* hidden(char* p) { return p; }
static unsigned at_most(unsigned x, unsigned most) { return x < most ? x : most; }
static unsigned long long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}
// Time passes by lot: now and then a dispatch is long.
static unsigned long long cycles() { return lot() % 16 ? 0 : 1 << 20; }

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
#define __NV_THREAD_SCOPE_BLOCK 0
#define __NV_THREAD_SCOPE_DEVICE 0
#define __NV_THREAD_SCOPE_SYSTEM 0
// One thread of this computer runs all fibers, so that plain accesses are atomic.
template <class T>
QUIET static T load_of(const volatile T* p, int order) {
  maybe_others();
  watch_atomic((const void*)p, sizeof(T), true, false, order, __builtin_return_address(0));
  return *p;
}
template <class T, class F>
QUIET static T exchange_until(T* p, F f, int order) {
  maybe_others();
  watch_atomic(p, sizeof(T), true, true, order, __builtin_return_address(0));
  const T old = *p;
  *p = (T)f(old);
  return old;
}
template <class T, class V>
QUIET static void store_to(T* p, V value, int order) {
  maybe_others();
  watch_atomic(p, sizeof(T), false, true, order, __builtin_return_address(0));
  *p = (T)value;
}
template <class T, class V>
QUIET static bool exchange_if(T* p, T* expected, V value, int then, int otherwise) {
  maybe_others();
  const T old = *p, wanted = *expected;
  const bool is = memcmp(&old, &wanted, sizeof(T)) == 0;
  watch_atomic(p, sizeof(T), true, is, is ? then : otherwise, __builtin_return_address(0));
  *(is ? p : expected) = is ? (T)value : old;
  return is;
}
// Values are computed before, as they may be looked up where another goes on.
#define __nv_atomic_load_n(p, o, s) load_of(p, o)
#define __nv_atomic_store_n(p, v, o, s) store_to(p, v, o)
#define __nv_atomic_exchange_n(p, v, o, s) exchange_until(p, [by = (v)](auto) { return by; }, o)
#define __nv_atomic_compare_exchange_n(p, e, d, w, so, fo, s) exchange_if(p, e, d, so, fo)
#define __nv_atomic_thread_fence(o, s) watch_fence()
#define __nv_atomic_fetch_add(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return (decltype(old))(old + by); }, o)
#define __nv_atomic_fetch_sub(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return (decltype(old))(old - by); }, o)
#define __nv_atomic_fetch_and(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return (decltype(old))(old & by); }, o)
#define __nv_atomic_fetch_or(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return (decltype(old))(old | by); }, o)
#define __nv_atomic_fetch_xor(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return (decltype(old))(old ^ by); }, o)
#define __nv_atomic_fetch_min(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return by < old ? (decltype(old))by : old; }, o)
#define __nv_atomic_fetch_max(p, v, o, s) exchange_until(p, [by = (v)](auto old) { return by > old ? (decltype(old))by : old; }, o)
static unsigned count_up(near at, unsigned by = 1) {
  return exchange_until((unsigned*)at, [by](unsigned old) { return old + by; }, __ATOMIC_RELAXED);
}
static unsigned load_near(near at) { return load_of((unsigned*)at, __ATOMIC_RELAXED); }
static void store_near(near at, unsigned x) { store_to((unsigned*)at, x, __ATOMIC_RELAXED); }

static void (*kernel_of_launch)(void*);
static void* argument_of_launch;
static void fiber_main() {
  kernel_of_launch(argument_of_launch);
  _longjmp(scheduler, 2);
}
constexpr size_t STACK = 4 << 20;
// A fiber that waits at its first place. It is kept for all launches, as making one asks the system several times.
static Fiber* new_fiber() {
  static ucontext_t begin, own;
  running = new Fiber;
  getcontext(&begin);
  begin.uc_stack.ss_sp = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  begin.uc_stack.ss_size = STACK;
  begin.uc_link = nullptr;
  makecontext(
      &begin,
      +[] {
        if (_setjmp(running->first) == 0) setcontext(&own);
        fiber_main();
      },
      0);
  swapcontext(&own, &begin);
  return running;
}

// Runs a kernel to its end. How many of its threads wait for others for ever: 0, unless the kernel is wrong.
static unsigned launch_with(unsigned blocks, void (*kernel)(void*), void* argument) {
  static Fiber* fibers[MOST_BLOCKS * BLOCK];
  static unsigned made, left;
  const unsigned count = blocks * BLOCK;
  if (blocks > MOST_BLOCKS) return count;
  for (; made < count; made++) fibers[made] = new_fiber();
  gridDim.x = blocks;
  for (unsigned b = 0; b < blocks; b++) blocks_of_launch[b].begin(shared_memory + b * MOST_SHARED);
  watch_begins(count);
  kernel_of_launch = kernel;
  argument_of_launch = argument;
  memcpy(ready, fibers, count * sizeof(Fiber*));
  ready_count = count;
  for (unsigned i = 0; i < count; i++) {
    fibers[i]->thread = i % BLOCK;
    fibers[i]->block = i / BLOCK;
    fibers[i]->wakes = ~0ull;
    memcpy(fibers[i]->here, fibers[i]->first, sizeof(jmp_buf));
  }
  left = count;
  while (true) {
    const int why = _setjmp(scheduler);
    if (why == 2) left--;
    if (why == 3) break;
    if (ready_count == 0 || turns_left-- == 0) break;
    unsigned at = lot() % ready_count;
    for (unsigned tries = 0; sleeps && tries < 16 && ready[at]->wakes < turns_left; tries++) at = lot() % ready_count;
    running = ready[at];
    ready[at] = ready[--ready_count];
    threadIdx.x = running->thread;
    blockIdx.x = running->block;
    watched_thread = number_of(running);
    _longjmp(running->here, 1);
  }
  return left;
}
template <class F>
static unsigned launch(unsigned blocks, F kernel) {
  return launch_with(blocks, [](void* f) { (*(F*)f)(); }, &kernel);
}
