// Narrow runs: few elements in one warp, a lane each, while the block's other warps wait. Nobody else pushes meanwhile, so nothing is reserved by
// atomics, and no barrier is met.

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
FN void count_leaves_warp(Shared& sh, const LeafCounts<S>& leaves) {
  if constexpr (S::HAS_LEAVES) {
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) {
      if (!S::leafy(p)) continue;
      const u64 all = __shfl_sync(ALL_LANES, warp_scan(leaves.count[p]), WARP - 1, WARP);
      if (lane_id() == 0 && all) {
        // Relaxed: the host reads them after the run.
        __nv_atomic_fetch_add(&ch.control->leaves[S::stack_of(p)], all, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_fetch_add(&ch.control->leaves[STACKS + sh.dispatch.level + 1], all, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      }
    }
  }
}

// Counts, then runs. Gives how many elements, the lowest ones, found no room.
template <class S>
FN u32 narrow_scanned(Shared& sh) {
  const Dispatch& d = sh.dispatch;
  Gathered<typename S::Sum> sum;
  LeafCounts<S> leaves;
  u32 pushed[S::GROUPS + 1] = {};
  u32 left = d.count;
  while (left) {
    // From the top of the run downwards; elements before its first wrap around, to numbers that are too high.
    const u32 i = left - WARP + lane_id();
    const bool mine = i < left;
    typename S::Args args = {};
    if (mine) args = S::template deq<true>(d.first + i);
    Counting<S> counting;
    counting.control = ch.control;
    if (mine) S::run(counting, args);
    u32 unit[S::GROUPS + 1], upto[S::GROUPS + 1];
#pragma unroll
    for (u32 g = 0; g < S::GROUPS; g++) {
      const u32 own = counting.at[S::lead(g)] / S::ratio(S::lead(g));
      if (S::binary(g)) {
        const u32 who = __ballot_sync(ALL_LANES, own != 0);
        unit[g] = pushed[g] + (u32)__popc(who & ((1u << lane_id()) - 1));
        upto[g] = pushed[g] + (u32)__popc(who);
      } else {
        const u32 sum = warp_scan(own);
        unit[g] = pushed[g] + sum - own;
        upto[g] = pushed[g] + __shfl_sync(ALL_LANES, sum, WARP - 1, WARP);
      }
    }
    bool fits = true;
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) {
      if ((u64)upto[S::group(p)] * S::ratio(p) <= d.room[p]) continue;
      fits = false;
      // Of a segment that gives back, the group whose units depend on data may find no room.
      if (!S::LEAVES || S::group(p) != S::LOOSE) stop_run(ch.control, CHANNEL_FULL, S::stack_of(p), 0, 0);
    }
    if (!fits) break;
    Reserved<S, false> worker(sum, leaves);
    worker.control = ch.control;
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) worker.at[p] = d.base[p] + unit[S::group(p)] * S::ratio(p);
    if (mine) S::run(worker, args);
#pragma unroll
    for (u32 g = 0; g < S::GROUPS; g++) pushed[g] = upto[g];
    left -= left < WARP ? left : WARP;
  }
  hand_over_warp(sum);
  count_leaves_warp<S>(sh, leaves);
  if (lane_id() == 0) {
#pragma unroll
    for (u32 g = 0; g < S::GROUPS; g++) sh.counter[g] = pushed[g];
  }
  return left;
}

// For bodies that push nothing, or whose pushes cannot be counted before they have run.
template <class S>
FN u32 narrow_direct(Shared& sh) {
  const Dispatch& d = sh.dispatch;
  Gathered<typename S::Sum> sum;
  LeafCounts<S> leaves;
  for (u32 i = lane_id(); i < d.count; i += WARP) {
    Direct<S> worker(sum, leaves);
    worker.control = ch.control;
    worker.dispatch = &d;
    worker.counter = sh.counter;
    S::run(worker, S::template deq<true>(d.first + i));
    if (worker.failed) break;
  }
  __syncwarp();
  hand_over_warp(sum);
  count_leaves_warp<S>(sh, leaves);
  return 0;
}
