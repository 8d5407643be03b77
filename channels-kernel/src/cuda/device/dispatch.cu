// The kernels of the host thread: one dispatch each.

FN void start_dispatch(Shared& sh, const Dispatch& d) {
  for (u32 i = thread_id(); i < sizeof(Dispatch) / 4; i += BLOCK) ((u32*)&sh.dispatch)[i] = ((const u32*)&d)[i];
  for (u32 g = thread_id(); g < MAX_GROUPS; g += BLOCK) sh.counter[g] = 0;
  if (thread_id() == 0) {
    sh.full = sh.staged = sh.walks_far = 0;
    // A block that is alone, as of a narrow level, counts in shared memory, unless it may give tiles back.
    sh.local = gridDim.x == 1 && d.source < SOURCES && sources[d.source].tile == 0;
  }
  share_begins(sh);
  __syncthreads();
}

// What the host hears of a dispatch, but for the counters. One thread calls it.
FN void tell(Mailbox* to, u32 status, u32 limit, u32 walks_far, const Left& left) {
  to->status = status;
  to->limit = limit;
  to->walks_far = walks_far;
  to->bottom = left.bottom;
  to->left = left.count;
  to->moves = left.moves;
}

// Tells the host that a dispatch is done. All threads call it, after what they have told it already.
FN void answer(Control* c, u32 number) {
  __syncthreads();
  if (thread_id() == 0) {
    // Release, for what the whole block has written: pairs with the host's acquire of the mailbox's `number`.
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store_n(&c->mailbox->number, number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  }
}

// One dispatch of the host-thread aggregator. The last block to finish hands the counters to the host and clears them.
static __device__ __noinline__ void finish_dispatch() {
  Shared& sh = shared();
  const Dispatch& d = sh.dispatch;
  Control* const c = device_channels.control;
  __syncthreads();
  share_ends(sh);
  if (sh.local) {
    for (u32 g = thread_id(); g < MAX_GROUPS; g += BLOCK) c->mailbox->counter[g] = (u32)sh.counter[g];
    // Relaxed: pairs with `stop_run`, which the barrier above has ordered if this block called it.
    if (thread_id() == 0) tell(c->mailbox, GLOBAL_LOAD(&c->status), 0xffffffffu, sh.walks_far, {d.first, 0, 0});
    return answer(c, d.number);
  }
  if (thread_id() == 0) {
    bool last = true;
    // Relaxed: the fence below publishes it.
    if (sh.walks_far) __nv_atomic_store_n(&c->walks_far, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    // A block that is alone has nobody to wait for.
    if (gridDim.x > 1) {
      // The fences pair with each other: the last block sees what all have reserved.
      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
      last = __nv_atomic_fetch_add(&c->arrived, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == gridDim.x - 1;
      if (last) __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    }
    sh.go = last;
  }
  __syncthreads();
  if (!sh.go) return;
  // What found no room is planned for here, for the list lies here.
  const u32 limit = GLOBAL_LOAD(&c->limit);
  Left left = {d.first, 0, 0};
#ifdef GIVES_BACK
  if (warp_id() == 0 && d.source < SOURCES && sources[d.source].tile) left = plan_moves(sh, c, d, sources[d.source].tile, gridDim.x);
#endif
  __syncthreads();
  for (u32 g = thread_id(); g < MAX_GROUPS; g += BLOCK) {
    const u64 counted = GLOBAL_LOAD(&c->counter[g]);
    // What is beyond 32 bits found no room.
    c->mailbox->counter[g] = counted >> 32 ? 0xffffffffu : (u32)counted;
    __nv_atomic_store_n(&c->counter[g], 0ull, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  if (thread_id() == 0) {
    tell(c->mailbox, GLOBAL_LOAD(&c->status), limit, GLOBAL_LOAD(&c->walks_far), left);
    __nv_atomic_store_n(&c->walks_far, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&c->arrived, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&c->ticket, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&c->given, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&c->limit, 0xffffffffu, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  answer(c, d.number);
}
