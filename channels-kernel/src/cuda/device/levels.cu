// The policy where runs are narrow, in registers: it takes in, goes down and up, and chooses as `policy.cu` does, one dispatch after another,
// until a run is not narrow. A narrow run has room for many times what it pushes. Then no estimate is asked, for all of it is always
// allowed, and so `policy.rs` needs no such thing.
//
// One warp does all of it, and nothing hides what an instruction takes: what is known is not asked again.

// Takes the level up from where it lies.
FN void narrow_load(Policy& p, Narrow& n) {
  const Place& from = *(n.place = &policy_level(p, n.level));
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = n.own.of[k];
    n.lo.of[k] = from.lo[s];
    n.hi.of[k] = from.hi[s];
    n.pushed.of[k] = from.pushed[s];
  }
  n.elements = from.elements;
}

// What was pushed to entry channels from a level: the sum of `policy_children`, in the same order, by each lane alone.
FN f32 narrow_children(const Place& level) {
  constexpr u32 LANES = STACKS < WARP ? STACKS : WARP;
  f32 lane[LANES] = {};
#pragma unroll
  for (u32 s = 0; s < STACKS; s++) {
    if (is_entry(s)) lane[s % WARP] += level.pushed[s];
  }
#pragma unroll
  for (u32 step = 1; step < LANES; step *= 2) {
#pragma unroll
    for (u32 l = 0; l + step < LANES; l += 2 * step) lane[l] += lane[l + step];
  }
  return lane[0];
}

// Frames that no continuation of the level waits for are done, as in `policy_release`.
FN void narrow_release(Narrow& n) {
  // A bit for each stack that has elements: those of a frame's continuations follow its own.
  Each<u32> have;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) have.of[k] = __ballot_sync(ALL_LANES, n.hi.of[k] != n.lo.of[k]);
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = n.own.of[k], frames = n.frames.of[k];
    bool waiting = false;
#pragma unroll
    for (u32 j = 0; j < PER_LANE; j++) {
      const u32 begin = s + 1 > j * WARP ? s + 1 - j * WARP : 0, end = s + frames > j * WARP ? s + frames - j * WARP : 0;
      const u32 upto = end < WARP ? end : WARP;
      waiting |= begin < upto && (have.of[j] >> begin & (u32)((1ull << (upto - begin)) - 1));
    }
    if (frames && !waiting) n.top.of[k] = n.hi.of[k] = n.lo.of[k];
  }
}

// Puts down where in each stack the elements end that wait above.
FN void narrow_floor(Policy& p, const Narrow& n) {
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    p.floor[n.own.of[k]] = n.floor.of[k];
  }
  __syncwarp();
}

// How many levels were reached is looked at where the run has been at its deepest.
FN void narrow_reach(Narrow& n) { n.reached = max_of(n.reached, n.level + 1); }

// Up to the next level that has work, or to the first one.
FN void narrow_up(Policy& p, Narrow& n) {
  narrow_reach(n);
  __syncwarp();
  narrow_store(n);
  __syncwarp();
  Each<f32> below;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) below.of[k] = n.place->below[n.own.of[k]];
  bool work = false;
  while (true) {
    if (n.level == n.oldest) {
      if (n.lane == 0) p.reached = n.reached;
      narrow_floor(p, n);
      policy_fill(p);
      n.oldest = p.oldest;
    }
    do {
      const Place& done = policy_level(p, n.level);
      Place& up = policy_level(p, --n.level);
      const f32 children = narrow_children(done);
      const f32 count = max_of((f32)done.elements, 1.0f);
      work = false;
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) {
        // Asked for before anything is written, for all the compiler knows to the same place.
        const u32 s = n.own.of[k], floor = up.floor[s];
        const bool waits = up.lo[s] != up.hi[s];
        work |= n.feeds.of[k] && waits;
        // Where there is no work frames may lie that are done: what waits above ends before them.
        if (waits) n.floor.of[k] = floor;
        below.of[k] = quotient(done.pushed[s] + children * below.of[k], count);
        up.below[s] = below.of[k];
      }
    } while (!any_lane(work || n.level == n.oldest));
    if (n.level != n.oldest || n.level == 0 || any_lane(work)) break;
  }
  narrow_load(p, n);
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    // Where nothing waits, what waits above ends where it did; otherwise it ends at `lo`.
    if (n.lo.of[k] == n.hi.of[k]) n.lo.of[k] = n.hi.of[k] = n.floor.of[k];
  }
  n.top = n.hi;
}

// How many more elements every stack holds that has more than one in the run; for one that runs alone, or for several.
FN u32 narrow_room(const Narrow& n, bool alone) {
  u32 room = 0xffffffffu;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = n.own.of[k], all = alone ? n.capacity.of[k] : wide_of(s);
    const u32 base = n.top.of[k] + NEIGHBOURS - 1, left = all > base ? all - base : 0;
    if (n.capacity.of[k] != stacks_few[s]) room = left < room ? left : room;
  }
  room = min_lane(room);
  return alone ? room : room - room / RESERVE;
}

// Whether the level has just one element, and that finds room which is for such.
FN bool narrow_alone(const Narrow& n, const Each<u32>& most) {
  u32 have = 0;
  bool fits = true;
  const u32 room = narrow_room(n, true);
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 own = n.feeds.of[k] && is_real(k, n.lane) ? n.hi.of[k] - n.lo.of[k] : 0;
    have += own;
    fits &= is_narrow(own, most.of[k], room);
  }
  const u32 who = __ballot_sync(ALL_LANES, have != 0);
  return !any_lane(have > 1 || !fits) && __popc(who) == 1;
}

// Whether a stack's elements may join others.
FN bool narrow_joins(const Narrow& n, u32 k) {
  const u32 source = stacks_source[n.own.of[k]];
  return source && n.hi.of[k] - n.lo.of[k] >= least_to_join(sources[source - 1]);
}

// What a stack has that may run: all of it, or what may join while children wait.
FN u32 narrow_have(const Narrow& n, u32 k) {
  const u32 have = n.feeds.of[k] ? n.hi.of[k] - n.lo.of[k] : 0;
  return SEVERAL && n.pending && have && !narrow_joins(n, k) ? 0 : have;
}

// Whether it is known what they push. Else the policy's estimates tell whether what joins finds room: of them all that a level pushed is part.
FN bool narrow_known(const Narrow& n, u32 k, u32 have) { return !SEVERAL || !n.pending || have == 0 || n.most.of[k] != 0; }

// Whether a source that is not the run's may join it.
FN bool narrow_others(const Narrow& n, u32 next) {
  Each<bool> waits;
  bool some = false, others = false;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) some |= waits.of[k] = n.entry.of[k] && n.own.of[k] != next && n.hi.of[k] != n.lo.of[k];
  // Mostly nothing does. Lanes that each read another word of a table wait for each other.
  if (!any_lane(some)) return false;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) others |= waits.of[k] && narrow_joins(n, k);
  return any_lane(others);
}

// Whether neighbouring children, which are stored two at a time, may lie behind what waits.
FN bool narrow_even(const Narrow& n) {
  bool odd = false;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) odd |= stacks_paired[n.own.of[k]] && n.young.of[k] && n.top.of[k] % 2;
  return !any_lane(odd);
}

// Hands in how many elements were consumed: 32 bits are not enough for long.
FN void narrow_consumed(Policy& p, Narrow& n) {
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    if (n.feeds.of[k] && is_real(k, n.lane)) p.consumed[stacks_source[n.own.of[k]] - 1] += n.consumed.of[k];
    n.consumed.of[k] = 0;
  }
}

// What an element of a source needs to get on, where it has restart points.
FN u32 turn_of(const Source& source) {
  u32 turn = 0;
  for (u32 i = 0; i < source.pushes; i++) turn = max_of(turn, pushes[source.first_push + i].turn);
  return turn;
}

// What an element pushed, where that depends on data: the most seen.
FN void narrow_average(Policy& p, const Narrow& n, Each<u32>& most, u32 taken) {
  if (most_of(n.stack)) return;
  const u32 source = stacks_source[n.stack] - 1;
  const Source from = sources[source];
  u32 units = 0;
  for (u32 i = 0; i < from.pushes; i++) {
    const Push push = pushes[from.first_push + i];
    if (push.max == 0) units = max_of(units, of_stack(n.added, push.stack));
  }
  const u32 average = units / taken + (units % taken != 0);
  if (n.lane == 0 && p.average[source] < average) p.average[source] = average;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    if (n.stack == n.own.of[k]) most.of[k] = max_of(most.of[k], 2 * average);
  }
}

// What is to run next has the greatest key: most elements first, entries before continuations, the first stack of several. From the highest
// bit down: the count, 1 for an entry channel, the complement of the stack's number.
FN u32 narrow_key(u32 count, u32 entry, u32 stack) { return count << 17 | entry << 16 | (0xffff - stack); }
FN u32 key_count(u32 key) { return key >> 17; }
FN bool key_entry(u32 key) { return key >> 16 & 1; }
FN u32 key_stack(u32 key) { return 0xffff - (key & 0xffff); }

// Whether no run of the level is narrow, whatever room there is: some source has too many elements, or any of what is much work.
FN bool is_wide(const Policy& p) {
  const Place& now = policy_level(p);
  bool wide = false;
  for (u32 s = lane_id(); s < SOURCES; s += WARP) {
    const u32 have = now.hi[sources[s].stack] - now.lo[sources[s].stack];
    wide |= have > (sources[s].narrow ? NARROW_ITEMS * WARP : 0);
  }
  return any_lane(wide);
}

// False when there is no more work, or when the run has to end.
FN bool narrow_levels(Policy& policy, Shared& sh, Control* control) {
  // In a register, as the lane's number.
  Policy& p = *(Policy*)at_near(near_of(&policy));
  // After a run that found no room for anything, fewer elements are tried. And of a level that is not narrow nothing is to be taken up.
  if (p.most != 0xffffffffu || is_wide(p)) return true;
  Narrow n;
  Each<u32> most;
  n.lane = held(lane_id());
  n.before = held((1u << n.lane) - 1);
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) n.own.of[k] = held(min_of(k * WARP + n.lane, STACKS - 1));
  n.level = p.level;
  n.room = 0;
  n.reached = p.reached;
  n.number = (u32)p.dispatches;
  n.oldest = p.oldest;
  narrow_load(p, n);
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = n.own.of[k], source = stacks_source[s];
    n.top.of[k] = p.top[s];
    n.young.of[k] = SEVERAL ? p.young[s] : 0;
    n.floor.of[k] = p.floor[s];
    n.peak.of[k] = p.peak[s];
    n.consumed.of[k] = 0;
    n.capacity.of[k] = HERE.capacity[s];
    n.frames.of[k] = held_of_table(stacks_frame[s]);
    n.entry.of[k] = held_of_table(stacks_entry[s]);
    n.most.of[k] = held_of_table(source && n.entry.of[k] ? sources[source - 1].most : 0);
    n.feeds.of[k] = source != 0;
    most.of[k] = source ? sources[source - 1].most : 1;
    if (most.of[k] == 0) most.of[k] = max_of(2 * max_of(p.average[source - 1], turn_of(sources[source - 1])), GUESS);
    // Of what is much work no run is narrow.
    if (source && sources[source - 1].narrow == 0) most.of[k] = 0xffffffffu;
  }
  bool more = true;
  n.children = 1;
  n.pending = SEVERAL && policy_pending(p);
  n.others = false;
  u32 few = 0;
  while (true) {
    if (few == 0) {
      u32 best = 0;
      bool fits = true;
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) {
        const u32 have = narrow_have(n, k);
        const u32 key = narrow_key(have, n.entry.of[k], n.own.of[k]);
        if (have && key > best) best = key;
        fits &= is_narrow(have, most.of[k], n.room) && narrow_known(n, k, have);
      }
      best = max_lane(best);
      if (best == 0) {
        if (SEVERAL && n.pending) break;
        more = n.level != 0;
        if (!more) break;
        narrow_up(p, n);
        // Of what waits here, frames may be done: a continuation that ran before the last entries did, and that had children, left them.
        n.children = 0;
        continue;
      }
      // The last run was of this level, or of the levels below.
      if (n.children == 0 && !n.pending) narrow_release(n);
      if (n.number >= p.limit && key_entry(best)) break;
      if (any_lane(!fits)) {
        // By what room there was, less all that was pushed since. By what there is:
        n.room = narrow_room(n, false);
        fits = true;
#pragma unroll
        for (u32 k = 0; k < PER_LANE; k++) fits &= is_narrow(narrow_have(n, k), most.of[k], n.room) && narrow_known(n, k, narrow_have(n, k));
        if (any_lane(!fits) && (n.pending || !narrow_alone(n, most))) break;
      }
      n.next = key_stack(best);
      n.others = SEVERAL && narrow_others(n, n.next);
      few = key_count(best);
      n.at = of_stack(n.hi, n.next) - few;
    }
    narrow_begin(n, n.next, n.at, few);
    run_narrow(p, sh, n);
    // What one lane has written the others read in the next run.
    __syncwarp();
    const u32 taken = n.count - n.left;
    if (n.failed || n.number % 256 == 0 || n.data) {
      if (n.number % 256 == 0) {
        // The host's flag lies across the bus: it is looked at now and then.
        u64 since = 0;
        n.failed |= any_lane(n.lane == 0 && should_stop(control, since));
        worker_goes_on(n.number);
        narrow_consumed(p, n);
      }
      if (n.failed) {
        more = false;
        break;
      }
      if (taken) narrow_average(p, n, most, taken);
    }
    narrow_take(n, narrow_pushed_to(n));
    if (n.children == 0 && !n.pending) {
      // What was consumed gives its space back.
      n.top = n.hi;
      few = 0;
      if (taken) continue;
      // It is tried again with fewer elements.
      if (n.lane == 0) p.most = n.count > RETRY ? n.count / RETRY : 1;
      break;
    }
    const bool before = n.pending;
    if (SEVERAL && n.others && n.left == 0 && narrow_even(n)) {
#pragma unroll
      for (u32 k = 0; k < PER_LANE; k++) {
        if (n.young.of[k] == 0) n.top.of[k] = n.hi.of[k];
      }
      n.pending = true;
      few = 0;
      continue;
    }
    if (n.level + 1 == n.oldest + NEAR) {
      narrow_reach(n);
      if (n.lane == 0) p.reached = n.reached;
      __syncwarp();
      if (!policy_slide(p, control)) {
        more = false;
        break;
      }
      n.oldest = p.oldest;
    }
    narrow_down(p, n);
    few = n.children == 1 && !before ? n.few : 0;
    // What joined and found no room for anything waits for the levels below, and these are tried with fewer elements.
    if (SEVERAL && taken == 0) {
      if (n.lane == 0) p.most = n.count > RETRY ? n.count / RETRY : 1;
      break;
    }
  }
  __syncwarp();
  narrow_reach(n);
  narrow_store(n);
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    p.top[n.own.of[k]] = n.top.of[k];
    p.young[n.own.of[k]] = n.young.of[k];
    p.peak[n.own.of[k]] = n.peak.of[k];
  }
  narrow_floor(p, n);
  narrow_consumed(p, n);
  if (n.lane == 0) {
    p.level = n.level;
    if (n.reached > p.reached) p.reached = n.reached;
    // One level was there at the beginning.
    if (n.reached > 1 && n.reached > p.expected) p.expected = n.reached;
    const u32 runs = n.number - (u32)p.dispatches;
    p.dispatches += runs;
    p.narrow += runs;
  }
  __syncwarp();
  return more;
}

// The next dispatch that is not narrow. `stop` when all is done, or when the run has to end.
FN void policy_next(Policy& p, Shared& sh, Control* c, u32 blocks) {
  bool full = false, work = false;
  if (sh.dispatch.source < SOURCES) work = policy_take(p, c, sh, blocks, full);
  // Relaxed: pairs with `stop_run`, which is seen by now if it was of the last dispatch. Another block may call it at any time, and the lanes
  // have to go the same way.
  const bool moves = p.left.moves != 0;
  bool more = !any_lane(full || GLOBAL_LOAD(&c->status) != OK);
  if (more && moves) {
    policy_moves(p, sh);
  } else if (more) {
    // Of a run that others began, children may wait.
    if (!work && !(SEVERAL && policy_pending(p))) policy_release(p);
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
