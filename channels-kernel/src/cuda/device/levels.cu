// The policy where runs are narrow, in registers: it takes in, goes down and up, and chooses as `policy.cu` does, one dispatch after another,
// until a run is not narrow. A narrow run has room for many times what it pushes. Then no estimate is asked, for all of it is always
// allowed, and so `policy.rs` needs no such thing.
//
// False when there is no more work, or when the run has to end.
FN bool narrow_levels(Policy& p, Shared& sh, Control* c) {
  Each<u32> lo, hi, top, peak, capacity, narrow, most;
  Each<bool> entry, feeds, loose;
  Each<f32> pushed;
  Each<u64> consumed;
  u32 level = p.level, number = (u32)p.dispatches;
  u64 elements = policy_level(p, level).elements;
  bool few = p.most == 0xffffffffu;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = k * WARP + lane_id();
    const bool real = s < STACKS;
    const Level& now = policy_level(p, level);
    const u32 source = real ? stacks_source[s] : 0;
    lo.of[k] = real ? now.lo[s] : 0;
    hi.of[k] = real ? now.hi[s] : 0;
    pushed.of[k] = real ? now.pushed[s] : 0;
    top.of[k] = real ? p.top[s] : 0;
    peak.of[k] = real ? p.peak[s] : 0;
    capacity.of[k] = real ? ch.capacity[s] : 0xffffffffu;
    entry.of[k] = real && stacks_entry[s];
    feeds.of[k] = source != 0;
    narrow.of[k] = source ? sources[source - 1].narrow : 0;
    most.of[k] = source ? sources[source - 1].most : 1;
    loose.of[k] = most.of[k] == 0;
    if (loose.of[k]) most.of[k] = 2 * p.average[source - 1] > 64 ? 2 * p.average[source - 1] : 64;
    consumed.of[k] = 0;
  }
  bool more = true;
  while (more) {
    // Most elements first, entries before continuations, the first of several.
    u32 best = 0, room = 0xffffffffu;
    Narrow n;
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      const u32 have = feeds.of[k] ? hi.of[k] - lo.of[k] : 0, s = k * WARP + lane_id();
      few &= have <= narrow.of[k];
      const u32 key = have << 17 | (u32)entry.of[k] << 16 | (0xffff - s);
      if (have && key > best) best = key;
      n.base.of[k] = entry.of[k] ? top.of[k] + 3 & ~3u : top.of[k];
      n.room.of[k] = capacity.of[k] > n.base.of[k] ? capacity.of[k] - n.base.of[k] : 0;
      room = n.room.of[k] < room ? n.room.of[k] : room;
    }
    if (any_lane(!few)) break;
    best = max_lane(best);
    if (best == 0) {
      // Up to the level above.
      if (level == 0) {
        more = false;
        break;
      }
      f32 children = 0;
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) children += entry.of[k] ? pushed.of[k] : 0;
      for (u32 o = 1; o < WARP && o < STACKS; o <<= 1) children += bitcast<f32>(__shfl_xor_sync(ALL_LANES, bitcast<u32>(children), o, WARP));
      Level& now = policy_level(p, level);
      // All lanes have read what one of them now writes; so too wherever `elements` is kept.
      __syncwarp();
      if (lane_id() == 0) now.elements = elements;
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) {
        const u32 s = k * WARP + lane_id();
        if (s < STACKS) now.pushed[s] = pushed.of[k];
      }
      __syncwarp();
      if (level == p.oldest) policy_fill(p);
      Level& up = policy_level(p, level - 1);
      const f32 count = elements ? (f32)elements : 1.0f;
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) {
        const u32 s = k * WARP + lane_id();
        if (s >= STACKS) continue;
        up.below[s] = (pushed.of[k] + children * now.below[s]) / count;
        lo.of[k] = up.lo[s];
        top.of[k] = hi.of[k] = up.hi[s];
        pushed.of[k] = up.pushed[s];
      }
      elements = up.elements;
      level--;
      continue;
    }
    const u32 stack = 0xffff - (best & 0xffff);
    n.count = best >> 17;
    room = min_lane(room);
    room -= room / 16;
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      if (feeds.of[k]) few &= 16ull * (hi.of[k] - lo.of[k]) * most.of[k] <= room;
    }
    if (any_lane(!few)) break;
    n.first = of_stack(hi, stack) - n.count;
    n.level = level;
    n.left = 0;
    n.failed = false;
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      n.pushed.of[k] = 0;
      if (n.count > 1) n.room.of[k] -= n.room.of[k] / 16;
      if (stack != k * WARP + lane_id()) continue;
      hi.of[k] = n.first;
      if (!entry.of[k]) top.of[k] -= n.count;
    }
    number++;
    run_narrow(sh, stack, n);
    // Relaxed: pairs with the load in `await`.
    if (lane_id() == 0) __nv_atomic_store_n(&c->beat, number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    bool stop = n.failed;
    if (number % 256 == 0 && lane_id() == 0) {
      // The host's flag lies across the bus: it is looked at now and then.
      u64 since = 0;
      stop |= should_stop(c, since);
    }
    if (any_lane(stop)) {
      more = false;
      break;
    }
    const u32 taken = n.count - n.left;
    bool children = false, looped = false;
    u32 units = 0;
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      if (stack == k * WARP + lane_id()) {
        // What found no room stands in its channel again.
        hi.of[k] += n.left;
        if (!entry.of[k]) top.of[k] += n.left;
        consumed.of[k] += taken;
        looped = loose.of[k];
      }
      units = n.pushed.of[k] > units ? n.pushed.of[k] : units;
      pushed.of[k] += (f32)n.pushed.of[k];
      if (n.pushed.of[k]) {
        top.of[k] = n.base.of[k] + n.pushed.of[k];
        children |= entry.of[k];
      }
      if (top.of[k] > peak.of[k]) peak.of[k] = top.of[k];
      if (!entry.of[k]) hi.of[k] = top.of[k];
    }
    if (best >> 16 & 1) elements += taken;
    if (taken == 0) {
      // It is tried again with fewer elements.
      if (lane_id() == 0) p.most = n.count > 4 ? n.count / 4 : 1;
      few = false;
    } else if (any_lane(looped)) {
      units = max_lane(units);
      const u32 average = units / taken + (units % taken != 0);
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) {
        if (stack != k * WARP + lane_id() || p.average[stacks_source[stack] - 1] >= average) continue;
        p.average[stacks_source[stack] - 1] = average;
        if (most.of[k] < 2 * average) most.of[k] = 2 * average;
      }
    }
    if (!any_lane(children)) {
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) top.of[k] = hi.of[k];
      continue;
    }
    if (level + 1 >= p.room) {
      if (lane_id() == 0) stop_run(c, LEVELS_FULL, 0, 0, 0);
      more = false;
      break;
    }
    // Down to the level below.
    Level& now = policy_level(p, level);
    __syncwarp();
    if (lane_id() == 0) now.elements = elements;
    const bool known = policy_open(p, ++level);
    Level& next = policy_level(p, level);
    elements = known ? next.elements : 0;
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      const u32 s = k * WARP + lane_id();
      if (s >= STACKS) continue;
      now.lo[s] = lo.of[k];
      now.hi[s] = hi.of[k];
      now.pushed[s] = pushed.of[k];
      lo.of[k] = entry.of[k] && n.pushed.of[k] ? n.base.of[k] : top.of[k];
      hi.of[k] = top.of[k];
      pushed.of[k] = known ? next.pushed[s] : 0;
      if (!known) next.below[s] = 0;
    }
  }
  Level& now = policy_level(p, level);
  __syncwarp();
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = k * WARP + lane_id();
    if (s >= STACKS) continue;
    now.lo[s] = lo.of[k];
    now.hi[s] = hi.of[k];
    now.pushed[s] = pushed.of[k];
    p.top[s] = top.of[k];
    p.peak[s] = peak.of[k];
    if (feeds.of[k]) p.consumed[stacks_source[s] - 1] += consumed.of[k];
  }
  if (lane_id() == 0) {
    now.elements = elements;
    p.level = level;
    p.dispatches += number - (u32)p.dispatches;
  }
  __syncwarp();
  return more;
}

// The next dispatch that is not narrow. `stop` when all is done, or when the run has to end.
FN void policy_next(Policy& p, Shared& sh, Control* c, u32 blocks) {
  bool full = false, work = false;
  if (sh.dispatch.source < SOURCES) work = policy_take(p, c, sh, blocks, full);
  // Relaxed: pairs with `stop_run`, which is seen by now if it was of the last dispatch.
  bool more = !full && GLOBAL_LOAD(&c->status) == OK;
  if (more && p.left.moves) {
    policy_moves(p, sh);
  } else if (more) {
    if (!work) policy_release(p);
    more = narrow_levels(p, sh, c) && policy_choose(p, c, sh);
  }
  __syncwarp();
  if (lane_id() == 0) {
    u64 since = 0;
    // The host's flag lies across the bus: it is looked at now and then, and by whoever waits.
    sh.dispatch.stop = !more || (p.dispatches % 256 == 0 && should_stop(c, since));
  }
  __syncwarp();
}
