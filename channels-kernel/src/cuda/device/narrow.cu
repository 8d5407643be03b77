// Narrow runs: few elements in one warp, a lane each, while the block's other warps wait. Nobody else pushes meanwhile, so nothing is reserved by
// atomics and no barrier is met; and what the policy has to know of the current level lies in registers.

// What is the lane's of something that every stack has: that of the stacks `lane`, `lane + WARP`, ..
#define PER_LANE ((STACKS + WARP - 1) / WARP)
template <class T>
struct Each {
  T of[PER_LANE];
};
FN u32 of_stack(const Each<u32>& x, u32 stack) {
  u32 out = 0;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 y = __shfl_sync(ALL_LANES, x.of[k], stack % WARP, WARP);
    if (stack / WARP == k) out = y;
  }
  return out;
}
FN void set_stack(Each<u32>& x, u32 stack, u32 value) {
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    if (stack == k * WARP + lane_id()) x.of[k] = value;
  }
}

// A narrow run, and what it does.
struct Narrow {
  u32 level, first, count;
  Each<u32> base, room;  // of each stack: the first free element, and how many more it holds
  Each<u32> pushed;      // out
  u32 left;              // out: how many elements, the lowest ones, found no room
  bool failed;           // out
};

FN void hand_over_warp(Gathered<NoSum>&) {}
template <class R>
FN void hand_over_warp(Gathered<R>& sum) {
  typedef typename R::Value Value;
  const u32 some = __ballot_sync(ALL_LANES, sum.to != nullptr);
  if (some == 0) return;
  const u32 leader = (u32)__ffs((i32)some) - 1;
  if (some & (some - 1)) {
    const bool same = (u64)sum.to == shuffle_wide((u64)sum.to, leader);
    if (sum.to && !same) R::give(sum.to, sum.value);
    Value value = same ? sum.value : R::none();
    for (u32 o = WARP / 2; o; o >>= 1) value = R::join(value, from_bits<Value>(shuffle_xor_wide(bits_of(value), o)));
    sum.value = value;
  }
  if (lane_id() == leader) R::give(sum.to, sum.value);
}

template <class S>
FN void count_leaves_warp(const Narrow& n, const LeafCounts<S>& leaves) {
  if constexpr (S::HAS_LEAVES) {
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) {
      if (!S::leafy(p)) continue;
      if (!any_lane(leaves.count[p] != 0)) continue;
      const u64 all = __shfl_sync(ALL_LANES, warp_scan(leaves.count[p]), WARP - 1, WARP);
      if (lane_id() == 0) {
        // The host reads them after the run.
        combine_add(&ch.control->leaves[S::stack_of(p)], all);
        combine_add(&ch.control->leaves[STACKS + n.level + 1], all);
      }
    }
  }
}

// Counts, then runs.
template <class S>
FN void narrow_scanned(Shared&, Narrow& n) {
  Gathered<typename S::Sum> sum;
  LeafCounts<S> leaves;
  u32 base[S::PUSHED + 1];
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) base[p] = of_stack(n.base, S::stack_of(p));
  u32 units[S::GROUPS + 1] = {};
  n.left = n.count;
  while (n.left) {
    // From the top of the run downwards; elements before its first wrap around, to numbers that are too high.
    const u32 i = n.left - WARP + lane_id();
    const bool mine = i < n.left;
    typename S::Args args = {};
    if (mine) args = S::template deq<true>(n.first + i);
    Counting<S> counting;
    counting.control = ch.control;
    if (mine) S::run(counting, args);
    u32 unit[S::GROUPS + 1];
#pragma unroll
    for (u32 g = 0; g < S::GROUPS; g++) {
      const u32 own = counting.at[S::lead(g)] / S::ratio(S::lead(g));
      if (S::binary(g)) {
        const u32 who = __ballot_sync(ALL_LANES, own != 0);
        unit[g] = units[g] + (u32)__popc(who & ((1u << lane_id()) - 1));
        units[g] += (u32)__popc(who);
      } else {
        const u32 upto = units[g] + warp_scan(own);
        unit[g] = upto - own;
        units[g] = __shfl_sync(ALL_LANES, upto, WARP - 1, WARP);
      }
    }
    Each<u32> pushed = {};
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) set_stack(pushed, S::stack_of(p), units[S::group(p)] * S::ratio(p));
    bool fits = true;
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      if (pushed.of[k] <= n.room.of[k]) continue;
      fits = false;
      if (!S::YIELDS || n.count == 1) stop_run(ch.control, CHANNEL_FULL, k * WARP + lane_id(), 0, 0);
    }
    if (any_lane(!fits)) {
      n.failed = !S::YIELDS || n.count == 1;
      break;
    }
    n.pushed = pushed;
    Reserved<S, false> worker(sum, leaves);
    worker.control = ch.control;
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) worker.at[p] = base[p] + unit[S::group(p)] * S::ratio(p);
    if (mine) S::run(worker, args);
    n.failed |= worker.failed;
    n.left -= n.left < WARP ? n.left : WARP;
  }
  hand_over_warp(sum);
  count_leaves_warp<S>(n, leaves);
}

// For bodies that push nothing, or whose pushes cannot be counted before they have run.
template <class S>
FN void narrow_direct(Shared& sh, Narrow& n) {
  Gathered<typename S::Sum> sum;
  LeafCounts<S> leaves;
  Dispatch& d = sh.dispatch;
  if constexpr (S::PUSHED > 0) {
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) {
      const u32 base = of_stack(n.base, S::stack_of(p)), room = of_stack(n.room, S::stack_of(p));
      if (lane_id() == 0) {
        d.base[p] = base;
        d.room[p] = room;
      }
    }
    __syncwarp();
  }
  for (u32 i = lane_id(); i < n.count && !n.failed; i += WARP) {
    Direct<S> worker(sum, leaves);
    worker.control = ch.control;
    worker.dispatch = &d;
    worker.counter = sh.counter;
    S::run(worker, S::template deq<true>(n.first + i));
    n.failed = worker.failed;
  }
  __syncwarp();
  hand_over_warp(sum);
  count_leaves_warp<S>(n, leaves);
  if constexpr (S::PUSHED > 0) {
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) set_stack(n.pushed, S::stack_of(p), sh.counter[S::group(p)] * S::ratio(p));
    __syncwarp();
    for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
    __syncwarp();
  }
}
