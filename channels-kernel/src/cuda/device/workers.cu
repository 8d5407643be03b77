// The tier inside the blocks: each is a worker with channel stacks of its own, ranges of the run's, and an aggregator of its own, the same policy.
// A subtree dispatch gives workers the elements of an entry channel, the roots, in batches; a worker runs a batch with all that comes of it, without
// a word to the others.
#ifdef WORKERS

// Gives the worker its ranges. All threads call it.
FN void own_begins(const Crew& crew, Policy& p) {
  Own& mine = own();
  for (u32 i = thread_id(); i < sizeof(Channels) / 4; i += BLOCK) ((u32*)&mine.channels)[i] = ((const u32*)&device_channels)[i];
  for (u32 i = thread_id(); i < sizeof(Control) / 4; i += BLOCK) ((u32*)&mine.control)[i] = ((const u32*)device_channels.control)[i];
  for (u32 g = thread_id(); g < MAX_GROUPS; g += BLOCK) mine.counter[g] = shared().counter[g] = 0;
  for (u32 i = thread_id(); i < sizeof(Policy) / 4; i += BLOCK) ((u32*)&p)[i] = 0;
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) mine.at[s] = crew.base[s] + blockIdx.x * crew.share[s];
  __syncthreads();
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) mine.channels.capacity[s] = crew.share[s];
  for (u32 s = thread_id(); s < SOURCES; s += BLOCK) p.average[s] = crew.average[s];
  if (thread_id() == 0) {
    own_ranges(mine.channels, mine.at);
    mine.channels.control = &mine.control;
    // Of levels that lie near.
    mine.channels.known = 0xffffffffu;
    mine.channels.records = nullptr;
    mine.level = crew.level;
    mine.elements = (u64*)crew.elements;
    Control& c = mine.control;
    c.status = OK;
    c.counter = mine.counter;
    c.ticket = c.given = 0;
    c.limit = 0xffffffffu;
    // A block gives two tiles back at most, so that the workers' lists lie beside each other in the run's.
    if (c.tiles) c.tiles = (Tiles*)((u32*)c.tiles + 2 * blockIdx.x);
    p.waiting = (Mark*)crew.waiting + (u64)blockIdx.x * crew.marks;
    p.room = crew.marks;
    p.reached = 1;
    p.expected = crew.expected;
  }
  __syncthreads();
}

// Takes the next batch of roots to the beginning of its own range: how many. All threads call it.
FN u32 take_roots(Shared& sh, Crew& crew) {
  // Relaxed: each number is given out once, and that is all.
  if (thread_id() == 0) sh.tile = __nv_atomic_fetch_add(&crew.ticket, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __syncthreads();
  const u64 at = (u64)sh.tile * crew.batch;
  const u32 count = at < crew.count ? min_of(crew.batch, crew.count - (u32)at) : 0;
  copy_entries(crew.stack, own().at[crew.stack], crew.first + (u32)at, count);
  return count;
}

// A level of roots, and nothing else. The first warp calls it.
FN void policy_roots(Policy& p, Shared& sh, u32 stack, u32 count) {
  Place& now = policy_level(p, 0);
  for (u32 s = lane_id(); s < STACKS; s += WARP) {
    now.lo[s] = p.floor[s] = 0;
    now.hi[s] = p.top[s] = s == stack ? count : 0;
    if (p.peak[s] < p.top[s]) p.peak[s] = p.top[s];
  }
  if (lane_id() == 0) {
    p.level = p.marks = p.kept = 0;
    p.most = 0xffffffffu;
    p.left = Left{};
    sh.dispatch.source = SOURCES;
  }
  __syncwarp();
}

// Adds what the worker counted to what all did. The first warp calls it, when nothing is left to do.
FN void tell_crew(const Policy& p, Crew& crew) {
  // Relaxed, all of them: the host reads them when the kernel has ended.
  for (u32 s = lane_id(); s < SOURCES; s += WARP) combine_add(&crew.consumed[s], p.consumed[s]);
  for (u32 s = lane_id(); s < STACKS; s += WARP) combine_add(&crew.peak[s], p.peak[s]);
  for (u32 l = lane_id(); l < p.reached && l < NEAR; l += WARP) own_elements(l, p.places[l].elements);
  if (lane_id() == 0) {
    combine_max(&crew.reached, own().level + p.reached);
    combine_add(&crew.dispatches, p.dispatches);
    combine_add(&crew.narrow, p.narrow);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) workers(Crew* all) {
  Crew& crew = *all;
  Shared& sh = shared();
  SHARED(Policy, policy);
  own_begins(crew, policy);
  Control* const c = HERE.control;
  while (const u32 count = take_roots(sh, crew)) {
    if (warp_id() == 0) policy_roots(policy, sh, crew.stack, count);
    while (true) {
      if (warp_id() == 0) policy_next(policy, sh, c, 1);
      __syncthreads();
      if (sh.dispatch.stop) break;
      run_source(0, 1);
      __syncthreads();
    }
    // Relaxed: pairs with `stop_run`, by this block, which the barrier has ordered.
    const bool stops = GLOBAL_LOAD(&c->status) != OK;
    __syncthreads();
    if (stops) break;
  }
  if (warp_id() == 0) tell_crew(policy, crew);
}

#endif
