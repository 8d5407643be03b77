// Private stacks: of what a worker has in a channel each of its warps takes some elements into shared memory, and runs them there with all that comes of
// them, a wavefront of its lanes after the other, the newest elements first. Between wavefronts there is no barrier of the block, no decision and no
// device memory, but for what finds no room. README.md says why nothing is lost.
//
// It is for entry channels whose elements push to the same channel alone and are tried: what an element does is forgotten if its children find no room.
#ifdef WORKERS

// A dispatch of the worker ends after `MOST_WAVEFRONTS` of a warp, or so many cycles, where elements take long. Each time that a warp has run `LOOKS_AROUND` of
// them it looks around, and ends sooner where others have nothing to do; but not before `LEAST_WAVEFRONTS`.
[[maybe_unused]] constexpr u64 LONG_PRIVATE = 400000;
// So many warps without elements are worth a new share for all.
[[maybe_unused]] constexpr u32 IDLE_WARPS = (WARPS + 3) / 4;

// The least room of a warp's region.
[[maybe_unused]] constexpr u32 LEAST_PRIVATE = WARP;
// The room of a warp's region, in a channel of this capacity that ends there. A quarter is left for dispatches in tiles.
FN u32 private_room(u32 capacity, u32 top) {
  const u32 end = capacity - capacity / 4;
  return end > top ? (end - top) / WARPS : 0;
}

#define BLOCK_LOAD(p) __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK)
#define BLOCK_STORE(p, x) __nv_atomic_store_n(p, x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK)

// Copies elements of the worker's channel to a private stack, from a place on. All lanes of a warp call it.
template <class S, class M, bool EACH>
FN void load_private(ptr stage, u32 at, u32 first, u32 count) {
  for (u32 i = lane_id(); i < count; i += WARP) S::template stage_again<M, EACH>(stage, at + i, S::template deq<M, EACH>(first + i));
  __syncwarp();
}

// Closes the gap that so many elements have left at the beginning of a private stack, a full wavefront or more. All lanes of a warp call it.
FN void close_gap(ptr stage, u32 stride, u32 gap, u32 have) {
  u32* const to = (u32*)stage;
  const u32 *const from = (const u32*)(stage + gap * stride), words = have * (stride / 4);
  // No further at a time than it goes down.
  for (u32 at = 0; at < words; at += WARP) {
    const u32 i = at + lane_id(), word = i < words ? from[i] : 0;
    __syncwarp();
    if (i < words) to[i] = word;
  }
  __syncwarp();
}

// What the warps have left comes to lie on top of the channel, without gaps. All threads call it, behind a barrier, with the first element that is free. Where
// what is on a warp's stack goes.
template <class S, class M, bool EACH>
FN u32 gather_private(Own& o, u32 stack, u32 begin, u32 regions, u32 room) {
  u32 mine = 0, end = begin, peak = o.peak[stack];
  for (u32 w = 0; w < WARPS; w++) {
    const Private& of = o.of_warp[w];
    const u32 region = regions + w * room, gap = min_of(region - end, of.spilled);
    // No warp has more than it took and its region is long, so nobody's goes beyond where the next one's lies. The newest close the gap below the others.
    for (u32 i = thread_id(); i < gap; i += BLOCK) S::template shift<M, EACH>(end + i, region + of.spilled - gap + i);
    if (w == warp_id()) mine = end + of.spilled;
    end += of.spilled + of.have;
    if (of.most_spilled) peak = max_of(peak, region + of.most_spilled);
    __syncthreads();
  }
  if (thread_id() == 0) {
    o.top[stack] = end;
    o.peak[stack] = max_of(peak, end);
  }
  return mine;
}

// Runs what the worker has in a channel. All threads call it.
template <class S, bool ONCE, class M = DeviceMemory>
FN void run_private() {
  Shared& sh = shared();
  Own& o = own();
  constexpr bool EACH = !ONCE;
  const u32 places = min_of(S::template capacity<EACH, WARPS>(), PRIVATE_PLACES), stride = S::template stride<EACH>();
  const u32 stack = S::stack_of(0), all = sh.dispatch.count, top = sh.dispatch.first + all;
  Private& own_words = o.of_warp[warp_id()];
  const ptr stage = stage_memory() + warp_id() * (S::template capacity<EACH, WARPS>() + 1) * stride;
  Trying trying{M::control()};
  trying.staged = near_of(&own_words.pushed);
  trying.stage = near_of(stage);
  const typename S::Args once = S::template inherited<M>();
  // Where all results go to one address, they are joined here.
  constexpr bool ONE_SUM = S::SUMS && ONCE && S::ONE_HOME;
  typename S::Sum::Value total = S::Sum::none();
  Gathered<typename S::Sum, M> sum;
  LeafCounts<S> leaves;
  // Behind what there is each warp has a region for what finds no room on its stack.
  const u32 room = private_room(o.channels.capacity[stack], top), region = top + warp_id() * room;
  // Elements that it may have: those that it takes, and so many more.
  u32 limit = room, spilled = 0, most_spilled = 0;
  u32 have = 0, ran = 0, most = WARP, turn = 0;
  // At first all take as many.
  u32 wanted = min_of((all + WARPS - 1) / WARPS, WARP);
  const u64 begun = cycles();
  for (; turn < MOST_WAVEFRONTS; turn++) {
    if (have < WARP) {
      // The newest first: its own are.
      u32 from = region, count = min_of(spilled, min_of(wanted, places - have));
      if (count) {
        spilled -= count;
        from += spilled;
      } else {
        // Relaxed: each element is given out once, and that is all. One lane looks: what others see meanwhile may be something else.
        u32 taken = all;
        if (lane_id() == 0 && BLOCK_LOAD(&o.taken) < all) taken = __nv_atomic_fetch_add(&o.taken, wanted, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
        taken = __shfl_sync(ALL_LANES, taken, 0, WARP);
        count = taken < all ? min_of(wanted, all - taken) : 0;
        from = top - taken - count;
        limit += count;
      }
      if (count) load_private<S, M, EACH>(stage, have, from, count);
      have += count;
      wanted = WARP;
    }
    if (have == 0) {
      // Relaxed, here and below: that others wait only says when it is worth to share anew.
      if (lane_id() == 0 && __nv_atomic_fetch_add(&o.idle, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK) + 1 == IDLE_WARPS) BLOCK_STORE(&o.wanted, 1u);
      break;
    }
    if (turn % LOOKS_AROUND == LOOKS_AROUND - 1) {
      if (warp_id() == 0 && lane_id() == 0 && GLOBAL_LOAD(&o.crew->hungry) && !o.offers) BLOCK_STORE(&o.wanted, 1u);
      const bool late = any_lane(lane_id() == 0 && (cycles() - begun > LONG_PRIVATE || (turn >= LEAST_WAVEFRONTS && BLOCK_LOAD(&o.wanted))));
      if (late) break;
    }
    const u32 run = min_of(have, most), rest = have - run;
    const bool mine = lane_id() < run;
    typename S::Args args = {};
    if (mine) args = S::template unstage<M, EACH>(stage, rest + lane_id(), once);
    // Children may lie where the elements did: all have been read.
    __syncwarp();
    if (lane_id() == 0) store_near(trying.staged, rest);
    __syncwarp();
    typename S::Sum::Value given = S::Sum::none();
    typename S::Later later;
    u32 ended = 0;
    Trial<S, M, true, ONCE, WARPS> worker(trying, given, ended, later);
    if (mine) S::run(worker, args);
    run_long<S>(worker, later);
    __syncwarp();
    if (any_lane(worker.failed)) break;
    const u32 now = load_near(trying.staged);
    if (now <= places && spilled + now <= limit) {
      if constexpr (ONE_SUM) {
        total = S::Sum::join(total, given);
      } else if constexpr (S::SUMS) {
        if (S::Sum::is_some(given)) sum.add(S::template home_of<M>(args), given);
      }
      leaves.count[0] += ended;
      have = now;
      ran += run;
      most = min_of(most + most / 4 + 1, WARP);
      continue;
    }
    // Nothing has happened.
    if (mine) S::template stage_again<M, EACH>(stage, rest + lane_id(), args);
    __syncwarp();
    const u32 oldest = have / 2;
    if (now > places && oldest >= WARP && spilled + oldest <= room) {
      S::template flush<M, EACH>(Spots{0, 0, region + spilled}, oldest, stage, lane_id(), WARP);
      __syncwarp();
      spilled += oldest;
      most_spilled = max_of(most_spilled, spilled);
      have -= oldest;
      close_gap(stage, stride, oldest, have);
    } else if (run > 1) {
      most = run / 2;
    } else {
      // It finds room elsewhere, or nowhere.
      break;
    }
  }
  if (lane_id() == 0) {
    own_words.ran = ran;
    own_words.wavefronts = turn;
    own_words.spilled = spilled;
    own_words.most_spilled = most_spilled;
    own_words.have = have;
  }
  __syncthreads();
  const u32 left = gather_private<S, M, EACH>(o, stack, top - min_of(o.taken, all), top, room);
  S::template flush<M, EACH>(Spots{0, 0, left}, have, stage, lane_id(), WARP);
  if constexpr (ONE_SUM) {
    if (S::Sum::is_some(total)) sum.add(S::template home_of<M>(once), total);
  }
  hand_over(sh, M::control(), sum, leaves);
}

#endif
