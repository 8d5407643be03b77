// The tier inside the blocks: each is a worker with channels of its own, ranges of the run's, and an aggregator of its own. A subtree dispatch gives
// workers the elements of an entry channel, the roots; a worker runs what it has with all that comes of it. README.md has the protocol.
//
// Only tasks without frames are run so. Their elements wait for nobody and nobody waits for them, so a channel is a plain stack without levels: the
// newest elements run first, as many as a block takes at a time, and the oldest, which have the largest subtrees, go to workers that have none.
#ifdef WORKERS

// Why a worker stops.
enum WorkerStop : u32 { GOES_ON, NO_MORE, NO_ROOM };
enum GiftState : u32 { GIFT_NONE, GIFT_OFFERED, GIFT_TAKEN };

// An element of so many pushes at most as often as this finds room before a dispatch takes no more elements: something is left for what comes of them.
#define ROOM_SHARE 4u
// The same where nobody knows how many.
#define ROOM_GUESS 16u
// One child of an element, in the units of what is seen.
#define EACH_ONE 16u
// So many levels of what runs at a time find room beside each other, whatever each of them leaves.
#define ROOM_LEVELS 16u
// A dispatch takes no more tiles: what comes once a dispatch is worth the more the more elements it has.
#define MOST_TILES 4u
// A worker gives away no more elements at a time.
#define MOST_DONATED 1024u

// Gives the worker its ranges. All threads call it.
FN void own_begins(Crew& crew) {
  Own& o = own();
  for (u32 i = thread_id(); i < sizeof(Own) / 4; i += BLOCK) ((u32*)&o)[i] = 0;
  __syncthreads();
  for (u32 i = thread_id(); i < sizeof(Channels) / 4; i += BLOCK) ((u32*)&o.channels)[i] = ((const u32*)&device_channels)[i];
  for (u32 i = thread_id(); i < sizeof(Control) / 4; i += BLOCK) ((u32*)&o.control)[i] = ((const u32*)device_channels.control)[i];
  for (u32 g = thread_id(); g < MAX_GROUPS; g += BLOCK) shared().counter[g] = 0;
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) o.at[s] = crew.base[s] + blockIdx.x * crew.share[s];
  __syncthreads();
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) o.channels.capacity[s] = crew.share[s];
  for (u32 s = thread_id(); s < SOURCES; s += BLOCK) o.each[s] = ROOM_GUESS / ROOM_SHARE * EACH_ONE;
  if (thread_id() == 0) {
    own_ranges(o.channels, o.at);
    o.channels.control = &o.control;
    o.control.status = OK;
    o.most = 0xffffffffu;
    o.crew = &crew;
    // So that the kernel has a stage where segments alone use it.
    if (PRIVATE_STACKS) o.stage = near_of(stage_memory());
    shared().local = 1;
  }
  __syncthreads();
}

FN u32 have(const Own& o, u32 stack) { return o.top[stack] - o.bottom[stack]; }

// About how many times so many sixteenths go into a number: a division of whole numbers takes longer.
FN u32 share_of(u32 room, u32 sixteenths) { return (u32)min_of(quotient((f32)room * (f32)EACH_ONE, (f32)sixteenths), 4e9f); }

// Takes note of how many children elements had. One thread calls it.
FN void note_each(u32& each, u32 pushed, u32 ran) {
  if (ran) each = (3 * each + min_of(share_of(pushed, ran), 64 * EACH_ONE)) / 4 + 1;
}

// Whether a dispatch of this source is one on private stacks. It takes all that there is then.
FN bool may_be_private(const Own& o, u32 s) {
  const u32 stack = sources[s].stack, top = o.top[stack], end = o.channels.capacity[stack];
  return flats[s].may_be_private && !o.in_tiles && private_room(end, top) >= LEAST_PRIVATE;
}

// How many of a source's elements a dispatch takes: those from a number on that neighbours divide, or all; 0 if there are none, or if what they push
// may find no room.
FN u32 flat_run(const Own& o, u32 s) {
  const Source from = sources[s];
  const u32 all = have(o, from.stack), top = o.top[from.stack];
  if (flats[s].tile == 0 || all == 0) return 0;
  if (may_be_private(o, s)) return min_of(all, 0xffffu);
  // As few as there can be.
  const u32 few = min_of(all, top - ((top - 1) & ~(NEIGHBOURS - 1)));
  u32 run = min_of(min_of(all, MOST_TILES * flats[s].tile), o.most);
  for (u32 i = 0; i < from.pushes; i++) {
    const Push push = pushes[from.first_push + i];
    const u32 base = aligned(o.top[push.stack]), end = o.channels.capacity[push.stack], room = end > base ? end - base : 0;
    // Children lie where the elements did, so that one of an element takes no room.
    const bool again = push.stack == from.stack;
    if (push.max) {
      if (room < few * push.max) return 0;
      if ((u64)run * (ROOM_SHARE * push.max) <= room) continue;
      // A steady share of the range, as long as all find room: wavefronts are not to become narrower level by level.
      const u32 most = push.max * EACH_ONE, more = again ? min_of(max_of(o.each[s], EACH_ONE + EACH_ONE / 4) - EACH_ONE, most) : most;
      run = min_of(run, max_of(room / (ROOM_SHARE * push.max), min_of(share_of(end, ROOM_LEVELS * more), room / (2 * push.max))));
    } else {
      if (room == 0) return 0;
      // What does not fit is given back.
      const u32 more = flats[s].tried ? max_of(o.each[s], 2 * EACH_ONE) - EACH_ONE : ROOM_GUESS / ROOM_SHARE * EACH_ONE;
      if ((u64)run * (ROOM_SHARE * more) <= (u64)room * EACH_ONE) continue;
      const u32 share = share_of(room, ROOM_SHARE * more);
      run = min_of(run, max_of(share, min_of(share_of(end, ROOM_LEVELS * more), share * (ROOM_SHARE / 2))));
    }
  }
  if (run >= all) return all;
  const u32 first = aligned(top - max_of(run, few));
  return first < top ? top - first : few;
}

// Chooses the next dispatch: the source that has most that can run. False if nothing can. The first warp calls it.
FN bool flat_choose(Own& o, Shared& sh) {
  u32 best = 0, waits = 0;
  for (u32 s = lane_id(); s < SOURCES; s += WARP) {
    const u32 run = flat_run(o, s);
    waits |= have(o, sources[s].stack);
    best = max_of(best, run ? run << 16 | (SOURCES - s) : 0);
  }
  best = o.most ? max_lane(best) : 0;
  const bool more = any_lane(waits != 0);
  // No tile has as many as 2^16 elements.
  const u32 source = SOURCES - (best & 0xffff), count = best >> 16;
  __syncwarp();
  Dispatch& d = sh.dispatch;
  for (u32 g = lane_id(); g < SCAN_GROUPS; g += WARP) sh.first[g] = 0;
  if (lane_id() == 0) {
    sh.full = sh.staged = sh.done = sh.again = 0;
    sh.local = 1;
    // Something waits and nothing finds room: the others are told, and all of it goes back to the tier across the device.
    d.stop = best ? GOES_ON : more ? NO_ROOM : NO_MORE;
  }
  __syncwarp();
  if (best) {
    const Source from = sources[source];
    const u32 first = o.top[from.stack] - count;
    for (u32 i = lane_id(); i < from.pushes; i += WARP) {
      const u32 stack = pushes[from.first_push + i].stack;
      // Who has taken its elements before it pushes has children where they lay. Tiles that are tried have them there one by one.
      const bool again = stack == from.stack, tried = again && flats[source].tried;
      const bool in_place = again && flats[source].in_place && count <= flats[source].tile;
      if (tried) sh.again = 1;
      d.base[i] = tried ? o.top[stack] : in_place ? first : aligned(o.top[stack]);
      const u32 room = o.channels.capacity[stack] > d.base[i] ? o.channels.capacity[stack] - d.base[i] : 0;
      // A part of it is for what comes of the children, unless so few could be no fewer.
      d.room[i] = tried && count > NEIGHBOURS ? room / ROOM_SHARE : room;
    }
    if (lane_id() == 0) {
      o.is_private = may_be_private(o, source);
      o.taken = o.idle = o.wanted = 0;
      sh.hole = sh.top = first + count;
      d.source = source;
      d.first = first;
      d.count = count;
      o.dispatches++;
    }
  }
  __syncwarp();
  return best != 0;
}

// Takes in what a dispatch has pushed: its children lie on top of their channels, without gaps. All threads call it behind a barrier; past
// the one within, the first warp goes on alone, and the others wait at the next.
FN void flat_take(Own& o, Shared& sh) {
  const Dispatch& d = sh.dispatch;
  const Source from = sources[d.source];
  if (o.is_private) {
    // All have read that. What is left lies in the channel already.
    __syncthreads();
    if (warp_id() != 0) return;
    if (lane_id() == 0) {
      u32 ran = 0;
      for (u32 w = 0; w < WARPS; w++) {
        ran += o.of_warp[w].ran;
        o.dispatches += o.of_warp[w].wavefronts;
      }
      o.consumed[d.source] += ran;
      // What finds no room so may find some in tiles.
      o.in_tiles = ran == 0;
    }
    __syncwarp();
    return;
  }
  // Tiles run from the top of the dispatch downwards, until one finds no room.
  const bool full = sh.full;
  const u32 ran = full ? sh.done * flats[d.source].tile : d.count, rest = d.first + d.count - ran;
  // What of a channel begins where its elements were or where it ended, and where its children do that were pushed: the newest of them close what is free between.
  if (sh.again) {
    const u32 hole = sh.hole, top = sh.top, gap = min_of(hole - rest, top - hole);
    if (gap) copy_entries(from.stack, o.at[from.stack] + rest, o.at[from.stack] + top - gap, gap);
  } else {
    for (u32 i = 0; i < from.pushes; i++) {
      const Push push = pushes[from.first_push + i];
      const u32 pushed = (u32)sh.counter[push.group] * push.ratio;
      const u32 begin = push.stack == from.stack ? rest : o.top[push.stack], base = d.base[i], gap = min_of(base - begin, pushed);
      if (gap) copy_entries(push.stack, o.at[push.stack] + begin, o.at[push.stack] + base + pushed - gap, gap);
    }
  }
  // All have read what says where that is.
  __syncthreads();
  if (warp_id() != 0) return;
  if (lane_id() == 0) {
    bool again = sh.again;
    if (again) {
      const u32 hole = sh.hole, top = sh.top;
      note_each(o.each[d.source], top - hole, ran);
      o.top[from.stack] = rest + (top - hole);
      o.peak[from.stack] = max_of(o.peak[from.stack], top);
    }
    for (u32 i = 0; i < from.pushes && !sh.again; i++) {
      const Push push = pushes[from.first_push + i];
      const u32 pushed = (u32)sh.counter[push.group] * push.ratio;
      const bool same = push.stack == from.stack;
      again |= same;
      if (same) note_each(o.each[d.source], pushed, ran);
      if (same || pushed) {
        o.top[push.stack] = (same ? rest : o.top[push.stack]) + pushed;
        o.peak[push.stack] = max_of(o.peak[push.stack], d.base[i] + pushed);
      }
    }
    if (!again) o.top[from.stack] = rest;
    o.consumed[d.source] += ran;
    o.in_tiles = 0;
    if (full && ran == 0) {
      // So few as that can be no fewer.
      o.most = d.count <= NEIGHBOURS ? 0 : max_of(min_of(d.count, flats[d.source].tile) / RETRY, 1u);
    } else if (o.most != 0xffffffffu) {
      // What found room may be more the next time.
      o.most += o.most / 8 + 1;
    }
  }
  __syncwarp();
  for (u32 g = lane_id(); g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
  __syncwarp();
}

// Offers the oldest elements to who has none: half of those that wait, of the channel that has most. The first warp calls it.
FN void donate(Own& o, Crew& crew, Gift& gift) {
  u32 best = 0;
  for (u32 s = lane_id(); s < SOURCES; s += WARP) {
    if (flats[s].tile == 0) continue;
    const u32 n = min_of(have(o, sources[s].stack) / 2, MOST_DONATED);
    // What is left begins at a number that neighbours divide.
    best = max_of(best, (n >= NEIGHBOURS ? n & ~(NEIGHBOURS - 1) : 0) << 16 | (0xffff - s));
  }
  best = max_lane(best);
  const u32 count = best >> 16, stack = sources[0xffff - (best & 0xffff)].stack;
  if (best == 0 || count == 0) return;
  // All lanes have read what the first one changes.
  __syncwarp();
  if (lane_id() == 0) {
    gift.stack = stack;
    gift.first = o.at[stack] + o.bottom[stack];
    gift.count = count;
    o.bottom[stack] += count;
    o.donated += count;
    o.offers = 1;
#ifdef RECORDS
    keep_share(now_ns(), OF_GIFT, 0, crew.level, count);
#endif
    // Relaxed: this worker's own batch is not done, so the count is not 0 before nor after.
    __nv_atomic_fetch_add(&crew.alive, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    // Release: pairs with the fence of who takes it.
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&gift.state, (u32)GIFT_OFFERED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(&crew.offered, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  __syncwarp();
}

// Before a worker's range is used from its beginning again, what it has offered is gone, or its own again. True if it is its own, and still counted as
// alive by itself. One thread calls it.
FN bool take_back(Own& o, Crew& crew, Gift& gift) {
  if (!o.offers) return false;
  o.offers = 0;
  u32 state = GIFT_OFFERED;
  // Relaxed: what lies there is this worker's own work.
  if (__nv_atomic_compare_exchange_n(&gift.state, &state, (u32)GIFT_NONE, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)) {
    __nv_atomic_fetch_sub(&crew.offered, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    // It lies below what there is of its stack.
    o.bottom[gift.stack] -= gift.count;
    return true;
  }
  // Somebody copies it: that takes no longer than it takes.
  while (GLOBAL_LOAD(&gift.state) != GIFT_NONE) pause(20);
  // Acquire: pairs with the release of who copied it. What is written there from now on is not seen by it.
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  return false;
}

// Brings what waits to the beginning of the range: whether there was any room to gain. All threads call it.
FN bool settle(Own& o, Crew& crew, Gift& gift) {
  // It is part of the batch from now on.
  if (thread_id() == 0 && take_back(o, crew, gift)) {
    __nv_atomic_fetch_sub(&crew.alive, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  __syncthreads();
  bool moved = false;
  for (u32 s = 0; s < STACKS; s++) {
    const u32 bottom = o.bottom[s], all = have(o, s);
    __syncthreads();
    if (bottom == 0) continue;
    moved = true;
    // No further at a time than it goes down: what is written was read before.
    const u32 step = min_of(BLOCK, bottom);
    for (u32 i = 0; i < all; i += step) {
      copy_entries(s, o.at[s] + i, o.at[s] + bottom + i, min_of(step, all - i));
      __syncthreads();
    }
    if (thread_id() == 0) {
      o.bottom[s] = 0;
      o.top[s] = all;
      o.most = 0xffffffffu;
    }
    __syncthreads();
  }
  return moved;
}

// What a worker is to copy to its own range: elements of a stack, and whose gift they are, or of nobody.
struct Found {
  u32 stack, first, count, of;
};
#define OF_NOBODY 0xffffffffu

// The next roots, if there are any. One thread calls it.
FN bool next_roots(Crew& crew, Found& found) {
  // Relaxed: each number is given out once, and that is all.
  if (GLOBAL_LOAD(&crew.ticket) >= crew.batches) return false;
  const u32 ticket = __nv_atomic_fetch_add(&crew.ticket, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (ticket >= crew.batches) return false;
  const u32 at = ticket * crew.batch;
  found = Found{crew.stack, crew.first + at, min_of(crew.batch, crew.count - at), OF_NOBODY};
  return true;
}

// What another has offered, if there is something. The first warp calls it.
FN bool next_gift(Crew& crew, Found& found) {
  Gift* const gifts = (Gift*)crew.gifts;
  if (any_lane(lane_id() == 0 && GLOBAL_LOAD(&crew.offered) == 0)) return false;
  for (u32 at = 0; at < gridDim.x; at += WARP) {
    const u32 who = (blockIdx.x + 1 + at + lane_id()) % gridDim.x;
    u32 offers = __ballot_sync(ALL_LANES, at + lane_id() < gridDim.x && GLOBAL_LOAD(&gifts[who].state) == GIFT_OFFERED);
    for (; offers; offers &= offers - 1) {
      const u32 lane = (u32)__ffs((i32)offers) - 1;
      Gift& gift = gifts[(blockIdx.x + 1 + at + lane) % gridDim.x];
      bool mine = false;
      if (lane_id() == 0) {
        u32 state = GIFT_OFFERED;
        // Acquire, by the fence: pairs with the release in `donate`.
        mine = __nv_atomic_compare_exchange_n(&gift.state, &state, (u32)GIFT_TAKEN, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
        if (mine) __nv_atomic_fetch_sub(&crew.offered, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        if (mine) found = Found{gift.stack, gift.first, gift.count, (blockIdx.x + 1 + at + lane) % gridDim.x};
      }
      if (any_lane(mine)) return true;
    }
  }
  return false;
}

// Finds something to do: its own offer that nobody took, the next roots, or what another has offered. False when nothing is left, or the run has to
// end. All threads call it.
static __device__ __noinline__ bool acquire(Own& o, Shared& sh, Crew& crew) {
  SHARED(Found, found);
  Gift* const gifts = (Gift*)crew.gifts;
  if (warp_id() == 0) {
    bool own_offer = false, waits = false, over = false;
    u64 since = 0;
    u32 beat = 0;
    if (lane_id() == 0) {
      own_offer = take_back(o, crew, gifts[blockIdx.x]);
      found.count = 0;
    }
    own_offer = any_lane(own_offer);
    for (u32 s = lane_id(); !own_offer && s < STACKS; s += WARP) o.bottom[s] = o.top[s] = 0;
    bool some = own_offer;
    for (u32 spins = 1; !some && !over; spins++) {
      // Relaxed: `alive` falls to 0 once, when nobody has anything; `recall` only hastens the end.
      if (lane_id() == 0) {
        some = next_roots(crew, found);
        over = !some && (GLOBAL_LOAD(&crew.alive) == 0 || GLOBAL_LOAD(&crew.recall) || GLOBAL_LOAD(&o.control.status) != OK);
      }
      some = any_lane(some);
      over = any_lane(over);
      if (some || over) break;
      some = next_gift(crew, found);
      if (some) break;
      if (lane_id() == 0) {
        if (!waits) __nv_atomic_fetch_add(&crew.hungry, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        if (spins % 256 == 0) {
          // Relaxed: pairs with the store of who works; a new dispatch has its own time.
          const u32 now = GLOBAL_LOAD(&device_channels.control->beat);
          if (now != beat) since = 0;
          beat = now;
          over = should_stop(&o.control, since);
        }
      }
      waits = true;
      over = any_lane(over);
      pause(spins < 16 ? 50 : 500);
    }
    if (lane_id() == 0) {
      if (waits) __nv_atomic_fetch_sub(&crew.hungry, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      if (some && found.count && found.of != OF_NOBODY) o.acquired += found.count;
      sh.go = some;
    }
  }
  __syncthreads();
  const Found take = found;
  if (take.count) {
    copy_entries(take.stack, o.at[take.stack], take.first, take.count);
    __syncthreads();
    if (thread_id() == 0) {
      o.top[take.stack] = take.count;
      o.peak[take.stack] = max_of(o.peak[take.stack], take.count);
      if (take.of != OF_NOBODY) {
        // Release: pairs with the fence in `take_back`.
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_store_n(&gifts[take.of].state, (u32)GIFT_NONE, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      }
    }
  }
  const bool go = sh.go;
  __syncthreads();
  return go;
}

// A worker has a batch, and is done with all that came of it. All threads call both, and have met before.
FN void batch_begins([[maybe_unused]] const Own& o, [[maybe_unused]] Shared& sh) {
#ifdef RECORDS
  if (thread_id() != 0) return;
  sh.batch = 0;
  for (u32 s = 0; s < STACKS; s++) sh.batch += have(o, s);
  sh.begun = now_ns();
#endif
}
FN void batch_ends([[maybe_unused]] const Shared& sh, [[maybe_unused]] const Crew& crew) {
#ifdef RECORDS
  if (thread_id() == 0) keep_share(sh.begun, OF_BATCH, 0, crew.level, sh.batch);
#endif
}

// Adds what the worker counted to what all did, and says what it leaves. All threads call it.
FN void tell_crew(const Own& o, Crew& crew) {
  // Relaxed, all of them: the host reads them when the kernel has ended.
  for (u32 s = thread_id(); s < SOURCES; s += BLOCK) combine_add(&crew.consumed[s], o.consumed[s]);
  Rest* const rests = (Rest*)crew.rests + blockIdx.x * STACKS;
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) {
    combine_add(&crew.peak[s], o.peak[s]);
    rests[s] = Rest{o.bottom[s], have(o, s)};
  }
  if (thread_id() == 0) {
    combine_add(&crew.dispatches, o.dispatches);
    combine_add(&crew.donated, o.donated);
    combine_add(&crew.acquired, o.acquired);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) workers(Crew* all) {
  Crew& crew = *all;
  Shared& sh = shared();
  own_begins(crew);
  Own& o = own();
  Gift& gift = ((Gift*)crew.gifts)[blockIdx.x];
  bool stops = false;
  while (!stops && acquire(o, sh, crew)) {
    batch_begins(o, sh);
    while (true) {
      if (warp_id() == 0) {
        // It is asked for in the dispatch before whether the last gift is gone.
        if (o.hungry && !o.offers) donate(o, crew, gift);
        flat_choose(o, sh);
      }
      __syncthreads();
      if (sh.dispatch.stop == NO_ROOM && settle(o, crew, gift)) continue;
      if (sh.dispatch.stop) break;
      // What the others are at is asked for now and needed when the dispatch is over. Relaxed: it only says when it is worth to donate.
      u32 hungry = 0, recall = 0, offers = 0;
      if (thread_id() == BLOCK - 1) {
        offers = o.offers && GLOBAL_LOAD(&gift.state) != GIFT_NONE;
        hungry = GLOBAL_LOAD(&crew.hungry);
        recall = GLOBAL_LOAD(&crew.recall);
        worker_goes_on((u32)o.dispatches);
      }
      run_source(0, 1);
      if (thread_id() == BLOCK - 1) {
        o.hungry = hungry;
        // Acquire: pairs with the release of who copied it. What is written there from now on, the next gift and elements, is not seen by it.
        if (o.offers && !offers) __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
        o.offers = offers;
        u64 since = 0;
        sh.go = !recall && !((o.is_private || o.dispatches % 64 == 0) && should_stop(&o.control, since));
      }
      __syncthreads();
      // Relaxed: pairs with `stop_run`, which the barrier has ordered if this block called it. What was pushed may be anything then.
      const bool failed = GLOBAL_LOAD(&o.control.status) != OK;
      stops = failed || !sh.go;
      if (!failed) flat_take(o, sh);
      if (stops) break;
    }
    __syncthreads();
    batch_ends(sh, crew);
    if (thread_id() == 0) {
      if (sh.dispatch.stop == NO_ROOM) {
        // Relaxed: it only hastens the end.
        __nv_atomic_store_n(&crew.recall, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      } else if (!stops) {
        __nv_atomic_fetch_sub(&crew.alive, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      }
    }
    stops |= sh.dispatch.stop == NO_ROOM;
    __syncthreads();
  }
  __syncthreads();
  // What nobody took is left with the rest.
  if (stops && thread_id() == 0) take_back(o, crew, gift);
  __syncthreads();
  tell_crew(o, crew);
}

// One block brings what workers left together, right above what waits in each channel, the roots that nobody took among it: from then on it is a level's of the
// tier across the device.
extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) gather(Crew* all, u32 workers) {
  Crew& crew = *all;
  for (u32 s = 0; s < STACKS; s++) {
    const u32 begin = crew.end[s];
    u32 end = begin;
    for (u32 w = 0; w < workers; w++) {
      const Rest rest = ((const Rest*)crew.rests)[w * STACKS + s];
      const u32 first = crew.base[s] + w * crew.share[s] + rest.first;
      // From below upwards, no further at a time than it goes down: what is written was read before.
      const u32 step = min_of(BLOCK, first - end);
      for (u32 i = 0; i < rest.count && step; i += step) {
        copy_entries(s, end + i, first + i, min_of(step, rest.count - i));
        __syncthreads();
      }
      end += rest.count;
    }
    if (thread_id() == 0) crew.returned[s] = end - begin;
  }
}

#endif
