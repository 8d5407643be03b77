// The levelized policy: which run of elements comes next. One warp decides, for all blocks. The twin of `policy.rs`.
//
// The deepest level that has work is drained first, entries before continuations. A run is as long as what it and everything below it
// push finds room, as far as earlier runs of the level tell; where none has been, it takes a share of the room.

struct Policy {
  u32 level, expected;
  u32 most;                    // elements that a run may take: few after one that found no room for any
  u32 lo[STACKS], hi[STACKS];  // this level's elements
  u32 top[STACKS];             // elements in the channel, all levels
  u32 peak[STACKS];
  f32 pushed[STACKS];          // what was pushed from this level, in all
  f32 below[STACKS];           // what an element of the next level and all below it pushed
  u64 elements;                // entry elements of this level consumed
  u32 average[SOURCES];        // pushes per element of sources whose pushes depend on data, the most seen
  u64 dispatches;
  Left left;
};

FN bool any_lane(bool x) { return __any_sync(ALL_LANES, x) != 0; }
FN u32 max_lane(u32 x) {
  for (u32 o = WARP / 2; o; o >>= 1) {
    const u32 y = __shfl_xor_sync(ALL_LANES, x, o, WARP);
    x = y > x ? y : x;
  }
  return x;
}
FN f32 sum_lanes(f32 x) {
  for (u32 o = WARP / 2; o; o >>= 1) x += bitcast<f32>(__shfl_xor_sync(ALL_LANES, bitcast<u32>(x), o, WARP));
  return x;
}

FN void policy_start(Policy& p, Shared& sh, Control* c) {
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    p.lo[s] = 0;
    p.hi[s] = p.top[s] = p.peak[s] = c->bounds[s];  // the host put the number of root elements there
    p.pushed[s] = p.below[s] = 0;
  }
  for (u32 s = lane_id(); s < SOURCES; s += WARP) p.average[s] = 0;
  for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
  if (lane_id() == 0) {
    p.level = 0;
    p.elements = 0;
    p.expected = c->expected;
    p.most = 0xffffffffu;
    p.dispatches = 0;
  }
  __syncwarp();
}

FN u32* policy_record(Control* c, u32 level) { return c->bounds + (u64)level * 4 * STACKS; }

FN f32 policy_children(const Policy& p) {
  f32 children = 0;
  for (u32 s = lane_id(); s < STACKS; s += WARP) children += stacks_entry[s] ? p.pushed[s] : 0;
  return sum_lanes(children);
}

// Keeps what is known of this level, for when it comes again.
FN void policy_leave(const Policy& p, Control* c) {
  u32* const record = policy_record(c, p.level);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    record[s] = p.lo[s];
    record[STACKS + s] = p.hi[s];
    record[2 * STACKS + s] = bitcast<u32>(p.pushed[s]);
    record[3 * STACKS + s] = bitcast<u32>(p.below[s]);
  }
  if (lane_id() == 0) c->elements[p.level] = p.elements;
  __syncwarp();
}

// What a dispatch left over stands in its channel again.
FN void policy_put_back(Policy& p, Control* c, Shared& sh, u32 blocks, bool& full) {
  const Dispatch& d = sh.dispatch;
  const Source from = sources[d.source];
  Left left = {d.first, 0, 0};
#ifdef GIVES_BACK
  if (from.tile) {
    if (!sh.local) {
      left = plan_moves(sh, c, d, from.tile, blocks);
    } else if (sh.full) {
      left.count = d.count;
    }
  }
#endif
  if (lane_id() == 0) {
    p.left = left;
    const u32 taken = d.count - left.count;
    if (left.count) {
      if (p.lo[from.stack] == d.first) p.lo[from.stack] = left.bottom;
      p.hi[from.stack] = left.bottom + left.count;
      if (!from.entry) p.top[from.stack] = p.hi[from.stack];
    }
    // A run that found no room for anything is tried again with fewer elements.
    p.most = taken ? 0xffffffffu : d.count > 4 ? d.count / 4 : 1;
    if (taken == 0 && d.count == 1) {
      full = true;
      u32 stack = 0;
      for (u32 i = 0; i < from.pushes; i++) stack = pushes[from.first_push + i].max == 0 ? pushes[from.first_push + i].stack : stack;
      stop_run(c, CHANNEL_FULL, stack, 0, 0);
    }
    // Nobody waits for this sum: it is the last that the host reads.
    __nv_atomic_fetch_add(&c->consumed[d.source], (u64)taken, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    if (from.entry) p.elements += taken;
  }
  full = any_lane(full);
  __syncwarp();
}

// Takes in what a dispatch pushed: children open the next level, everything else lies on this one.
FN void policy_take(Policy& p, Control* c, Shared& sh, u32 blocks, bool& full) {
  const Dispatch& d = sh.dispatch;
  const Source from = sources[d.source];
  policy_put_back(p, c, sh, blocks, full);
  const u32 taken = d.count - p.left.count;
  bool children = false;
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const Push push = pushes[from.first_push + i];
    // Relaxed: the barrier before has ordered the reservations.
    u32 units = sh.local ? sh.counter[push.group] : GLOBAL_LOAD(&c->counter[push.group]);
    if (from.tile && push.max == 0) {
      const u32 limit = sh.local ? (sh.full ? 0 : units) : GLOBAL_LOAD(&c->limit);
      units = units < limit ? units : limit;
    }
    const u32 pushed = units * push.ratio;
    if (stacks_entry[push.stack]) {
      children |= pushed != 0;
      if (pushed) p.top[push.stack] = d.base[i] + pushed;
    } else {
      p.top[push.stack] += pushed;
    }
    p.pushed[push.stack] += (f32)pushed;
    if (p.top[push.stack] > p.peak[push.stack]) p.peak[push.stack] = p.top[push.stack];
    if (push.max == 0 && taken) {
      const u32 average = pushed / taken + (pushed % taken != 0);
      if (average > p.average[d.source]) p.average[d.source] = average;
    }
  }
  __syncwarp();
  if (sh.local) {
    for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
  } else {
    for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) __nv_atomic_store_n(&c->counter[g], 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    if (lane_id() == 0 && from.tile) {
      // Relaxed: the barrier that begins the next dispatch orders them.
      __nv_atomic_store_n(&c->ticket, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_store_n(&c->given, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_store_n(&c->limit, 0xffffffffu, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
  }
  children = any_lane(children);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    if (!stacks_entry[s]) p.hi[s] = p.top[s];
    if (!children) p.top[s] = p.hi[s];  // what was consumed gives its space back
  }
  __syncwarp();
  if (!children) return;
  policy_leave(p, c);
  const u32 level = p.level + 1;
  if (level >= c->levels) {
    if (lane_id() == 0) stop_run(c, LEVELS_FULL, 0, 0, 0);
    full = true;
    return;
  }
  const u64 seen = c->elements[level];
  const u32* const record = policy_record(c, level);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    p.lo[s] = p.hi[s] = p.top[s];
    p.pushed[s] = seen ? bitcast<f32>(record[2 * STACKS + s]) : 0;
    p.below[s] = seen ? bitcast<f32>(record[3 * STACKS + s]) : 0;
  }
  __syncwarp();
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const Push push = pushes[from.first_push + i];
    if (stacks_entry[push.stack] && p.top[push.stack] > d.base[i]) p.lo[push.stack] = d.base[i];
  }
  if (lane_id() == 0) {
    p.level = level;
    p.elements = seen;
    if (level + 1 > p.expected) p.expected = level + 1;
  }
  __syncwarp();
}

// Goes up to the deepest level that has work. False when there is none.
FN bool policy_climb(Policy& p, Control* c) {
  while (true) {
    const u32 here = p.level;
    bool work = false;
    for (u32 s = lane_id(); s < SOURCES; s += WARP) work |= p.hi[sources[s].stack] != p.lo[sources[s].stack];
    work = any_lane(work);
    // Frames that no continuation of this level waits for are done.
    for (u32 s = lane_id(); s < STACKS; s += WARP) {
      if (!stacks_frame[s]) continue;
      bool waiting = false;
      for (u32 k = 0; k + 1 < stacks_frame[s]; k++) waiting |= p.hi[s + 1 + k] != p.lo[s + 1 + k];
      if (!waiting) p.top[s] = p.hi[s] = p.lo[s];
    }
    __syncwarp();
    if (work) return true;
    if (here == 0) return false;
    policy_leave(p, c);
    const f32 elements = p.elements ? (f32)p.elements : 1.0f, children = policy_children(p) / elements;
    const u64 seen = c->elements[here - 1];
    const u32* const record = policy_record(c, here - 1);
    for (u32 s = lane_id(); s < STACKS; s += WARP) {
      const f32 need = p.pushed[s] / elements + children * p.below[s];
      p.lo[s] = record[s];
      p.hi[s] = p.top[s] = record[STACKS + s];
      p.pushed[s] = bitcast<f32>(record[2 * STACKS + s]);
      p.below[s] = need;
    }
    __syncwarp();
    if (lane_id() == 0) {
      p.level = here - 1;
      p.elements = seen;
    }
    __syncwarp();
  }
}

// How many elements of this level find room with all that they and everything below them push; all ones if that is not known.
FN u32 policy_share(const Policy& p) {
  if (p.elements == 0) return 0xffffffffu;
  const f32 children = policy_children(p);
  f32 share = 4e9f;
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    const f32 need = (p.pushed[s] + children * p.below[s]) / (f32)p.elements;
    const f32 fit = need > 0 ? 0.95f * (f32)(ch.capacity[s] - p.top[s]) / need : share;
    share = fit < share ? fit : share;
  }
  // The least of the lanes.
  return ~max_lane(~(u32)share);
}

// How many elements of a source may run now.
FN u32 policy_run(const Policy& p, u32 source, u32 share, u32& blocked) {
  const Source from = sources[source];
  const u32 have = p.hi[from.stack] - p.lo[from.stack];
  u32 room = 0xffffffffu;
  for (u32 i = 0; i < from.pushes; i++) {
    const Push push = pushes[from.first_push + i];
    const u32 top = stacks_entry[push.stack] ? p.top[push.stack] + 3 & ~3u : p.top[push.stack];
    // Something is left for the levels below, whatever the estimates say.
    const u32 all = ch.capacity[push.stack] > top ? ch.capacity[push.stack] - top : 0, left = all - all / 16;
    u32 fit = 0;
    if (push.max) {
      fit = left / push.max;
    } else if (from.tile && p.elements) {
      // What finds no room is given back.
      const f32 each = p.pushed[push.stack] / (f32)p.elements;
      fit = (u32)((f32)left / (each > 0.5f ? each : 0.5f));
    } else {
      fit = left / (p.average[source] ? 2 * p.average[source] : from.tile ? 8 : 64);
    }
    if (push.max == 0 && fit == 0 && left) fit = 1;
    if (fit < room) {
      room = fit;
      blocked = push.stack;
    }
  }
  if (room == 0xffffffffu || have == 0) return have;
  if (share == 0xffffffffu) share = room / (p.expected > p.level + 1 ? p.expected - p.level : 16);
  // However little it is, the levels below find room too.
  const u32 small = room / 16 < SMALL_SHARE ? room / 16 + (room < 16) : SMALL_SHARE;
  if (share < small) share = small;
  u32 run = room < share ? room : share;
  run = run < p.most ? run : p.most;
  if (run >= have) return have;
  // Only a run that goes down to the last element may have a tile that is not full.
  return from.tile && run > from.tile ? run / from.tile * from.tile : run;
}

// Chooses the next run. `d.stop` when all is done, or when nothing that is left finds room.
FN void policy_choose(Policy& p, Control* c, Dispatch& d) {
  u32 entry = 0, other = 0, blocked = 0, full = 0;
  const u32 share = policy_share(p);
  for (u32 s = lane_id(); s < SOURCES; s += WARP) {
    const u32 have = p.hi[sources[s].stack] - p.lo[sources[s].stack];
    const u32 run = policy_run(p, s, share, blocked);
    if (have && run == 0) full = blocked + 1;
    if (sources[s].entry) {
      entry = run > entry ? run : entry;
    } else {
      other = run > other ? run : other;
    }
  }
  const u32 best_entry = max_lane(entry), best_other = max_lane(other);
  full = max_lane(full);
  // Entries first, unless they are short of room and continuations are not.
  const bool entries = best_entry != 0 && (best_entry >= best_other || best_entry >= SMALL_SHARE);
  const u32 count = entries ? best_entry : best_other;
  u32 winner = 0;
  for (u32 s = lane_id(); s < SOURCES; s += WARP) {
    u32 ignored = 0;
    if ((sources[s].entry != 0) == entries && policy_run(p, s, share, ignored) == count) winner = SOURCES - s > winner ? SOURCES - s : winner;
  }
  const u32 source = SOURCES - max_lane(winner);
  __syncwarp();
  if (count == 0) {
    if (lane_id() == 0) {
      stop_run(c, CHANNEL_FULL, full - 1, 0, 0);
      d.stop = 1;
    }
    __syncwarp();
    return;
  }
  const Source from = sources[source];
  if (lane_id() == 0) {
    d.source = source;
    d.stop = 0;
    d.level = p.level;
    d.count = count;
    d.first = p.hi[from.stack] - count;
    p.hi[from.stack] -= count;
    // A continuation's element is not on the channel any more; an entry's children go above it.
    if (!from.entry) p.top[from.stack] -= count;
    p.dispatches++;
    d.number = (u32)p.dispatches;
  }
  __syncwarp();
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const u32 stack = pushes[from.first_push + i].stack;
    // Neighbouring children are stored together, so that a level begins at a number that they divide.
    const u32 base = stacks_entry[stack] ? p.top[stack] + 3 & ~3u : p.top[stack];
    d.base[i] = base;
    const u32 room = ch.capacity[stack] > base ? ch.capacity[stack] - base : 0;
    d.room[i] = count > 1 ? room - room / 16 : room;
  }
  __syncwarp();
}

// The dispatch that moves together what the last one left over.
FN void policy_moves(Policy& p, Dispatch& d) {
  if (lane_id() == 0) {
    const Source from = sources[d.source];
    d.base[0] = from.stack;
    d.room[0] = from.tile;
    d.level = p.left.moves;
    d.source = SOURCES;
    p.left.moves = 0;
    p.dispatches++;
    d.number = (u32)p.dispatches;
  }
  __syncwarp();
}
