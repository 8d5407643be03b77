// Elements that run in tiles: counted or tried, reserved once a tile, and run.

// Counts units of a group, and gives how many were before. A tile that finds no room is counted too, one of each block beyond the room, and its
// children are as many as it finds: only 64 bits do not come round. In a block that is alone there is one tile.
FN u64 count_units(Shared& sh, Control* control, u32 group, u32 units) {
  if (units == 0) return 0;
  // Relaxed: reserves only, as in `Direct::talloc`.
  if (sh.local) return __nv_atomic_fetch_add((u32*)&sh.counter[group], units, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  return __nv_atomic_fetch_add(&control->counter[group], (u64)units, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Takes down where the room ended for a tile that found none, though it has reserved so much of a group.
FN void end_room(Shared& sh, Control* control, u64 first, [[maybe_unused]] u32 group, [[maybe_unused]] u32 units) {
  sh.full = 1;
#ifdef WORKERS
  // Tiles before it are done, and count.
  sh.counter[group] -= units;
#endif
  // Relaxed: the barrier that ends the dispatch orders it. What begins beyond 32 bits is not the first that found no room.
  if (!sh.local && first >> 32 == 0) __nv_atomic_fetch_min(&control->limit, (u32)first, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// How many units of a group find room.
template <class S>
FN u32 room_of(const Shared& sh, u32 group) {
  u32 room = 0xffffffffu;
  for (u32 p = 0; p < S::PUSHED; p++) {
    if (S::group(p) == group) room = min_of(room, sh.dispatch.room[p] / S::ratio(p));
  }
  return room;
}

// Reserves of several groups whose units depend on data: of each what the tile wants, or of none. So what is reserved has no holes, though a later tile
// may find room that wants less. One thread of a block calls it, and one block at a time is in it.
template <class S>
FN void reserve_together(Shared& sh, Control* control) {
  u64* const counter = sh.local ? sh.counter : control->counter;
  if (!sh.local) {
    // Acquire: pairs with the release of who was here before. It does nothing but the few instructions below, so that nobody waits for long.
    while (__nv_atomic_exchange_n(&control->taken, 1u, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)) pause(100);
  }
  bool fits = true;
  for (u32 g = 0; g < S::GROUPS; g++) {
    if (!S::is_loose(g)) continue;
    // Relaxed: whoever counts this group holds `taken`.
    sh.first[g] = (u32)__nv_atomic_load_n(&counter[g], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    fits &= sh.total[g] == 0 || (u64)sh.first[g] + sh.total[g] <= room_of<S>(sh, g);
  }
  for (u32 g = 0; g < S::GROUPS && fits; g++) {
    if (S::is_loose(g)) __nv_atomic_store_n(&counter[g], (u64)sh.first[g] + sh.total[g], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  if (!sh.local) __nv_atomic_store_n(&control->taken, 0u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  if (!fits) sh.full = 1;
}

// Reserves, once for the whole tile, what its elements push: `sums` holds the units of each item and warp and gets the first unit of each.
// The first warp calls it, between two barriers. Of a segment that gives back, the groups whose units depend on data come first: if one
// finds no room, nothing is reserved. Where it is just one no later tile finds room either, so that what was reserved has no holes.
template <class S>
FN void reserve_tile(Shared& sh, Control* control) {
  constexpr u32 N = WARPS * S::ITEMS;
  for (u32 g = 0; g < S::GROUPS; g++) {
    u32 carry = 0;
    [[maybe_unused]] bool beyond = false;
    for (u32 at = 0; at < N; at += WARP) {
      const u32 i = at + lane_id(), own = i < N ? sh.sums[g][i] : 0;
      const u32 upto = warp_scan(own);
      if (i < N) sh.sums[g][i] = carry + upto - own;
      const u32 sum = __shfl_sync(ALL_LANES, upto, WARP - 1, WARP);
      if constexpr (S::YIELDS) beyond |= carry + sum < carry;
      carry += sum;
    }
    // More than any channel holds is enough.
    if (lane_id() == 0) sh.total[g] = S::YIELDS && beyond ? 0xffffffffu : carry;
  }
  __syncwarp();
  if (S::YIELDS) {
    if (lane_id() == 0 && S::LOOSE_GROUPS > 1) {
      reserve_together<S>(sh, control);
    } else if (lane_id() == 0) {
      const u32 carry = sh.total[S::LOOSE];
      const u64 first = count_units(sh, control, S::LOOSE, carry);
      sh.first[S::LOOSE] = (u32)first;
      if (carry && first + carry > room_of<S>(sh, S::LOOSE)) end_room(sh, control, first, S::LOOSE, carry);
    }
    __syncwarp();
    if (sh.full) return;
  }
  u64* const counter = sh.local ? sh.counter : control->counter;
  for (u32 g = lane_id(); g < S::GROUPS; g += WARP) {
    if (S::YIELDS && S::is_loose(g)) continue;
    const u32 carry = sh.total[g];
    // Relaxed: as in `count_units`. What is pushed here is known to find room, so the low half is all of it.
    const u32 first = carry ? __nv_atomic_fetch_add((u32*)&counter[g], carry, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) : 0;
    sh.first[g] = first;
    for (u32 p = 0; p < S::PUSHED; p++) {
      if (S::group(p) == g && (u64)(first + carry) * S::ratio(p) > sh.dispatch.room[p] && carry) {
        stop_run(control, CHANNEL_FULL, S::stack_of(p), 0, 0);
        sh.full = 1;
      }
    }
  }
}

// Takes note of tiles that are given back; one thread of a block calls it.
FN void give_back(Control* control, u32 tile, u32 next, u32 tiles) {
  const u32 both = next < tiles ? 2 : 1;
  // Relaxed: the barrier that ends the dispatch publishes the list.
  const u32 at = __nv_atomic_fetch_add(&control->given, both, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  control->tiles->given[at] = tile;
  if (both == 2) control->tiles->given[at + 1] = next;
}

// The number of a block's next tile but one. One thread of a block asks.
FN u32 next_tile(Control* control, u32 tile, u32 tiles, u32 blocks, bool asks) {
  if (!asks) return tile + blocks;
  // Relaxed: each number is given out once, and that is all.
  return (blocks < tiles ? blocks : tiles) + __nv_atomic_fetch_add(&control->ticket, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Dequeues a thread's next `N` elements of a tile, those of them that are less than `count`. Every one has a value: to the compiler, what is set
// only at times lives from one dispatch to the next.
template <class S, class M, bool EACH, u32 N>
FN void load_items(typename S::Args* args, u32 first, u32 from, u32 count) {
#pragma unroll
  for (u32 j = 0; j < N; j++) {
    args[j] = {};
    if (from + j * BLOCK < count) args[j] = S::template deq<M, EACH>(first + from + j * BLOCK);
  }
}

// Second pass over a tile.
template <class S, class M, bool STAGE>
FN void run_reserved(Shared& sh, Gathered<typename S::Sum, M>& sum, LeafCounts<S>& leaves, const typename S::Args* args, const u32 (*unit)[S::ITEMS], u32 from) {
  const Dispatch& d = sh.dispatch;
  // Where a thread's items are run one after the other, a failed one ends the thread.
  Reserved<S, M, STAGE> worker(sum, leaves);
  worker.control = M::control();
#pragma unroll
  for (u32 j = 0; j < S::ITEMS; j++) {
    if (from + j * BLOCK + thread_id() / S::LANES < d.count && !worker.failed) {
#pragma unroll
      for (u32 p = 0; p < S::PUSHED; p++) {
        const u32 g = S::group(p), units = sh.sums[g][j * WARPS + warp_id()] + unit[g][j];
        worker.at[p] = STAGE && p == S::STAGE_PUSH ? units : d.base[p] + (sh.first[g] + units) * S::ratio(p);
      }
      S::run(worker, args[j]);
    }
  }
  run_long<S>(worker, worker.later);
}

// Runs elements in tiles, from the top of the run downwards: count, reserve once, run. A thread has `ITEMS` of a tile, or `LANES` threads one.
template <class S, class M = DeviceMemory>
FN void run_scanned(u32 block, u32 blocks) {
  Shared& sh = shared();
  Control* const control = M::control();
  const Dispatch& d = sh.dispatch;
  constexpr u32 TILE = BLOCK * S::ITEMS / S::LANES;
  const u32 tiles = (d.count + TILE - 1) / TILE;
  Gathered<typename S::Sum, M> sum;
  LeafCounts<S> leaves;
  for (u32 tile = block; tile < tiles;) {
    // The next tile's number is asked for now and needed at the end.
    const u32 next = next_tile(control, tile, tiles, blocks, S::YIELDS && thread_id() == 0 && !sh.local);
    // Of the lowest tile, elements before the run's first wrap around, to numbers that are too high.
    const u32 from = d.count - (tile + 1) * TILE;
    typename S::Args args[S::ITEMS];
    u32 unit[S::GROUPS + 1][S::ITEMS];
    load_items<S, M, true, S::ITEMS>(args, d.first, from + thread_id() / S::LANES, d.count);
    // So many items lie before the run's first element in all threads: of a run that is less than a tile, or of its lowest one.
    const u32 none = (tile + 1) * TILE > d.count ? ((tile + 1) * TILE - d.count) / BLOCK : 0;
#pragma unroll
    for (u32 j = 0; j < S::ITEMS; j++) {
      if (S::ITEMS > 1 && j < none) {
        for (u32 g = 0; g < S::GROUPS; g++) {
          unit[g][j] = 0;
          if (lane_id() == 0) sh.sums[g][j * WARPS + warp_id()] = 0;
        }
        continue;
      }
      const u32 i = from + j * BLOCK + thread_id() / S::LANES;
      Counting<S, M> counting;
      counting.control = control;
      if (i < d.count) S::run(counting, args[j]);
#pragma unroll
      for (u32 g = 0; g < S::GROUPS; g++) {
        const u32 own = counting.at[S::lead(g)] / S::ratio(S::lead(g));
        u32 sum;
        if (S::binary(g)) {
          const u32 who = __ballot_sync(ALL_LANES, own != 0);
          unit[g][j] = (u32)__popc(who & ((1u << lane_id()) - 1));
          sum = (u32)__popc(who);
        } else {
          const u32 upto = warp_scan(own);
          unit[g][j] = upto - own;
          sum = __shfl_sync(ALL_LANES, upto, WARP - 1, WARP);
        }
        if (lane_id() == 0) sh.sums[g][j * WARPS + warp_id()] = sum;
      }
    }
    __syncthreads();
    if (warp_id() == 0) reserve_tile<S>(sh, control);
    __syncthreads();
    if (sh.full) {
      if (S::YIELDS && thread_id() == 0 && !sh.local) give_back(control, tile, next, tiles);
      break;
    }
    // Children whose number depends on data are staged in shared memory, so that the channel is written in whole lines.
    bool staged = false;
    if constexpr (S::STAGED) {
      staged = sh.total[S::STAGE_GROUP] <= S::template capacity<true>();
      if (staged) run_reserved<S, M, true>(sh, sum, leaves, args, unit, from);
    }
    if (!staged) run_reserved<S, M, false>(sh, sum, leaves, args, unit, from);
    if constexpr (S::YIELDS) {
      if (thread_id() == 0) sh.tile = next;
    }
#ifdef WORKERS
    if (thread_id() == 0) sh.done++;
#endif
    if (S::STAGED || S::YIELDS || next < tiles) __syncthreads();
    tile = S::YIELDS ? sh.tile : next;
    if constexpr (S::STAGED) {
      if (staged) S::template flush<M, true>(Spots{0, 0, d.base[S::STAGE_PUSH] + sh.first[S::STAGE_GROUP]}, sh.total[S::STAGE_GROUP]);
    }
    if ((S::STAGED || S::YIELDS) && tile < tiles) __syncthreads();
  }
  hand_over(sh, control, sum, leaves);
}

// Reserves what a tile that was tried has spawned. One thread of a block calls it, between two barriers. `lowest` is the tile's first element.
template <class S, bool ONCE>
FN void reserve_tried(Shared& sh, Control* control, [[maybe_unused]] u32 lowest) {
  const u32 total = sh.staged, base = sh.dispatch.base[0], room = sh.dispatch.room[0];
  sh.total[0] = total;
  sh.staged = 0;
#ifdef WORKERS
  if (sh.again) {
    // From the tile's lowest element up to those that came before nothing is needed any more. But a second pass reads the tile once more.
    const u32 free = total <= S::template capacity<!ONCE>() ? sh.hole - lowest : 0, low = min_of(total, free);
    if (total - low > base + room - sh.top) {
      sh.full = 1;
      return;
    }
    // Nothing came before the dispatch's only tile: its children lie side by side where it did, and nothing is to be closed.
    if (free && sh.hole == sh.top && lowest == sh.dispatch.first) {
      sh.place = Spots{0, 0, lowest};
      sh.hole = lowest;
      sh.top = lowest + total;
      return;
    }
    sh.place = Spots{low, sh.hole - low, sh.top - low};
    sh.hole -= low;
    sh.top += total - low;
    return;
  }
#endif
  const u64 first = count_units(sh, control, 0, total);
  sh.place = Spots{0, 0, base + (u32)first};
  if (total && first + total > room) end_room(sh, control, first, 0, total);
}

// Runs elements in the same tiles, but as soon as their children are staged the tile is as good as done: if they find room, they are written to
// the channel and the results handed in, else nothing has happened.
template <class S, bool ONCE, class M = DeviceMemory>
FN void run_tried(u32 block, u32 blocks) {
  Shared& sh = shared();
  Control* const control = M::control();
  constexpr u32 TILE = BLOCK * S::ITEMS;
  // Results for one address are joined in one register, and then a loop over a thread's elements takes fewer registers than all of them.
  constexpr bool JOINS = S::SUMS && !(ONCE && S::ONE_HOME);
  constexpr u32 N = JOINS ? S::ITEMS : 1;
  const u32 count = sh.dispatch.count, first = sh.dispatch.first, tiles = (count + TILE - 1) / TILE;
  const bool asks = thread_id() == 0 && !sh.local;
  Gathered<typename S::Sum, M> sum;
  LeafCounts<S> leaves;
  const Trying trying{M::control()};
  typename S::Args args[N];
  u32 tile = block;
  u32 from = count - (tile + 1) * TILE + thread_id();
  load_items<S, M, !ONCE, N>(args, first, from, tile < tiles ? count : 0);
  while (tile < tiles) {
    // The next tile's number is asked for now and needed when this one has been tried.
    const u32 asked = next_tile(control, tile, tiles, blocks, asks), here = from;
    typename S::Sum::Value given[N];
    typename S::Later later;
    u32 ended = 0;
    bool failed = false;
#pragma unroll
    for (u32 j = 0; j < N; j++) given[j] = S::Sum::none();
#pragma unroll 1
    for (u32 at = 0; at < S::ITEMS; at += N) {
      typename S::Args now[N];
#pragma unroll
      for (u32 j = 0; j < N; j++) now[j] = args[j];
      from += N * BLOCK;
      if (N < S::ITEMS) load_items<S, M, !ONCE, N>(args, first, from, at + N < S::ITEMS ? count : 0);
#pragma unroll
      for (u32 j = 0; j < N; j++) {
        Trial<S, M, true, ONCE> worker(trying, given[j], ended, later);
        if (here + (at + j) * BLOCK < count) S::run(worker, now[j]);
        failed |= worker.failed;
      }
    }
    if constexpr (S::LONG) {
      Trial<S, M, true, ONCE> worker(trying, given[0], ended, later);
      run_long<S>(worker, later);
      failed |= worker.failed;
    }
    if (thread_id() == 0) sh.tile = asked;
    if (failed) sh.full = 1;
#ifdef WORKERS
    // Children may lie where the tile does: who waits for its results is asked before.
    ptr home[N];
    if constexpr (S::SUMS) {
#pragma unroll
      for (u32 j = 0; j < N; j++) home[j] = S::Sum::is_some(given[j]) ? S::template home<M, !ONCE>(first + here + j * BLOCK) : nullptr;
    }
#endif
    __syncthreads();
    if (thread_id() == 0) reserve_tried<S, ONCE>(sh, control, first + (count > (tile + 1) * TILE ? count - (tile + 1) * TILE : 0));
    const u32 next = sh.tile;
    // Meanwhile the next tile is under way.
    from = count - (next + 1) * TILE + thread_id();
    load_items<S, M, !ONCE, N>(args, first, from, next < tiles ? count : 0);
    __syncthreads();
    if (sh.full) {
      if (asks) give_back(control, tile, next, tiles);
      break;
    }
    if constexpr (S::SUMS) {
#pragma unroll
      for (u32 j = 0; j < N; j++) {
#ifdef WORKERS
        if (S::Sum::is_some(given[j])) sum.add(home[j], given[j]);
#else
        if (S::Sum::is_some(given[j])) sum.add(S::template home<M, !ONCE>(first + here + j * BLOCK), given[j]);
#endif
      }
    }
#ifdef WORKERS
    if (thread_id() == 0) sh.done++;
#endif
    leaves.count[0] += ended;
    const u32 total = sh.total[0];
    const Spots place = sh.place;
    if (total <= S::template capacity<!ONCE>()) {
      S::template flush<M, !ONCE>(place, total);
    } else {
#pragma unroll 1
      for (u32 j = 0; j < S::ITEMS; j++) {
        const u32 i = here + j * BLOCK;
        Trial<S, M, false, ONCE> worker(trying, given[0], ended, later);
        worker.first = place.high;
        if (i < count) S::run(worker, S::template deq<M, !ONCE>(first + i));
        run_long<S>(worker, later);
      }
      __syncthreads();
      if (thread_id() == 0) sh.staged = 0;
    }
    tile = next;
    if (tile < tiles) __syncthreads();
  }
  hand_over(sh, control, sum, leaves);
}
