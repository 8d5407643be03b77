// A thread that runs a segment's body on channels in some memory. The body reaches them through its worker, never by a name.
template <class M>
struct Worker : Thread {
  typedef M Memory;
  static constexpr bool LONG = false;    // whether it puts long loops off
  static constexpr u32 STAGE_PARTS = 1;  // who share the stage
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
  u32 walks_far;                             // slices that elements walk through found no room in the stage
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
  u64 begun;  // when the block began with its dispatch, or with its batch
  u32 batch;  // elements of that
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
template <class S, class M, bool STAGE, bool ONCE, u32 SHARED_BY = 1>
struct Trial : Worker<M> {
  static constexpr bool RUN = true, FALLIBLE = false, STAGES = STAGE, EACH = !ONCE, LONG = S::LONG;
  static constexpr u32 STAGE_PARTS = SHARED_BY;
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
