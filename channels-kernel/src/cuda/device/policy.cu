// The levelized policy: which run of elements comes next. One warp decides, for all blocks. Its specification is
// `aggregator/src/cuda/policy.rs`, with which its decisions are compared; the numbers (`SMALL_SHARE`, ..) are those of `rules.rs`.

// A level that lies in shared memory: where its elements begin and end in each stack. Of levels above the current one, where nothing waits both are the
// same, and mean nothing.
struct Place : Level {
  u32 lo[STACKS], hi[STACKS];
  u32 floor[STACKS];  // where what waits above it ends
};

// `lo` and `hi` of `Standing` are those of the current level only when the kernel begins and ends.
struct Policy : Standing {
  Place places[NEAR];  // of levels from `oldest` on, each where its number modulo `NEAR` says; of those not reached all is 0
  u32 wide[STACKS];    // what each stack holds where several elements run at a time
  u32 oldest;          // a multiple of `NEAR / 2`
  u32 room;            // marks that `waiting` has room for
  Level* levels;       // what is known of the first levels, but for those in shared memory
  Mark* waiting;       // what waits at levels before `oldest`
  u64 dispatches, narrow;  // all, and those that one warp did by itself
  u32 limit;               // after so many the next run of entries is the host's
  u32 slow;                // whether the last dispatch of all blocks took long
#ifdef RECORDS
  u64 chosen;  // when the last one was
#endif
  Left left;
};

FN Place& policy_level(Policy& p, u32 level) { return p.places[level % NEAR]; }
FN const Place& policy_level(const Policy& p) { return p.places[p.level % NEAR]; }

// Words that a warp copies, a lane each: so many are under way before the first one is waited for.
template <u32 BATCH, class From, class To>
FN void copy_by_lanes(u32 words, From from, To to) {
#pragma unroll 1
  for (u32 i = lane_id(); i < words; i += BATCH * WARP) {
    decltype(from(i)) some[BATCH];
#pragma unroll
    for (u32 j = 0; j < BATCH; j++) some[j] = i + j * WARP < words ? from(i + j * WARP) : 0;
#pragma unroll
    for (u32 j = 0; j < BATCH; j++) {
      if (i + j * WARP < words) to(i + j * WARP, some[j]);
    }
  }
  __syncwarp();
}

// Copies what is known of some levels, `NEAR` at most, between their places in shared memory and their records; only the first levels have any.
template <bool OUT>
FN void policy_copy(Policy& p, u32 from, u32 to) {
  constexpr u32 WORDS = sizeof(Level) / 8;
  to = to < p.reached ? to : p.reached;
  to = to < HERE.known ? to : HERE.known;
  u64* const there = (u64*)(p.levels + from);
  const auto here = [&](u32 i) { return (u64*)&policy_level(p, from + i / WORDS) + i % WORDS; };
  const u32 words = from < to ? (to - from) * WORDS : 0;
  if constexpr (OUT) {
// Nobody waits for what is written.
#pragma unroll 1
    for (u32 i = lane_id(); i < words; i += WARP) there[i] = *here(i);
    __syncwarp();
  } else {
    copy_by_lanes<5>(words, [&](u32 i) { return there[i]; }, [&](u32 i, u64 word) { *here(i) = word; });
  }
}

// Gives half of the places to other levels: what is known of those that had them is put down, and what is known of the others is fetched.
FN void policy_trade(Policy& p, u32 out, u32 in) {
  policy_copy<true>(p, out, out + NEAR / 2);
  u64* const here = (u64*)&policy_level(p, in);
  for (u32 i = lane_id(); i < NEAR / 2 * sizeof(Place) / 8; i += WARP) here[i] = 0;
  __syncwarp();
  policy_copy<false>(p, in, in + NEAR / 2);
}

// What a mark says of what waits at a level in a stack: where it begins, where it ends, and where what waits above it ends, if there is a gap between.
enum MarkKind : u32 { MARK_BEGIN, MARK_END, MARK_FLOOR, MARKS };

// Puts marks for what waits at some levels on their stack, a lane for each channel of each level. False if it has no room for them.
FN bool policy_mark(Policy& p, u32 from, u32 to) {
  const u32 channels = (to - from) * STACKS, before = (1u << lane_id()) - 1;
  // Marks are written to where these may lie, for all the compiler knows.
  Mark* const waiting = p.waiting;
  const u32 room = p.room;
  u32 marks = p.marks;
  __syncwarp();
  for (u32 first = 0; first < channels; first += WARP) {
    const u32 mine = first + lane_id(), real = mine < channels ? mine : channels - 1, level = from + real / STACKS, s = real % STACKS;
    const Place& place = policy_level(p, level);
    const u32 lo = place.lo[s], hi = place.hi[s], floor = place.floor[s];
    // Of an entry channel there may be free places below what waits: the children of a level take them if they all can.
    const bool waits = mine < channels && lo != hi, ends = waits && stacks_entry[s], lifted = ends && floor != lo;
    const u32 some = __ballot_sync(ALL_LANES, waits);
    if (some == 0) continue;
    const u32 end = __ballot_sync(ALL_LANES, ends), lift = __ballot_sync(ALL_LANES, lifted);
    u32 at = marks + (u32)__popc(some & before) + (u32)__popc(end & before) + (u32)__popc(lift & before);
    marks += (u32)__popc(some) + (u32)__popc(end) + (u32)__popc(lift);
    if (marks > room) return false;
    const u32 what = level * MARKS * STACKS + s;
    if (lifted) waiting[at++] = Mark{what + MARK_FLOOR * STACKS, floor};
    if (waits) waiting[at] = Mark{what + MARK_BEGIN * STACKS, lo};
    if (ends) waiting[at + 1] = Mark{what + MARK_END * STACKS, hi};
  }
  if (lane_id() == 0) p.marks = marks;
  __syncwarp();
  return true;
}

// Takes what waits at levels from `from` on off the stack of marks, a lane for each mark: these levels get places, which are clear. What waits ends where
// the next that waits below begins, or at `floor`; `lo` is where that has come to.
FN void policy_unmark(Policy& p, u32 from) {
  for (u32 s = lane_id(); s < STACKS; s += WARP) p.lo[s] = p.floor[s];
  u32 left = p.marks;
  bool more = left != 0;
  __syncwarp();
  while (more) {
    const bool real = lane_id() < left;
    // The last mark first.
    const Mark mine = real ? p.waiting[left - 1 - lane_id()] : Mark{0, 0};
    const u32 s = mine.what % STACKS, kind = mine.what / STACKS % MARKS, level = mine.what / (MARKS * STACKS);
    const bool taken = real && level >= from;
    const u32 all = __ballot_sync(ALL_LANES, taken);
    // Of those of the same channel, the one before it says where this one ends.
    const u32 same = __match_any_sync(ALL_LANES, s) & all, above = same & ((1u << lane_id()) - 1);
    const u32 end = __shfl_sync(ALL_LANES, mine.at, above ? 31 - (u32)__clz((i32)above) : 0, WARP);
    Place& place = policy_level(p, level);
    if (taken && kind == MARK_BEGIN) {
      place.lo[s] = place.floor[s] = mine.at;
      place.hi[s] = above ? end : p.lo[s];
    }
    __syncwarp();
    if (taken && kind == MARK_FLOOR) place.floor[s] = mine.at;
    if (taken && same >> lane_id() == 1) p.lo[s] = mine.at;
    __syncwarp();
    left -= (u32)__popc(all);
    more = all == ALL_LANES && left != 0;
  }
  const u32 kept = p.kept;
  __syncwarp();
  if (lane_id() == 0) {
    p.marks = left;
    p.kept = min_of(kept, left);
  }
  __syncwarp();
}

// Gets the levels above the oldest, which take the places of as many below. Nothing is left at the oldest one.
FN void policy_fill(Policy& p) {
  const u32 from = p.oldest - NEAR / 2;
  policy_trade(p, from + NEAR, from);
  policy_unmark(p, from);
  if (lane_id() == 0) p.oldest = from;
  __syncwarp();
}

// Makes places for levels below the last one: those of the oldest. False if there is no room for more levels.
FN bool policy_slide(Policy& p, Control* c) {
  const u32 oldest = p.oldest;
  if (oldest + NEAR >= MOST_LEVELS || !policy_mark(p, oldest, oldest + NEAR / 2)) {
    if (lane_id() == 0) stop_run(c, LEVELS_FULL, 0, 0, 0);
    return false;
  }
  policy_trade(p, oldest, oldest + NEAR);
  if (lane_id() == 0) p.oldest = oldest + NEAR / 2;
  __syncwarp();
  return true;
}

// What of a stack is promised to elements that run one at a time: `promised` of `rules.rs`.
FN u32 promised(u32 capacity, u32 unit) {
  if ((capacity + LONE - 1) / LONE <= unit) return capacity;
  const u32 half = capacity / 2 / LONE_HALF < unit ? capacity / 2 : LONE_HALF * unit;
  const u32 share = capacity / RESERVE / LONE_SHARE < unit ? capacity / RESERVE : LONE_SHARE * unit;
  return max_of(max_of(LONE * unit, half), max_of(share, capacity / LONE_LEAST));
}

// What a stack holds where several elements run at a time: the rest is for those that run one at a time. A run has one element at most of what is small.
FN u32 wide_of(u32 stack) {
  const u32 capacity = HERE.capacity[stack], few = stacks_few[stack];
  return capacity == few ? capacity : (capacity - promised(capacity, few / FEW)) / NEIGHBOURS * NEIGHBOURS;
}

// The whole block clears the places.
FN void policy_clear(Policy& p) {
  for (u32 i = thread_id(); i < sizeof(p.places) / 8; i += BLOCK) ((u64*)p.places)[i] = 0;
}

// Takes up where others left the run. A run that begins has one level, of which nothing is known, and nothing waits.
static __device__ __noinline__ void policy_resume(Policy& p) {
  policy_copy<false>(p, p.oldest, p.oldest + NEAR);
  policy_unmark(p, p.oldest);
}

// The places are clear.
FN void policy_start(Policy& p, Shared& sh, Control* c, const Standing* standing) {
  constexpr u32 WORDS = sizeof(Standing) / 4, EACH = (WORDS + WARP - 1) / WARP;
  // What is read lies across the device: all of it is asked for at once.
  Level* const levels = c->levels;
  Mark* const waiting = c->waiting;
  const u32 marks = c->marks;
  copy_by_lanes<(EACH < 5 ? EACH : 5)>(WORDS, [&](u32 i) { return ((const u32*)standing)[i]; }, [&](u32 i, u32 word) { ((u32*)&p)[i] = word; });
  for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
  if (lane_id() == 0) {
    p.oldest = p.level / (NEAR / 2) * (NEAR / 2);
    p.levels = levels;
    p.waiting = waiting;
    p.room = marks;
    p.dispatches = p.narrow = 0;
    p.slow = 0;
    p.left = Left{};
    // Nothing has been done yet.
    sh.dispatch.source = SOURCES;
  }
  __syncwarp();
  Place& now = policy_level(p, p.level);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    p.wide[s] = wide_of(s);
    now.lo[s] = p.lo[s];
    now.hi[s] = p.hi[s];
  }
  __syncwarp();
  if (p.begun) policy_resume(p);
}

// Whether children wait for their level to begin.
FN bool policy_pending(const Policy& p) {
  bool pending = false;
  for (u32 s = lane_id(); s < STACKS; s += WARP) pending |= p.young[s] != 0;
  return any_lane(pending);
}

// Puts marks for what waits above the level where the run stands.
static __device__ __noinline__ void policy_rest(Policy& p, Control* c) {
  if (!policy_mark(p, p.oldest, p.level) && lane_id() == 0) stop_run(c, LEVELS_FULL, 0, 0, 0);
}

// Leaves everything where the host finds it.
FN void policy_end(Policy& p, Control* c, Standing* standing) {
  policy_copy<true>(p, p.oldest, p.oldest + NEAR);
  if (p.level != p.oldest) policy_rest(p, c);
  const Place& now = policy_level(p, p.level);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    p.lo[s] = now.lo[s];
    p.hi[s] = now.hi[s];
  }
  if (lane_id() == 0) {
    c->dispatches = p.dispatches;
    c->narrow = p.narrow;
  }
  __syncwarp();
#pragma unroll 1
  for (u32 i = lane_id(); i < sizeof(Standing) / 4; i += WARP) ((u32*)standing)[i] = ((u32*)&p)[i];
}

// What was pushed to entry channels from this level. A lane of each stack gets it.
FN f32 policy_children(const Place& now) {
  f32 children = 0;
  for (u32 s = lane_id(); s < STACKS; s += WARP) children += stacks_entry[s] ? now.pushed[s] : 0;
  for (u32 o = 1; o < WARP && o < STACKS; o <<= 1) children += bitcast<f32>(__shfl_xor_sync(ALL_LANES, bitcast<u32>(children), o, WARP));
  return children;
}

// Of so many elements a source may run while children wait for their level to begin. What one pushes that data decides on may be more than there is room for: then it
// has to be able to wait for the levels below, which an element that runs alone is not.
FN u32 least_to_join(const Source& from) { return !from.entry ? 0xffffffffu : from.most ? 1 : from.tile ? 2 : 0xffffffffu; }

// Whether any may. Neighbouring children are stored two at a time; and what is promised to elements that run alone is for the ancestors of what comes next.
FN bool policy_others(const Policy& p) {
  const Place& now = policy_level(p);
  bool waits = false, refused = false, others = false;
  for (u32 s = lane_id(); s < STACKS; s += WARP) waits |= stacks_entry[s] && now.hi[s] != now.lo[s];
  // Mostly nothing does. Lanes that each read another word of a table wait for each other.
  if (!any_lane(waits)) return false;
  for (u32 s = lane_id(); s < STACKS; s += WARP) refused |= p.top[s] > p.wide[s] || (p.young[s] && p.top[s] % 2 && stacks_paired[s]);
  for (u32 s = lane_id(); s < SOURCES; s += WARP) others |= now.hi[sources[s].stack] - now.lo[sources[s].stack] >= least_to_join(sources[s]);
  return !any_lane(refused) && any_lane(others);
}

// Goes down to the next level, which is the children. False if there is no room for another level.
FN bool policy_descend(Policy& p, Control* c) {
  const u32 level = p.level + 1;
  __syncwarp();
  if (level == p.oldest + NEAR && !policy_slide(p, c)) return false;
  Place& now = policy_level(p, p.level);
  Place& next = policy_level(p, level);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    const u32 young = p.young[s], end = now.hi[s], top = young ? p.top[s] : end;
    now.floor[s] = p.floor[s];
    p.floor[s] = end;
    next.lo[s] = top - young;
    next.hi[s] = p.top[s] = top;
    p.young[s] = 0;
  }
  __syncwarp();
  if (lane_id() == 0) {
    p.level = level;
    if (level >= p.reached) p.reached = level + 1;
    if (level >= p.expected) p.expected = level + 1;
  }
  __syncwarp();
  return true;
}

// Begins the next record, for the lanes to note what was pushed; null if none is kept. All lanes call it.
// Of what a worker decides nobody keeps record.
#if defined(RECORDS) && !defined(WORKERS)
FN Record* next_record(u64 begun, u32 narrow, u32 source, u32 level, u32 first, u32 count, Left left) {
  Record* record = nullptr;
  if (lane_id() == 0) {
    Records* const all = HERE.records;
    const u32 at = all->kept++;
    if (at < all->room) {
      record = (Record*)(all + 1) + at;
      record->begin = begun;
      record->end = now_ns();
      record->narrow = narrow;
      record->source = source;
      record->level = level;
      record->first = first;
      record->count = count;
      record->left = left.count;
      record->bottom = left.bottom;
      record->moves = left.moves;
    }
  }
  __syncwarp();
  return (Record*)shuffle_wide((u64)record, 0);
}
#else
FN Record* next_record(u64, u32, u32, u32, u32, u32, Left) { return nullptr; }
#endif

// When the last dispatch was chosen, if anybody wants to know.
FN void policy_begins([[maybe_unused]] Policy& p) {
#ifdef RECORDS
  p.chosen = now_ns();
#endif
}
FN u64 policy_chosen([[maybe_unused]] const Policy& p) {
#ifdef RECORDS
  return p.chosen;
#else
  return 0;
#endif
}

// Notes what was pushed.
FN void note(Record& record, u32 push, u32 elements, u32 base, u32 room) {
  record.pushed[push] = elements;
  record.base[push] = base;
  record.room[push] = room;
}

// Takes in what a dispatch did: what it left over stands in its channel again; children open the next level, unless another source may run before;
// everything else that it pushed lies on this one. Whether children wait, or their level has begun.
FN bool policy_take(Policy& p, Control* c, Shared& sh, u32 blocks, bool& full) {
  Dispatch& d = sh.dispatch;
  const Source from = sources[d.source];
  Place& now = policy_level(p, p.level);
  const bool known = p.level < HERE.known;
  Left left = {d.first, sh.full && from.tile ? d.count : 0, 0};
#ifdef GIVES_BACK
  if (from.tile && !sh.local) left = plan_moves(sh, c, d, from.tile, blocks);
#endif
  const u32 taken = d.count - left.count;
  full = taken == 0 && d.count == 1;
  __syncwarp();
  if (lane_id() == 0) {
    p.left = left;
    if (left.count) {
      // One element that was the first.
      const bool ordered = now.lo[from.stack] > d.first;
      if (ordered || now.lo[from.stack] == d.first) now.lo[from.stack] = left.bottom;
      if (!ordered) now.hi[from.stack] = left.bottom + left.count;
      if (!from.entry) p.top[from.stack] = now.hi[from.stack];
    }
    // A run that found no room for anything is tried again with fewer elements.
    p.most = taken ? 0xffffffffu : d.count > RETRY ? d.count / RETRY : 1;
    p.consumed[d.source] += taken;
    if (from.entry && known) now.elements += taken;
  }
  u32 average = 0;  // of what depends on data, the most that an element pushed
  Record* const record = next_record(policy_chosen(p), 0, d.source, d.level, d.first, d.count, left);
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const Push push = pushes[from.first_push + i];
    // Relaxed: the barrier before has ordered the reservations.
    const u64 counted = sh.local ? sh.counter[push.group] : GLOBAL_LOAD(&c->counter[push.group]);
    u32 units = counted >> 32 ? 0xffffffffu : (u32)counted;
    if (from.tile && push.max == 0) {
      const u32 limit = sh.local ? (sh.full ? 0 : units) : GLOBAL_LOAD(&c->limit);
      units = units < limit ? units : limit;
    }
    const u32 pushed = units * push.ratio;
    if (record) note(*record, i, pushed, d.base[i], d.room[i]);
    u32 top = p.top[push.stack] + pushed;
    if (!stacks_entry[push.stack]) {
      p.top[push.stack] = top;
    } else if (pushed) {
      p.young[push.stack] += pushed;
      p.top[push.stack] = top = d.base[i] + pushed;
    }
    if (top > p.peak[push.stack]) p.peak[push.stack] = top;
    if (known) now.pushed[push.stack] += (f32)pushed;
    if (push.max == 0 && taken) average = max_of(average, pushed / taken + (pushed % taken != 0));
    if (push.max == 0 && full) stop_run(c, CHANNEL_FULL, push.stack, 0, 0);
  }
  // Of several such channels each has a lane, and all lanes compare before one writes.
  average = max_lane(average);
  if (lane_id() == 0 && average > p.average[d.source]) p.average[d.source] = average;
  __syncwarp();
  if (sh.local) {
    for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
  } else {
    for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) __nv_atomic_store_n(&c->counter[g], 0ull, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    if (lane_id() == 0 && from.tile) {
      // Relaxed: the barrier that begins the next dispatch orders them.
      __nv_atomic_store_n(&c->ticket, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_store_n(&c->given, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_store_n(&c->limit, 0xffffffffu, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
  }
  const bool children = policy_pending(p);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    if (!stacks_entry[s]) now.hi[s] = p.top[s];
    // What was consumed gives its space back.
    if (now.lo[s] == now.hi[s]) now.lo[s] = now.hi[s] = p.floor[s];
    if (p.young[s] == 0) p.top[s] = now.hi[s];
  }
  __syncwarp();
  if (children && !(SEVERAL && now.lo[from.stack] == now.hi[from.stack] && policy_others(p))) full |= !policy_descend(p, c);
  __syncwarp();
  return children;
}

// Frames that no continuation of this level waits for are done.
FN void policy_release(Policy& p) {
  Place& now = policy_level(p, p.level);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    if (!stacks_frame[s]) continue;
    bool waiting = false;
    for (u32 k = 0; k + 1 < stacks_frame[s]; k++) waiting |= now.hi[s + 1 + k] != now.lo[s + 1 + k];
    if (!waiting) p.top[s] = now.hi[s] = now.lo[s];
  }
  __syncwarp();
}

// Where the next elements of a stack go: those of a level lie one behind another.
FN u32 base_of(const Policy& p, u32 stack) {
  const u32 top = p.top[stack];
  return stacks_entry[stack] && (!SEVERAL || p.young[stack] == 0) ? aligned(top) : top;
}

// How many more elements a stack holds, where several run or one alone.
FN u32 room_of(const Policy& p, u32 stack, bool alone) {
  const u32 base = base_of(p, stack);
  const u32 all = alone ? HERE.capacity[stack] : p.wide[stack];
  return all > base ? all - base : 0;
}

// How many elements of this level find room with all that they and everything below them push; all ones if that is not known.
FN u32 policy_share(const Policy& p, bool pending) {
  const Place& now = policy_level(p);
  // Of a level whose children have not begun nothing is known of what lies below.
  if (now.elements == 0 || (pending && p.reached == p.level + 1)) return 0xffffffffu;
  const f32 children = policy_children(now);
  u32 waiting = 0;
  for (u32 s = 0; pending && s < STACKS; s++) waiting += p.young[s];
  const f32 young = (f32)waiting;
  f32 share = 4e9f;
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    const f32 need = (now.pushed[s] + children * now.below[s]) / (f32)now.elements;
    const u32 room = p.wide[s] > p.top[s] ? p.wide[s] - p.top[s] : 0;
    // What children push that wait already, and all below them, has its room too.
    const f32 free = FILL * (f32)room - (pending ? young * now.below[s] : 0);
    const f32 fit = need > 0 ? (free > 0 ? free : 0) / need : share;
    share = fit < share ? fit : share;
  }
  return min_lane((u32)share);
}

// Of elements that do not all find room at once as many are run each time, in whole tiles: what would be left for last is few elements.
FN u32 even(u32 have, u32 most, u32 tile) {
  if (have <= most || most == 0) return min_of(have, most);
  most = most / tile * tile;
  const u32 runs = (have + most - 1) / most, each = (have + runs - 1) / runs;
  return (each + tile - 1) / tile * tile;
}

// How many elements of a source may run now, of those that it has; a lane for each push. `blocked`: the channel that has no room, where that is so.
FN u32 policy_run(const Policy& p, u32 source, u32 have, u32 share, u32& blocked) {
  const Source from = sources[source];
  const Place& now = policy_level(p);
  u32 room = 0xffffffffu, full = 0xffffffffu;
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const Push push = pushes[from.first_push + i];
    // Something is left for the levels below, whatever the estimates say.
    const u32 all = room_of(p, push.stack, false), left = all - all / RESERVE;
    u32 fit = 0;
    if (push.max) {
      fit = left / push.max;
    } else if (from.tile && now.elements) {
      // What finds no room is given back.
      const f32 each = now.pushed[push.stack] / (f32)now.elements;
      fit = (u32)((f32)left / (each > LEAST_PUSHED ? each : LEAST_PUSHED));
    } else if (push.turn && now.elements) {
      // Who finds no room at a restart point waits there.
      const f32 each = now.pushed[push.stack] / (f32)now.elements;
      fit = (u32)((f32)left / (2.0f * (each > (f32)push.turn ? each : (f32)push.turn)));
    } else {
      const u32 average = p.average[source];
      fit = left / (average ? 2 * max_of(average, push.turn) : from.tile ? GUESS_YIELDS : max_of(GUESS, 2 * push.turn));
    }
    if (push.max == 0 && fit == 0 && left && left >= push.turn) fit = 1;
    room = fit < room ? fit : room;
    if (fit == 0 && i < full) full = i;
  }
  room = min_lane(room);
  if (room == 0) blocked = pushes[from.first_push + min_lane(full)].stack;
  if (room == 0xffffffffu) return have;
  if (share == 0xffffffffu) share = room / (p.expected > p.level + 1 ? p.expected - p.level : GUESS_LEVELS);
  // However little it is, the levels below find room too.
  const u32 small = room / RESERVE + (room < RESERVE) < SMALL_SHARE ? room / RESERVE + (room < RESERVE) : SMALL_SHARE;
  if (share < small) share = small;
  u32 run = room < share ? room : share;
  run = run < p.most ? run : p.most;
#ifdef WORKERS
  // One block gives back all of a run or nothing.
  if (from.tile) run = min_of(run, from.tile);
#endif
  // Only a run that goes down to the last element may have a tile that is not full.
  const u32 tile = from.tile && run > from.tile ? from.tile : 1;
  return even(have, run, tile);
}

// Whether an element of a source finds room that runs alone.
FN bool policy_fits(const Policy& p, const Source& from) {
  bool fits = true;
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const Push push = pushes[from.first_push + i];
    fits &= (push.max ? push.max : max_of(push.turn, 1u)) <= room_of(p, push.stack, true);
  }
  return !any_lane(!fits);
}

// The largest run of several sources.
struct Largest {
  u32 count = 0, source = 0;
  u32 have = 0;           // all that its level has of the source
  bool promised = false;  // whether it takes of the promised room
};

// Of equal ones the first; and what takes nothing of the promised room goes before what does.
FN Largest larger(const Largest& a, const Largest& b) {
  return b.count > a.count || (b.count && b.count == a.count && a.promised && !b.promised) ? b : a;
}

// What is to be run. A `count` of 0, and the channel that is full, when nothing that is left finds room. While children wait (`pending`), of what may join
// what runs as a whole; a `count` of 0 if nothing does.
FN void policy_weigh(const Policy& p, bool pending, u32& source, u32& count, u32& full) {
  const Place& now = policy_level(p);
  const u32 share = policy_share(p, pending);
  Largest entry, other;
  bool alone = false;
  for (u32 first = 0; first < SOURCES; first += WARP) {
    const u32 own = first + lane_id(), mine = own < SOURCES ? now.hi[sources[own].stack] - now.lo[sources[own].stack] : 0;
    for (u32 left = __ballot_sync(ALL_LANES, mine != 0); left; left &= left - 1) {
      const u32 lane = (u32)__ffs((i32)left) - 1, s = first + lane;
      u32 blocked = 0;
      Largest run;
      run.source = s;
      run.have = __shfl_sync(ALL_LANES, mine, lane, WARP);
      if (pending && run.have < least_to_join(sources[s])) continue;
      run.count = policy_run(p, s, run.have, share, blocked);
      if (pending && run.count != run.have) continue;
      if (run.count == 0) {
        run.promised = run.count = policy_fits(p, sources[s]);
        if (run.count == 0) full = max_of(full, blocked);
      }
      if (sources[s].entry) {
        alone |= run.promised;
        entry = larger(entry, run);
      } else {
        other = larger(other, run);
      }
    }
  }
  // Entries first, unless they are short of room, or fewer than continuations are; or if one would be the second that is under way by itself.
  const bool second = alone && entry.count == 1 && other.count;
  const bool waits = other.count && entry.count < SMALL_SHARE && (entry.count < entry.have || entry.count < other.count);
  const bool entries = entry.count != 0 && !second && !waits;
  count = entries ? entry.count : other.count;
  source = entries ? entry.source : other.source;
}

// Below an entry run of all that its level has there are free places, those of the level before last: where children of the same channel go if all of them
// find room, so that a chain does not climb. `needs`: what the run pushes at most; 0 if nobody knows.
template <class Needs>
FN bool has_gap(bool whole, u32 floor, u32 first, Needs needs) {
  // By all lanes alike: a branch costs more.
  return whole & (needs != 0) & (aligned(floor) + needs <= first);
}

// The level of children that waited begins, as nobody joins. That is rare, and does not stand among what each dispatch fetches.
static __device__ __noinline__ bool policy_begin(Policy& p, Control* c) { return policy_descend(p, c); }

// Chooses the next run. False when nothing that is left finds room.
FN bool policy_choose(Policy& p, Control* c, Shared& sh) {
  u32 source = 0, count = 0, full = 0;
#pragma unroll 1
  for (bool pending = SEVERAL && policy_pending(p);; pending = false) {
    policy_weigh(p, pending, source, count, full);
    if (count || !pending) break;
    if (!policy_begin(p, c)) return false;
  }
  if (count == 0) {
    if (lane_id() == 0) stop_run(c, CHANNEL_FULL, full, 0, 0);
    return false;
  }
  const Source from = sources[source];
  Place& now = policy_level(p, p.level);
  Dispatch& d = sh.dispatch;
  // One by one elements run in the order in which they were spawned. Of several the last ones go, so that their places are free for what comes of the others.
  const u32 begin = now.lo[from.stack], end = now.hi[from.stack];
  const bool ordered = from.entry && count == 1 && end - begin > 1;
  const u32 first = ordered ? begin : end - count;
  __syncwarp();
  if (lane_id() == 0) {
    d.source = source;
    d.level = p.level;
    d.count = count;
    d.first = first;
    if (ordered) {
      now.lo[from.stack] = begin + count;
    } else {
      now.hi[from.stack] = first;
    }
    // A continuation's element is not on the channel any more; an entry's children go above it.
    if (!from.entry) p.top[from.stack] -= count;
    p.dispatches++;
    d.number = (u32)p.dispatches;
    sh.full = sh.staged = 0;
#ifdef WORKERS
    sh.local = 1;
#else
    sh.local = count <= from.alone;
#endif
    policy_begins(p);
  }
  __syncwarp();
  const bool gap = from.entry && has_gap(now.lo[from.stack] == first && (!SEVERAL || p.young[from.stack] == 0), p.floor[from.stack], first, (u64)count * from.most);
  for (u32 i = lane_id(); i < from.pushes; i += WARP) {
    const u32 stack = pushes[from.first_push + i].stack;
    if (gap && stack == from.stack) {
      d.base[i] = aligned(p.floor[stack]);
      d.room[i] = first - d.base[i];
      continue;
    }
    d.base[i] = base_of(p, stack);
    const u32 turn = count == 1 ? pushes[from.first_push + i].turn : 0;
    const u32 room = room_of(p, stack, count == 1 && turn == 0);
    // With a restart point it goes on later, so that half is for the levels below.
    d.room[i] = turn ? max_of(room / 2, turn) : count > 1 ? room - room / RESERVE : room;
  }
  return true;
}

// The dispatch that moves together what the last one left over.
FN void policy_moves(Policy& p, Shared& sh) {
  Dispatch& d = sh.dispatch;
  // All lanes have read how many move: the vote before orders no memory.
  __syncwarp();
  if (lane_id() == 0) {
    const Source from = sources[d.source];
    d.base[0] = from.stack;
    d.room[0] = from.tile;
    d.level = p.left.moves;
    d.source = SOURCES;
    p.left.moves = 0;
    p.dispatches++;
    d.number = (u32)p.dispatches;
    sh.full = sh.local = 0;
  }
}

