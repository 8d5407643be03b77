// Elements run a lane each, without tiles; the slices that they walk through (`walk.rs` finds them) are in shared memory meanwhile.

// Room for so many bytes: an odd number of units, so that lanes at the same step are in different banks.
FN u64 walk_room(u64 bytes, u32 unit) { return ((bytes + unit - 1) / unit | 1) * unit; }

// Copies some bytes for each of the lanes from `first` on, all lanes together, between `there` and the place of each in shared memory. A part of
// the warp takes one lane's slice, as wide as what memory hands out at once: slices are often shorter than a line.
template <class T, bool IN>
FN void copy_walked(near room, u32 place, ptr there, u32 bytes, u32 first, u32 end) {
  constexpr u32 SECTOR = 32 / (u32)sizeof(T), PART = SECTOR < WARP ? SECTOR : WARP;
  constexpr u32 ROUND = 4;  // words of a lane that are under way at once
  const u32 own = lane_id() % PART;
#pragma unroll 1
  for (u32 of = first; of < end; of += WARP / PART) {
    const u32 who = of + lane_id() / PART, from = who < end ? who : end - 1;
    T* const here = (T*)at_near(room + __shfl_sync(ALL_LANES, place, from, WARP));
    T* const far = (T*)shuffle_wide((u64)there, from);
    const u32 all = __shfl_sync(ALL_LANES, bytes, from, WARP) / (u32)sizeof(T), count = who < end ? all : 0;
#pragma unroll 1
    for (u32 at = own; at < count; at += ROUND * PART) {
      if constexpr (IN && brings<T>()) {
#pragma unroll
        for (u32 r = 0; r < ROUND; r++) {
          if (at + r * PART < count) bring(here + at + r * PART, far + at + r * PART);
        }
      } else {
        T word[ROUND];
#pragma unroll
        for (u32 r = 0; r < ROUND; r++) {
          if (at + r * PART < count) word[r] = (IN ? far : here)[at + r * PART];
        }
#pragma unroll
        for (u32 r = 0; r < ROUND; r++) {
          if (at + r * PART < count) (IN ? here : far)[at + r * PART] = word[r];
        }
      }
    }
  }
}

template <bool IN>
FN void copy_walked(u32 unit, near room, u32 place, ptr there, u32 bytes, u32 first, u32 end) {
  switch (unit) {
    case 1: return copy_walked<u8, IN>(room, place, there, bytes, first, end);
    case 2: return copy_walked<u16, IN>(room, place, there, bytes, first, end);
    case 4: return copy_walked<u32, IN>(room, place, there, bytes, first, end);
    default: return copy_walked<u64, IN>(room, place, there, bytes, first, end);
  }
}

// What the rooms of warps are multiples of: the widest word that is copied. A warp's share of the stage is one, so that the stage alone holds it whole.
#define WALK_UNIT 8u

// Where a warp's slices are brought to, and how many bytes find room there. What a kernel was launched with beside the stage is divided with it: some warps
// have their room in the stage, and the others there, as much each.
FN near walk_place(u32& bytes) {
  constexpr u32 STAGE = WALK_BYTES * WARPS;
  const u32 more = dynamic_bytes(), each = (STAGE + more) / WARPS / WALK_UNIT * WALK_UNIT, staged = STAGE / each;
  const u32 beside = staged < WARPS ? more / (WARPS - staged) / WALK_UNIT * WALK_UNIT : each;
  bytes = beside < each ? beside : each;
  return warp_id() < staged ? near_of(stage_memory() + warp_id() * bytes) : dynamic_memory() + (warp_id() - staged) * bytes;
}

// Runs a warp's elements, a lane each, with the slices that they walk through in shared memory: of as many lanes at once as find room. Where
// of the stage alone that would be less than a quarter of the lanes, they stay where they are: most of the warp would wait, and a slice that all have in common
// would be copied for each.
template <class S, class M>
FN void run_walking(Direct<S, M>& worker, bool mine, u32 element) {
  static_assert(!S::WALKS || WALK_BYTES % WALK_UNIT == 0, "a warp's share of the stage is whole words");
  u32 bytes;
  const near room = walk_place(bytes);
  typename S::Args args = {};
  if (mine) args = S::template deq<M, true>(element);
  u64 own = 0;
#pragma unroll
  for (u32 k = 0; k < S::SLICES; k++) own += walk_room(S::bytes(args, k), S::UNIT);
  const u32 lanes = (u32)__popc(__ballot_sync(ALL_LANES, mine)), least = lanes < WARP / 4 ? lanes : WARP / 4;
  // A slice that fits by the stage has room: else the turns below would never come to its lane.
  const bool fits = mine && own <= (bytes < WALK_BYTES ? bytes : WALK_BYTES) / least;
  if (mine && !fits) S::run(worker, args);
  const u32 size = fits ? (u32)own : 0, end = warp_scan(size);
  // The stage alone has no room for all of them at once: the next dispatch is worth more. Relaxed: it only says how to launch.
  if (lane_id() == WARP - 1 && end > WALK_BYTES) __nv_atomic_store_n(&shared().walks_far, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  for (u32 first = 0; first < lanes;) {
    const u32 begin = end - size - __shfl_sync(ALL_LANES, end - size, first, WARP);
    const u32 beyond = __ballot_sync(ALL_LANES, lane_id() >= first && begin + size > bytes);
    const u32 next = beyond ? (u32)__ffs((i32)beyond) - 1 : lanes;
    const bool now = fits && lane_id() >= first && lane_id() < next;
    typename S::Args here = args;
    u32 place = begin;
#pragma unroll
    for (u32 k = 0; k < S::SLICES; k++) {
      const u32 part = now ? (u32)S::bytes(args, k) : 0;
      copy_walked<true>(S::unit(k), room, place, S::slice(args, k), part, first, next);
      S::slice(here, k) = at_near(room + place);
      place += (u32)walk_room(part, S::UNIT);
    }
    brought();
    __syncwarp();
    if (now) S::run(worker, here);
    __syncwarp();
    place = begin;
#pragma unroll
    for (u32 k = 0; k < S::SLICES; k++) {
      const u32 part = now ? (u32)S::bytes(args, k) : 0;
      if (S::is_mutable(k)) copy_walked<false>(S::unit(k), room, place, S::slice(args, k), part, first, next);
      place += (u32)walk_room(part, S::UNIT);
    }
    __syncwarp();
    first = next;
  }
}

// Runs elements a lane each, as many warps as there are: for heavy bodies and for those that push nothing.
template <class S, class M = DeviceMemory>
FN void run_direct(u32 block, u32 blocks) {
  Shared& sh = shared();
  const Dispatch& d = sh.dispatch;
  const u32 warps = blocks * WARPS;
  // Few heavy elements are spread over the warps; neighbouring elements go to one warp otherwise.
  u32 lanes = WARP;
  if (S::HEAVY && d.count < warps * WARP) lanes = (d.count + warps - 1) / warps;
  Gathered<typename S::Sum, M> sum;
  LeafCounts<S> leaves;
  const u32 own = own_grant<S>(d);
  for (u64 at = (u64)(warp_id() * blocks + block) * lanes; at < d.count; at += (u64)warps * lanes) {
    const u64 i = at + lane_id();
    const bool mine = i < d.count && lane_id() < lanes;
    Direct<S, M> worker(sum, leaves);
    worker.control = M::control();
    worker.dispatch = &d;
    worker.granted = own;
    worker.counter = sh.local ? sh.counter : M::control()->counter;
    if constexpr (S::WALKS) {
      run_walking<S, M>(worker, mine, d.first + (u32)i);
      if (__any_sync(ALL_LANES, worker.failed)) break;
    } else if (mine) {
      S::run(worker, S::template deq<M, true>(d.first + (u32)i));
      if (worker.failed) break;
    }
  }
  __syncwarp();
  hand_over(sh, M::control(), sum, leaves);
}
