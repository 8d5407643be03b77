// A thread that runs a segment's body on channels in some memory. The body reaches them through its worker, never by a name.
template <class M>
struct Worker : Thread {
  typedef M Memory;
  static constexpr bool LONG = false;  // whether it puts long loops off
  // At a restart point: whether so many more children find room.
  __device__ __forceinline__ bool room(u32) { return true; }
};

// First pass over a tile: the body with all effects taken out counts what it will push.
template <class S, class M = DeviceMemory>
struct Counting : Worker<M> {
  static constexpr bool RUN = false, FALLIBLE = false, STAGES = false, EACH = true;
  u32 at[S::PUSHED + 1];
  u32 frame = 0;
  __device__ __forceinline__ Counting() { clear(at); }
  __device__ __forceinline__ u32 talloc(u32 push, u32 count = 1) { return (at[push] += count) - count; }
  // Whether it counts so many more at once. More than that a lane counts one by one.
  __device__ __forceinline__ bool counts(u32 push, u32 count) { return (u64)at[push] + count <= MOST_TURNS; }
  __device__ __forceinline__ void fault(u32, u64, u64) { this->failed = true; }
};

// Second pass: everything is reserved, `at` is the next element of each push; of the staged one its place in the stage, if the tile `STAGE`s.
template <class S, class M, bool STAGE>
struct Reserved : Worker<M> {
  static constexpr bool RUN = true, FALLIBLE = false, STAGES = STAGE, EACH = true, LONG = S::LONG;
  Gathered<typename S::Sum, M>& sum;
  LeafCounts<S>& leaves;
  typename S::Later later;
  __device__ __forceinline__ Reserved(Gathered<typename S::Sum, M>& all, LeafCounts<S>& ended) : sum(all), leaves(ended) {}
  u32 at[S::PUSHED + 1];
  u32 frame = 0;
  __device__ __forceinline__ u32 talloc(u32 push, u32 count = 1) { return (at[push] += count) - count; }
  __device__ __forceinline__ ptr children() { return stage_memory(); }
  template <class V>
  __device__ __forceinline__ void give(ptr to, V value) { sum.add(to, value); }
  __device__ __forceinline__ void leaf(u32 push, bool ended) { leaves.count[push] += ended; }
};

// How many children find room that an element asks for at its restart points: as many as each channel holds that it may push to.
template <class S>
FN u32 room_to_grant(const Dispatch& d) {
  u32 room = 0xffffffffu;
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) {
    if (S::turn(p)) room = d.room[p] < room ? d.room[p] : room;
  }
  return room;
}

// What each element may spawn without asking: half of the room is divided among all of a run, and one that is alone has all of it.
template <class S>
FN u32 own_grant(const Dispatch& d) {
  if constexpr (S::RESTARTS) {
    return d.count > 1 ? room_to_grant<S>(d) / 2 / d.count : room_to_grant<S>(d);
  } else {
    return 0;
  }
}

// Grants room for so many more, or for what there is. It says nothing of where they lie, so what is granted and not used leaves no hole.
template <class S>
static __device__ __noinline__ u32 grant(const Dispatch& d, u64* counter, u32 wanted) {
  u32* const granted = (u32*)&counter[S::GROUPS];
  const u32 rest = room_to_grant<S>(d) - own_grant<S>(d) * d.count;
  // Relaxed: it counts, and that is all. Where nothing is left it is not counted on, so that it never comes round.
  if (__nv_atomic_load_n(granted, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) >= rest) return 0;
  const u32 before = __nv_atomic_fetch_add(granted, wanted, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  const u32 left = rest > before ? rest - before : 0;
  return wanted < left ? wanted : left;
}

// Where pushes cannot be counted before the body has run: the lanes that spawn together reserve together.
template <class S, class M = DeviceMemory>
struct Direct : Worker<M> {
  static constexpr bool RUN = true, FALLIBLE = true, STAGES = false, EACH = true;
  const Dispatch* dispatch;
  u64* counter;  // in their low halves: who finds no room here ends the run, so it counts little beyond
  Gathered<typename S::Sum, M>& sum;
  LeafCounts<S>& leaves;
  __device__ __forceinline__ Direct(Gathered<typename S::Sum, M>& all, LeafCounts<S>& ended) : sum(all), leaves(ended) {}
  __device__ __forceinline__ void leaf(u32 push, bool ended) { leaves.count[push] += ended; }
  u32 frame = 0;
  u32 granted = 0;  // so many more children find room
  template <class V>
  __device__ __forceinline__ void give(ptr to, V value) { sum.add(to, value); }
  __device__ __forceinline__ bool room(u32 children) {
    if constexpr (S::RESTARTS) {
      if (granted < children) granted += grant<S>(*dispatch, counter, children + GRANT);
    }
    return !S::RESTARTS || granted >= children;
  }
  // The number of the element, or of the first of so many that lie side by side; `failed` if there is no room.
  __device__ __forceinline__ u32 talloc(u32 push, u32 count = 1) {
    if (S::turn(push)) granted -= count;
    const u32 peers = active_lanes(), lane = lane_id();
    const u32 leader = (u32)__ffs((i32)peers) - 1;
    u32 first = 0;
    // Relaxed: reserves only; what is written there is published by the barrier that ends the dispatch.
    if (lane == leader)
      first = __nv_atomic_fetch_add((u32*)&counter[S::group(push)], count * (u32)__popc(peers), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    first = shuffle(peers, first, leader);
    const u32 mine = first + count * (u32)__popc(peers & ((1u << lane) - 1));
    if (mine + count > dispatch->room[push]) {
      stop_run(this->control, CHANNEL_FULL, S::stack_of(push), 0, 0);
      this->failed = true;
      return 0;
    }
    return dispatch->base[push] + mine;
  }
};

// What each channel (a source) is, and what its segment pushes; generated tables in constant memory.
struct Source {
  u32 stack;
  u32 entry;       // 1: an entry channel, 0: a continuation channel
  u32 pushes, first_push;
  u32 most;        // elements that one of its own pushes to one channel, at most; 0: that depends on data
  u32 alone;       // a run of at most so many elements is not worth a grid barrier
  u32 narrow;      // one of at most so many not even a barrier of the block
  u32 tile;        // elements that are given back together for want of room; 0: none are
};
struct Push {
  u32 stack;
  u32 max;         // per element; 0: depends on data
  u32 group, ratio;
  u32 turn;        // where that depends on data: with room for so many an element gets on; 0: it has no restart points
};

// The words that a segment's body is written in. Elements reserved in a dispatch are seen by the next one, so `enq` has nothing to do.
template <class W>
FN u32 talloc(W& w, u32 push) {
  return w.talloc(push);
}
template <class W>
FN u32 talloc(W& w, u32 push, u32 count) {
  return w.talloc(push, count);
}
template <class W>
FN void enq(W&, u32, u32) {}

// What a dispatch left over, when tiles found no room.
struct Left {
  u32 bottom, count;  // where the elements lie that were not consumed, once they have been moved together
  u32 moves;          // tiles that move
};

// Where the children of a tile lie: so many of them from one place on, and the others from another.
struct Spots {
  u32 split, low, high;  // the number of the first is added to either
  __device__ __forceinline__ u32 operator()(u32 i) const {
#ifdef WORKERS
    return (i < split ? low : high) + i;
#else
    return high + i;
#endif
  }
};

// Shared memory of a block.
struct Shared {
  Dispatch dispatch;
  u32 sums[SCAN_GROUPS][WARPS * MAX_ITEMS];  // per item and warp: first unit of the warp
  u32 first[SCAN_GROUPS];                    // first unit of the tile
  u32 total[SCAN_GROUPS];
  u32 staged;                                // children of a tile that is tried; none between tiles
  u32 full;                                  // a tile found no room
#ifdef WORKERS
  u32 done;                                  // tiles of the dispatch that are done
  // Of a dispatch that pushes to the channel that it consumes, while its tiles are tried: places that are free end here, and the channel ends there.
  u32 again, hole, top;
#endif
  Spots place;                               // of a tile's children
  u32 go;
  u32 met, meetings;                         // of a master's regions: warps that wait for each other, and how often they have met
  u32 all_met;                               // whether the blocks of its crew have met
  u32 crew, crews;                           // and how many blocks a crew of blocks has, and how many such crews there are
  u32 tile;                                  // the next one
  u32 local;                                 // a run in one block: `counter` counts its pushes, not the control record's
  u64 counter[MAX_GROUPS];                   // as the control record's; their low halves count
  u32 marks[MOST_GIVEN / 32];
  u64 to[WARPS], value[WARPS];               // sums of the warps
  u32 leaves[MAX_PUSHES][WARPS];             // children that ended where they were spawned
#ifdef RECORDS
  u64 begun;  // when the block began with its dispatch
#endif
};
// Reached by its name: through a pointer the compiler would not know which memory it is in.
COMMON(Shared, of_block, shared)

// What a thread keeps in registers while it tries tiles.
struct Trying {
  Control* control;
  near staged = near_of(&shared().staged), stage = near_of(stage_memory());
};

// The one pass over a tile of a segment that only spawns children of one kind and gives results: its children are numbered as they come, into
// the stage, and its results wait, so that all of it can be forgotten. Where the stage is too small, the body runs once more: what it spawns is
// counted by then, and goes from `first` on straight into the channel. `ONCE`: all that children may inherit is kept once.
template <class S, class M, bool STAGE, bool ONCE>
struct Trial : Worker<M> {
  static constexpr bool RUN = true, FALLIBLE = false, STAGES = STAGE, EACH = !ONCE, LONG = S::LONG;
  u32 first = 0;
  u32 frame = 0;
  near staged, stage;  // how many there are, and where they lie
  typename S::Sum::Value& given;
  u32& leaves;
  typename S::Later& later;
  __device__ __forceinline__ Trial(const Trying& of, typename S::Sum::Value& all, u32& ended, typename S::Later& off)
      : staged(of.staged), stage(of.stage), given(all), leaves(ended), later(off) {
    this->control = of.control;
  }
  __device__ __forceinline__ void leaf(u32, bool ended) { leaves += ended; }
  __device__ __forceinline__ u32 talloc(u32) { return first + count_up(staged); }
  __device__ __forceinline__ u32 talloc(u32, u32 count) { return first + count_up(staged, count); }
  __device__ __forceinline__ ptr children() { return at_near(stage); }
  template <class V>
  __device__ __forceinline__ void give(ptr, V value) { given = S::Sum::join(given, value); }
};

// Copies neighbouring words to others that they do not overlap, all threads of a block together; of a thread several are under way at once.
template <class T>
FN void copy_elements(T* to, const T* from, u32 count) {
  constexpr u32 ROUND = 4;
  for (u32 at = thread_id(); at < count; at += ROUND * BLOCK) {
    T words[ROUND];
#pragma unroll
    for (u32 r = 0; r < ROUND; r++) {
      if (at + r * BLOCK < count) words[r] = from[at + r * BLOCK];
    }
#pragma unroll
    for (u32 r = 0; r < ROUND; r++) {
      if (at + r * BLOCK < count) to[at + r * BLOCK] = words[r];
    }
  }
}

FN bool any_lane(bool x) { return __any_sync(ALL_LANES, x) != 0; }
FN u32 max_lane(u32 x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(ALL_LANES, x);
#else
  for (u32 o = WARP / 2; o; o >>= 1) {
    const u32 y = __shfl_xor_sync(ALL_LANES, x, o, WARP);
    x = y > x ? y : x;
  }
  return x;
#endif
}
FN u32 min_lane(u32 x) { return ~max_lane(~x); }

// Neighbouring children are stored together, so that a level begins at a number that they divide.
FN u32 aligned(u32 top) { return (top + NEIGHBOURS - 1) & ~(NEIGHBOURS - 1); }

// Sum over the lanes up to this one.
FN u32 warp_scan(u32 x) {
  for (u32 o = 1; o < WARP; o <<= 1) {
    const u32 y = __shfl_up_sync(ALL_LANES, x, o, WARP);
    if (lane_id() >= o) x += y;
  }
  return x;
}

// What a warp's lanes have joined, for who hands over: its own place, so that nobody waits. What goes to another address than most is given right away.
template <class M>
FN void bring_sum(Shared&, Gathered<NoSum, M>&) {}
template <class R, class M>
FN void bring_sum(Shared& sh, Gathered<R, M>& sum) {
  typedef typename R::Value Value;
  const u32 some = __ballot_sync(ALL_LANES, sum.to != nullptr);
  const u32 leader = some ? (u32)__ffs((i32)some) - 1 : 0;
  const u64 to = shuffle_wide((u64)sum.to, leader);
  const bool same = (u64)sum.to == to;
  if (sum.to && !same) R::template give<M>(sum.to, sum.value);
  Value value = same && sum.to ? sum.value : R::none();
  if (some) {
    for (u32 o = WARP / 2; o; o >>= 1) value = R::join(value, from_bits<Value>(shuffle_xor_wide(bits_of(value), o)));
  }
  if (lane_id() == 0) {
    sh.to[warp_id()] = some ? to : 0;
    sh.value[warp_id()] = bits_of(value);
  }
}

// What all warps have brought: one atomic if it goes to one address.
template <class M>
FN void give_sum(const Shared&, const Gathered<NoSum, M>&) {}
template <class R, class M>
FN void give_sum(const Shared& sh, const Gathered<R, M>&) {
  Gathered<R, M> all;
  for (u32 w = 0; w < WARPS; w++) {
    if (sh.to[w]) all.add((ptr)sh.to[w], from_bits<typename R::Value>(sh.value[w]));
  }
  if (all.to) R::template give<M>(all.to, all.value);
}

// Counts children of a level that ended where they were spawned: of the first levels each by itself. The host reads it after the run.
FN void count_ended([[maybe_unused]] Control* control, [[maybe_unused]] u32 level, [[maybe_unused]] u64 count) {
  // A worker knows no levels.
#ifndef WORKERS
  if (level < device_channels.known) {
    combine_add(&control->leaves[STACKS + level], count);
  } else {
    combine_max(&control->leaves[STACKS + device_channels.known], (u64)level + 1);
  }
#endif
}

// Hands over what the threads of a block have joined, and counts the children that ended where they spawned them, a level below this dispatch's. Every
// thread calls it, and meets the others before it is called again.
template <class S, class M>
FN void hand_over(Shared& sh, [[maybe_unused]] Control* control, Gathered<typename S::Sum, M>& sum, [[maybe_unused]] const LeafCounts<S>& leaves) {
  if constexpr (!S::SUMS && !S::HAS_LEAVES) return;
  bring_sum(sh, sum);
  if constexpr (S::HAS_LEAVES) {
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) {
      const u32 upto = S::leafy(p) ? warp_scan(leaves.count[p]) : 0;
      if (lane_id() == WARP - 1) sh.leaves[p][warp_id()] = upto;
    }
  }
  __syncthreads();
  // By a warp that has nothing else to do.
  if (thread_id() != BLOCK - WARP) return;
  give_sum(sh, sum);
  if constexpr (S::HAS_LEAVES) {
    u64 all = 0;
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) {
      u64 ended = 0;
      for (u32 w = 0; w < WARPS; w++) ended += sh.leaves[p][w];
      // Relaxed: the host reads it after the run.
      if (ended) combine_add(&control->leaves[S::stack_of(p)], ended);
      all += ended;
    }
    if (all) count_ended(control, sh.dispatch.level + 1, all);
  }
}

// Counts units of a group, and gives how many were before. A tile that finds no room is counted too, one of each block beyond the room, and its
// children are as many as it finds: only 64 bits do not come round. In a block that is alone there is one tile.
FN u64 count_units(Shared& sh, Control* control, u32 group, u32 units) {
  if (units == 0) return 0;
  // Relaxed: reserves only, as in `Direct::talloc`.
  if (sh.local) return __nv_atomic_fetch_add((u32*)&sh.counter[group], units, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  return __nv_atomic_fetch_add(&control->counter[group], (u64)units, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Takes down where the room ended for a tile that found none, though it has reserved so much of a group.
FN void end_room(Shared& sh, Control* control, u64 first, [[maybe_unused]] u32 group, [[maybe_unused]] u32 units) {
  sh.full = 1;
#ifdef WORKERS
  // Tiles before it are done, and count.
  sh.counter[group] -= units;
#endif
  // Relaxed: the barrier that ends the dispatch orders it. What begins beyond 32 bits is not the first that found no room.
  if (!sh.local && first >> 32 == 0) __nv_atomic_fetch_min(&control->limit, (u32)first, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// How many units of a group find room.
template <class S>
FN u32 room_of(const Shared& sh, u32 group) {
  u32 room = 0xffffffffu;
  for (u32 p = 0; p < S::PUSHED; p++) {
    if (S::group(p) == group) room = min_of(room, sh.dispatch.room[p] / S::ratio(p));
  }
  return room;
}

// Reserves of several groups whose units depend on data: of each what the tile wants, or of none. So what is reserved has no holes, though a later tile
// may find room that wants less. One thread of a block calls it, and one block at a time is in it.
template <class S>
FN void reserve_together(Shared& sh, Control* control) {
  u64* const counter = sh.local ? sh.counter : control->counter;
  if (!sh.local) {
    // Acquire: pairs with the release of who was here before. It does nothing but the few instructions below, so that nobody waits for long.
    while (__nv_atomic_exchange_n(&control->taken, 1u, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)) pause(100);
  }
  bool fits = true;
  for (u32 g = 0; g < S::GROUPS; g++) {
    if (!S::is_loose(g)) continue;
    // Relaxed: whoever counts this group holds `taken`.
    sh.first[g] = (u32)__nv_atomic_load_n(&counter[g], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    fits &= sh.total[g] == 0 || (u64)sh.first[g] + sh.total[g] <= room_of<S>(sh, g);
  }
  for (u32 g = 0; g < S::GROUPS && fits; g++) {
    if (S::is_loose(g)) __nv_atomic_store_n(&counter[g], (u64)sh.first[g] + sh.total[g], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  if (!sh.local) __nv_atomic_store_n(&control->taken, 0u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  if (!fits) sh.full = 1;
}

// Reserves, once for the whole tile, what its elements push: `sums` holds the units of each item and warp and gets the first unit of each.
// The first warp calls it, between two barriers. Of a segment that gives back, the groups whose units depend on data come first: if one
// finds no room, nothing is reserved. Where it is just one no later tile finds room either, so that what was reserved has no holes.
template <class S>
FN void reserve_tile(Shared& sh, Control* control) {
  constexpr u32 N = WARPS * S::ITEMS;
  for (u32 g = 0; g < S::GROUPS; g++) {
    u32 carry = 0;
    [[maybe_unused]] bool beyond = false;
    for (u32 at = 0; at < N; at += WARP) {
      const u32 i = at + lane_id(), own = i < N ? sh.sums[g][i] : 0;
      const u32 upto = warp_scan(own);
      if (i < N) sh.sums[g][i] = carry + upto - own;
      const u32 sum = __shfl_sync(ALL_LANES, upto, WARP - 1, WARP);
      if constexpr (S::YIELDS) beyond |= carry + sum < carry;
      carry += sum;
    }
    // More than any channel holds is enough.
    if (lane_id() == 0) sh.total[g] = S::YIELDS && beyond ? 0xffffffffu : carry;
  }
  __syncwarp();
  if (S::YIELDS) {
    if (lane_id() == 0 && S::LOOSE_GROUPS > 1) {
      reserve_together<S>(sh, control);
    } else if (lane_id() == 0) {
      const u32 carry = sh.total[S::LOOSE];
      const u64 first = count_units(sh, control, S::LOOSE, carry);
      sh.first[S::LOOSE] = (u32)first;
      if (carry && first + carry > room_of<S>(sh, S::LOOSE)) end_room(sh, control, first, S::LOOSE, carry);
    }
    __syncwarp();
    if (sh.full) return;
  }
  u64* const counter = sh.local ? sh.counter : control->counter;
  for (u32 g = lane_id(); g < S::GROUPS; g += WARP) {
    if (S::YIELDS && S::is_loose(g)) continue;
    const u32 carry = sh.total[g];
    // Relaxed: as in `count_units`. What is pushed here is known to find room, so the low half is all of it.
    const u32 first = carry ? __nv_atomic_fetch_add((u32*)&counter[g], carry, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) : 0;
    sh.first[g] = first;
    for (u32 p = 0; p < S::PUSHED; p++) {
      if (S::group(p) == g && (u64)(first + carry) * S::ratio(p) > sh.dispatch.room[p] && carry) {
        stop_run(control, CHANNEL_FULL, S::stack_of(p), 0, 0);
        sh.full = 1;
      }
    }
  }
}

// Takes note of tiles that are given back; one thread of a block calls it.
FN void give_back(Control* control, u32 tile, u32 next, u32 tiles) {
  const u32 both = next < tiles ? 2 : 1;
  // Relaxed: the barrier that ends the dispatch publishes the list.
  const u32 at = __nv_atomic_fetch_add(&control->given, both, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  control->tiles->given[at] = tile;
  if (both == 2) control->tiles->given[at + 1] = next;
}

// The number of a block's next tile but one. One thread of a block asks.
FN u32 next_tile(Control* control, u32 tile, u32 tiles, u32 blocks, bool asks) {
  if (!asks) return tile + blocks;
  // Relaxed: each number is given out once, and that is all.
  return (blocks < tiles ? blocks : tiles) + __nv_atomic_fetch_add(&control->ticket, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Dequeues a thread's next `N` elements of a tile, those of them that are less than `count`. Every one has a value: to the compiler, what is set
// only at times lives from one dispatch to the next.
template <class S, class M, bool EACH, u32 N>
FN void load_items(typename S::Args* args, u32 first, u32 from, u32 count) {
#pragma unroll
  for (u32 j = 0; j < N; j++) {
    args[j] = {};
    if (from + j * BLOCK < count) args[j] = S::template deq<M, EACH>(first + from + j * BLOCK);
  }
}

// Second pass over a tile.
template <class S, class M, bool STAGE>
FN void run_reserved(Shared& sh, Gathered<typename S::Sum, M>& sum, LeafCounts<S>& leaves, const typename S::Args* args, const u32 (*unit)[S::ITEMS], u32 from) {
  const Dispatch& d = sh.dispatch;
  // Where a thread's items are run one after the other, a failed one ends the thread.
  Reserved<S, M, STAGE> worker(sum, leaves);
  worker.control = M::control();
#pragma unroll
  for (u32 j = 0; j < S::ITEMS; j++) {
    if (from + j * BLOCK + thread_id() / S::LANES < d.count && !worker.failed) {
#pragma unroll
      for (u32 p = 0; p < S::PUSHED; p++) {
        const u32 g = S::group(p), units = sh.sums[g][j * WARPS + warp_id()] + unit[g][j];
        worker.at[p] = STAGE && p == S::STAGE_PUSH ? units : d.base[p] + (sh.first[g] + units) * S::ratio(p);
      }
      S::run(worker, args[j]);
    }
  }
  run_long<S>(worker, worker.later);
}

// Runs elements in tiles, from the top of the run downwards: count, reserve once, run. A thread has `ITEMS` of a tile, or `LANES` threads one.
template <class S, class M = DeviceMemory>
FN void run_scanned(u32 block, u32 blocks) {
  Shared& sh = shared();
  Control* const control = M::control();
  const Dispatch& d = sh.dispatch;
  constexpr u32 TILE = BLOCK * S::ITEMS / S::LANES;
  const u32 tiles = (d.count + TILE - 1) / TILE;
  Gathered<typename S::Sum, M> sum;
  LeafCounts<S> leaves;
  for (u32 tile = block; tile < tiles;) {
    // The next tile's number is asked for now and needed at the end.
    const u32 next = next_tile(control, tile, tiles, blocks, S::YIELDS && thread_id() == 0 && !sh.local);
    // Of the lowest tile, elements before the run's first wrap around, to numbers that are too high.
    const u32 from = d.count - (tile + 1) * TILE;
    typename S::Args args[S::ITEMS];
    u32 unit[S::GROUPS + 1][S::ITEMS];
    load_items<S, M, true, S::ITEMS>(args, d.first, from + thread_id() / S::LANES, d.count);
    // So many items lie before the run's first element in all threads: of a run that is less than a tile, or of its lowest one.
    const u32 none = (tile + 1) * TILE > d.count ? ((tile + 1) * TILE - d.count) / BLOCK : 0;
#pragma unroll
    for (u32 j = 0; j < S::ITEMS; j++) {
      if (S::ITEMS > 1 && j < none) {
        for (u32 g = 0; g < S::GROUPS; g++) {
          unit[g][j] = 0;
          if (lane_id() == 0) sh.sums[g][j * WARPS + warp_id()] = 0;
        }
        continue;
      }
      const u32 i = from + j * BLOCK + thread_id() / S::LANES;
      Counting<S, M> counting;
      counting.control = control;
      if (i < d.count) S::run(counting, args[j]);
#pragma unroll
      for (u32 g = 0; g < S::GROUPS; g++) {
        const u32 own = counting.at[S::lead(g)] / S::ratio(S::lead(g));
        u32 sum;
        if (S::binary(g)) {
          const u32 who = __ballot_sync(ALL_LANES, own != 0);
          unit[g][j] = (u32)__popc(who & ((1u << lane_id()) - 1));
          sum = (u32)__popc(who);
        } else {
          const u32 upto = warp_scan(own);
          unit[g][j] = upto - own;
          sum = __shfl_sync(ALL_LANES, upto, WARP - 1, WARP);
        }
        if (lane_id() == 0) sh.sums[g][j * WARPS + warp_id()] = sum;
      }
    }
    __syncthreads();
    if (warp_id() == 0) reserve_tile<S>(sh, control);
    __syncthreads();
    if (sh.full) {
      if (S::YIELDS && thread_id() == 0 && !sh.local) give_back(control, tile, next, tiles);
      break;
    }
    // Children whose number depends on data are staged in shared memory, so that the channel is written in whole lines.
    bool staged = false;
    if constexpr (S::STAGED) {
      staged = sh.total[S::STAGE_GROUP] <= S::template capacity<true>();
      if (staged) run_reserved<S, M, true>(sh, sum, leaves, args, unit, from);
    }
    if (!staged) run_reserved<S, M, false>(sh, sum, leaves, args, unit, from);
    if constexpr (S::YIELDS) {
      if (thread_id() == 0) sh.tile = next;
    }
#ifdef WORKERS
    if (thread_id() == 0) sh.done++;
#endif
    if (S::STAGED || S::YIELDS || next < tiles) __syncthreads();
    tile = S::YIELDS ? sh.tile : next;
    if constexpr (S::STAGED) {
      if (staged) S::template flush<M, true>(Spots{0, 0, d.base[S::STAGE_PUSH] + sh.first[S::STAGE_GROUP]}, sh.total[S::STAGE_GROUP]);
    }
    if ((S::STAGED || S::YIELDS) && tile < tiles) __syncthreads();
  }
  hand_over(sh, control, sum, leaves);
}

// Reserves what a tile that was tried has spawned. One thread of a block calls it, between two barriers. `lowest` is the tile's first element.
template <class S, bool ONCE>
FN void reserve_tried(Shared& sh, Control* control, [[maybe_unused]] u32 lowest) {
  const u32 total = sh.staged, base = sh.dispatch.base[0], room = sh.dispatch.room[0];
  sh.total[0] = total;
  sh.staged = 0;
#ifdef WORKERS
  if (sh.again) {
    // From the tile's lowest element up to those that came before nothing is needed any more. But a second pass reads the tile once more.
    const u32 free = total <= S::template capacity<!ONCE>() ? sh.hole - lowest : 0, low = min_of(total, free);
    if (total - low > base + room - sh.top) {
      sh.full = 1;
      return;
    }
    // Nothing came before the dispatch's only tile: its children lie side by side where it did, and nothing is to be closed.
    if (free && sh.hole == sh.top && lowest == sh.dispatch.first) {
      sh.place = Spots{0, 0, lowest};
      sh.hole = lowest;
      sh.top = lowest + total;
      return;
    }
    sh.place = Spots{low, sh.hole - low, sh.top - low};
    sh.hole -= low;
    sh.top += total - low;
    return;
  }
#endif
  const u64 first = count_units(sh, control, 0, total);
  sh.place = Spots{0, 0, base + (u32)first};
  if (total && first + total > room) end_room(sh, control, first, 0, total);
}

// Runs elements in the same tiles, but as soon as their children are staged the tile is as good as done: if they find room, they are written to
// the channel and the results handed in, else nothing has happened.
template <class S, bool ONCE, class M = DeviceMemory>
FN void run_tried(u32 block, u32 blocks) {
  Shared& sh = shared();
  Control* const control = M::control();
  constexpr u32 TILE = BLOCK * S::ITEMS;
  // Results for one address are joined in one register, and then a loop over a thread's elements takes fewer registers than all of them.
  constexpr bool JOINS = S::SUMS && !(ONCE && S::ONE_HOME);
  constexpr u32 N = JOINS ? S::ITEMS : 1;
  const u32 count = sh.dispatch.count, first = sh.dispatch.first, tiles = (count + TILE - 1) / TILE;
  const bool asks = thread_id() == 0 && !sh.local;
  Gathered<typename S::Sum, M> sum;
  LeafCounts<S> leaves;
  const Trying trying{M::control()};
  typename S::Args args[N];
  u32 tile = block;
  u32 from = count - (tile + 1) * TILE + thread_id();
  load_items<S, M, !ONCE, N>(args, first, from, tile < tiles ? count : 0);
  while (tile < tiles) {
    // The next tile's number is asked for now and needed when this one has been tried.
    const u32 asked = next_tile(control, tile, tiles, blocks, asks), here = from;
    typename S::Sum::Value given[N];
    typename S::Later later;
    u32 ended = 0;
    bool failed = false;
#pragma unroll
    for (u32 j = 0; j < N; j++) given[j] = S::Sum::none();
#pragma unroll 1
    for (u32 at = 0; at < S::ITEMS; at += N) {
      typename S::Args now[N];
#pragma unroll
      for (u32 j = 0; j < N; j++) now[j] = args[j];
      from += N * BLOCK;
      if (N < S::ITEMS) load_items<S, M, !ONCE, N>(args, first, from, at + N < S::ITEMS ? count : 0);
#pragma unroll
      for (u32 j = 0; j < N; j++) {
        Trial<S, M, true, ONCE> worker(trying, given[j], ended, later);
        if (here + (at + j) * BLOCK < count) S::run(worker, now[j]);
        failed |= worker.failed;
      }
    }
    if constexpr (S::LONG) {
      Trial<S, M, true, ONCE> worker(trying, given[0], ended, later);
      run_long<S>(worker, later);
      failed |= worker.failed;
    }
    if (thread_id() == 0) sh.tile = asked;
    if (failed) sh.full = 1;
#ifdef WORKERS
    // Children may lie where the tile does: who waits for its results is asked before.
    ptr home[N];
    if constexpr (S::SUMS) {
#pragma unroll
      for (u32 j = 0; j < N; j++) home[j] = S::Sum::is_some(given[j]) ? S::template home<M, !ONCE>(first + here + j * BLOCK) : nullptr;
    }
#endif
    __syncthreads();
    if (thread_id() == 0) reserve_tried<S, ONCE>(sh, control, first + (count > (tile + 1) * TILE ? count - (tile + 1) * TILE : 0));
    const u32 next = sh.tile;
    // Meanwhile the next tile is under way.
    from = count - (next + 1) * TILE + thread_id();
    load_items<S, M, !ONCE, N>(args, first, from, next < tiles ? count : 0);
    __syncthreads();
    if (sh.full) {
      if (asks) give_back(control, tile, next, tiles);
      break;
    }
    if constexpr (S::SUMS) {
#pragma unroll
      for (u32 j = 0; j < N; j++) {
#ifdef WORKERS
        if (S::Sum::is_some(given[j])) sum.add(home[j], given[j]);
#else
        if (S::Sum::is_some(given[j])) sum.add(S::template home<M, !ONCE>(first + here + j * BLOCK), given[j]);
#endif
      }
    }
#ifdef WORKERS
    if (thread_id() == 0) sh.done++;
#endif
    leaves.count[0] += ended;
    const u32 total = sh.total[0];
    const Spots place = sh.place;
    if (total <= S::template capacity<!ONCE>()) {
      S::template flush<M, !ONCE>(place, total);
    } else {
#pragma unroll 1
      for (u32 j = 0; j < S::ITEMS; j++) {
        const u32 i = here + j * BLOCK;
        Trial<S, M, false, ONCE> worker(trying, given[0], ended, later);
        worker.first = place.high;
        if (i < count) S::run(worker, S::template deq<M, !ONCE>(first + i));
        run_long<S>(worker, later);
      }
      __syncthreads();
      if (thread_id() == 0) sh.staged = 0;
    }
    tile = next;
    if (tile < tiles) __syncthreads();
  }
  hand_over(sh, control, sum, leaves);
}
