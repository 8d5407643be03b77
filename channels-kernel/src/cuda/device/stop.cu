FN u32 thread_id() { return threadIdx.x; }
FN u32 lane_id() { return threadIdx.x % WARP; }
FN u32 warp_id() { return threadIdx.x / WARP; }

#define GLOBAL_LOAD(p) __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)

// Sets a status: whether it is the first one.
FN bool set_status(Control* c, u32 code) {
  u32 none = OK;
  return __nv_atomic_compare_exchange_n(&c->status, &none, code, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Ends the run: the first one wins. A worker has a record of its own, which is near; the others hear of it by the run's. Pairs with the loads of `status` in `stopped`, which only hasten the end; the host reads after
// the kernel, so no order is needed.
[[maybe_unused]] static __device__ __noinline__ void stop_run(Control* c, u32 code, u32 site, u64 a, u64 b) {
#ifdef WORKERS
  set_status(c, code);
  c = device_channels.control;
#endif
  if (set_status(c, code)) {
    c->site = site;
    c->values[0] = a;
    c->values[1] = b;
  }
}

FN bool stopped(Control* c) {
#ifdef WORKERS
  if (GLOBAL_LOAD(&device_channels.control->status) != OK) set_status(c, GLOBAL_LOAD(&device_channels.control->status));
#endif
  return GLOBAL_LOAD(&c->status) != OK;
}

// The host's memory is a microsecond away, and the looks of all threads at a word of it wait for each other. So one looks for all, and the next one after so
// many nanoseconds.
#define LOOKS_EVERY 50000

// Whether it is this thread that looks; `looked` is when one did. Relaxed: one of those who come at the same time wins, and that is all.
FN bool has_turn(u64* looked, u64 now) {
  u64 before = GLOBAL_LOAD(looked);
  // The clocks of two multiprocessors may differ by a little.
  if ((i64)(now - before) < LOOKS_EVERY) return false;
  return __nv_atomic_compare_exchange_n(looked, &before, now, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Looks whether the run is over: failed elsewhere, cancelled, or this thread at work for too long. In line and without a call, for it stands in
// every loop: a call would take the registers that the loop lives in.
FN bool should_stop(Control* c, u64& since) {
  if (stopped(c)) return true;
  const u64 now = now_ns();
  if (since == 0) since = now;
#ifdef WORKERS
  Control* const run = device_channels.control;
#else
  Control* const run = c;
#endif
  // Relaxed: pairs with the host's store of the cancel flag; it only hastens the end.
  const bool cancelled = has_turn(&run->looked, now) && __nv_atomic_load_n(c->cancel, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM) != 0;
  if (!cancelled && now - since < c->watchdog) return false;
  // As in `stop_run`, but there is nothing more to say.
  const u32 code = cancelled ? CANCELLED : WATCHDOG;
  set_status(c, code);
#ifdef WORKERS
  set_status(run, code);
#endif
  return true;
}

// Waits until `*at` is `wanted`, but no longer than the watchdog allows for one dispatch, or one region. One thread of a block calls it.
// The fence pairs with the release that stored or added `wanted`; what the other blocks wrote before is visible after. The loads themselves
// are relaxed: an acquire empties the first-level cache, and blocks that still work share it.
[[maybe_unused]] static __device__ __noinline__ bool await(Control* c, u32* at, u32 wanted) {
  u64 since = 0;
  u32 beat = 0;
  for (u32 spins = 1;; spins++) {
    if (GLOBAL_LOAD(at) == wanted) {
      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
      return true;
    }
    if (spins % 1024 == 0) {
      // Relaxed: pairs with the store of block 0 and what the master adds; a new dispatch has its own time, and a region. Both only grow.
      const u32 now = GLOBAL_LOAD(&c->beat) + GLOBAL_LOAD(&c->regions_begun);
      if (now != beat) since = 0;
      beat = now;
      if (should_stop(c, since)) return false;
    }
    // Who has waited for long gets out of the way of who works.
    pause(spins < 64 ? 20 : 200);
  }
}
