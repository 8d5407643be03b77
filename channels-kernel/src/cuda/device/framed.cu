// Workers that run tasks with frames: each is an aggregator of its own, with levels, on its ranges of the run's stacks. It takes some roots of a subtree
// dispatch, runs them level by level with all that comes of them as one block of the persistent kernel does (`policy.cu`, `levels.cu`), and takes the next.
//
// A level waits for all below it, so where tasks spawn their own kind, wait, and spawn again, levels multiply, and few elements run at a time. A worker waits
// for its own roots alone: there are as many levels at a time as workers.
//
// What waits for children cannot be handed back, so a worker that finds no room ends the run, which is begun again without such workers.
#ifdef WORKERS

// The worker has nothing yet. All threads call it, behind `own_begins`.
FN void framed_begins(Policy& p, Own& o, Shared& sh, const Crew& crew) {
  for (u32 i = thread_id(); i < sizeof(Policy) / 4; i += BLOCK) ((u32*)&p)[i] = 0;
  __syncthreads();
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) p.wide[s] = wide_of(s);
  if (thread_id() == 0) {
    // Of no level is known what it pushes: records of them would take a place for each worker.
    o.channels.known = 0;
    p.waiting = o.control.waiting = (Mark*)crew.marks + (u64)blockIdx.x * crew.marks_each;
    p.room = o.control.marks = crew.marks_each;
    p.most = p.limit = 0xffffffffu;
    // Children lie above the elements of their level, as they do across the device.
    sh.again = sh.done = 0;
  }
  __syncthreads();
}

// So many roots are the first level of what it runs, and the only one. All threads call it.
FN void framed_starts(Policy& p, Own& o, Shared& sh, u32 stack, u32 count) {
  // Of the batch before there are no elements, but places of its levels.
  policy_clear(p);
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) p.floor[s] = p.young[s] = p.top[s] = 0;
  for (u32 g = thread_id(); g < MAX_GROUPS; g += BLOCK) sh.counter[g] = 0;
  __syncthreads();
  if (thread_id() == 0) {
    p.places[0].hi[stack] = p.top[stack] = o.top[stack] = count;
    p.peak[stack] = max_of(p.peak[stack], count);
    p.level = p.oldest = p.marks = p.kept = 0;
    p.reached = 1;
    p.left = Left{};
    // Nothing has been done yet.
    sh.dispatch.source = SOURCES;
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) framed(Crew* all) {
  Crew& crew = *all;
  Shared& sh = shared();
  SHARED(Policy, policy);
  SHARED(Found, found);
  own_begins(crew);
  Own& o = own();
  framed_begins(policy, o, sh, crew);
  while (true) {
    if (thread_id() == 0) sh.go = next_roots(crew, found);
    __syncthreads();
    if (!sh.go) break;
    copy_entries(found.stack, o.at[found.stack], found.first, found.count);
    framed_starts(policy, o, sh, found.stack, found.count);
    batch_begins(o, sh);
    while (true) {
      if (warp_id() == 0) policy_next(policy, sh, &o.control, 1);
      __syncthreads();
      if (sh.dispatch.stop) break;
      if (thread_id() == BLOCK - 1) {
        worker_goes_on((u32)policy.dispatches);
        // Others may have ended the run. It is seen by who decides behind the barrier.
        stopped(&o.control);
      }
      run_source(0, 1);
      __syncthreads();
    }
    __syncthreads();
    batch_ends(sh, crew);
    // Relaxed: it was set before the barrier, by whoever ended the run.
    if (GLOBAL_LOAD(&o.control.status) != OK) break;
    __syncthreads();
  }
  __syncthreads();
  // All that it had is done, or nobody asks.
  for (u32 s = thread_id(); s < STACKS; s += BLOCK) {
    o.peak[s] = policy.peak[s];
    o.bottom[s] = o.top[s] = 0;
  }
  for (u32 s = thread_id(); s < SOURCES; s += BLOCK) o.consumed[s] = policy.consumed[s];
  if (thread_id() == 0) o.dispatches = policy.dispatches;
  __syncthreads();
  tell_crew(o, crew);
}

#endif
