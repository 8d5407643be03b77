// The persistent aggregator's kernel.

FN void copy_dispatch(Dispatch& to, const Dispatch& from) {
  for (u32 i = thread_id(); i < sizeof(Dispatch) / 4; i += BLOCK) ((u32*)&to)[i] = GLOBAL_LOAD((u32*)&from + i);
}

// Waits until `*at` is `wanted`, but no longer than the watchdog allows for one dispatch. One thread of a block calls it.
// The fence pairs with the release that stored or added `wanted`; what the other blocks wrote before is visible after. The loads themselves
// are relaxed: an acquire empties the first-level cache, and blocks that still work share it.
static __device__ __noinline__ bool await(Control* c, u32* at, u32 wanted) {
  u64 since = 0;
  u32 beat = 0;
  for (u32 spins = 1;; spins++) {
    if (GLOBAL_LOAD(at) == wanted) {
      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
      return true;
    }
    if (spins % 1024 == 0) {
      // Relaxed: pairs with the store of block 0; a new dispatch has its own time.
      const u32 now = GLOBAL_LOAD(&c->beat);
      if (now != beat) since = 0;
      beat = now;
      if (should_stop(c, since)) return false;
    }
    // Who has waited for long gets out of the way of who works.
    pause(spins < 64 ? 20 : 200);
  }
}

// The persistent aggregator: one cooperative kernel. The first warp of block 0 decides; the other blocks wait for the number of the
// next dispatch. A narrow run stays in that warp, a small one in block 0, and then no other block hears of it.
//
// With one block it is also what the host thread leaves narrow levels to: then `limit` is not 0, and a run that is too large for a block ends the
// kernel and is the host's to launch, or the one after so many dispatches.
extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) persistent(Dispatch* published, u32 limit) {
  Shared& sh = shared();
  SHARED(Policy, policy);
  Control* const c = device_channels.control;
  const u32 blocks = gridDim.x;
  if (blockIdx.x != 0) {
    for (u32 epoch = 1;; epoch++) {
      if (thread_id() == 0) {
        sh.go = await(c, &c->epoch, epoch);
        sh.full = 0;
        sh.local = 0;
      }
      __syncthreads();
      if (!sh.go) return;
      copy_dispatch(sh.dispatch, *published);
      __syncthreads();
      if (sh.dispatch.stop) return;
      share_begins(sh);
      run_source(blockIdx.x, blocks);
      __syncthreads();
      share_ends(sh);
      // Release: pairs with the fence in block 0's `await`.
      if (thread_id() == 0) {
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_fetch_add(&c->arrived, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
      }
    }
  }
  u32 epoch = 0;
  if (warp_id() == 0) policy_start(policy, sh, c);
  if (thread_id() == 0) policy.limit = limit ? limit : 0xffffffffu;
  __syncthreads();
  while (true) {
    if (warp_id() == 0) {
      policy_next(policy, sh, c, blocks);
      // Relaxed: pairs with the load in `await`.
      if (lane_id() == 0) __nv_atomic_store_n(&c->beat, sh.dispatch.number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
    __syncthreads();
    const bool stop = sh.dispatch.stop != 0, over = limit && !stop && (!sh.local || policy.dispatches > limit);
    const bool alone = blocks == 1 || (sh.local && !stop);
    if (!alone || over) {
      for (u32 i = thread_id(); i < sizeof(Dispatch) / 4; i += BLOCK) ((u32*)published)[i] = ((u32*)&sh.dispatch)[i];
      __syncthreads();
    }
    if (!alone && thread_id() == 0) {
      __nv_atomic_store_n(&c->arrived, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
      // Release: pairs with the fence in the other blocks' `await`.
      __nv_atomic_store_n(&c->epoch, ++epoch, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
    if (stop || over) {
      if (thread_id() == 0) c->over = over;
      break;
    }
    share_begins(sh);
    run_source(0, alone ? 1 : blocks);
    __syncthreads();
    share_ends(sh);
    if (!alone) {
      if (thread_id() == 0) await(c, &c->arrived, blocks - 1);
      __syncthreads();
    }
  }
  if (warp_id() == 0) policy_end(policy, c);
}
