// The persistent aggregator's kernel.

FN void copy_dispatch(Dispatch& to, const Dispatch& from) {
  for (u32 i = thread_id(); i < sizeof(Dispatch) / 4; i += BLOCK) ((u32*)&to)[i] = GLOBAL_LOAD((u32*)&from + i);
}

// A dispatch of all blocks that takes so many cycles of a multiprocessor is worth a launch: the host's kernels run what is much work faster.
#define LONG_RUN (1u << 16)

// Whether a run that is chosen is the host's: it is more than a tile of each block, or the last one was long. One block hands over what it does not do alone.
// After `limit` runs so is the next one of entries, which may be roots of subtrees; going up again there is nothing to ask.
FN bool is_over(const Policy& p, const Shared& sh, u32 blocks) {
  // Moves belong to the dispatch before.
  if (sh.dispatch.source == SOURCES) return false;
  const bool wide = blocks == 1 || p.slow || (u64)sh.dispatch.count > (u64)blocks * sources[sh.dispatch.source].alone;
  const bool asks = p.dispatches > p.limit && stacks_entry[sources[sh.dispatch.source].stack];
  return asks || (!sh.local && wide);
}

// The persistent aggregator: one cooperative kernel. The first warp of block 0 decides; the other blocks wait for the number of the
// next dispatch. A narrow run stays in that warp, a small one in block 0, and then no other block hears of it.
// `standing` says how far the run is, first and last.
//
// It is also what the host thread leaves runs to that are less than a launch: then `limit` is not 0, and a run that is for the host ends the kernel
// (`is_over`). `began`: the number of the last dispatch that other blocks heard of, by kernels before.
extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) persistent(Dispatch* published, Standing* standing, u32 limit, u32 began) {
  Shared& sh = shared();
  SHARED(Policy, policy);
  Control* const c = device_channels.control;
  const u32 blocks = gridDim.x;
  if (blockIdx.x != 0) {
    for (u32 epoch = began + 1;; epoch++) {
      if (thread_id() == 0) {
        sh.go = await(c, &c->epoch, epoch);
        sh.full = sh.staged = 0;
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
  u32 epoch = began;
  u64 time = 0;
  policy_clear(policy);
  __syncthreads();
  if (warp_id() == 0) policy_start(policy, sh, c, standing);
  if (thread_id() == 0) policy.limit = limit ? limit : 0xffffffffu;
  __syncthreads();
  while (true) {
    if (warp_id() == 0) {
      policy_next(policy, sh, c, blocks);
      // Relaxed: pairs with the load in `await`.
      if (lane_id() == 0) __nv_atomic_store_n(&c->beat, sh.dispatch.number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
    __syncthreads();
    const bool stop = sh.dispatch.stop != 0, over = limit && !stop && is_over(policy, sh, blocks);
    const bool alone = blocks == 1 || (sh.local && !stop && !over);
    if (over) {
      // All have seen that it is not so.
      __syncthreads();
      if (thread_id() == 0) sh.dispatch.stop = 1;
      __syncthreads();
    }
    // Of the last one the other blocks hear that it is the last.
    if (over || (!alone && !stop)) {
      for (u32 i = thread_id(); i < sizeof(Dispatch) / 4; i += BLOCK) ((u32*)published)[i] = ((u32*)&sh.dispatch)[i];
      __syncthreads();
    }
    if (!alone && thread_id() == 0) {
      if (stop) published->stop = 1;
      __nv_atomic_store_n(&c->arrived, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
      // Release: pairs with the fence in the other blocks' `await`.
      __nv_atomic_store_n(&c->epoch, ++epoch, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
    if (stop || over) {
      if (thread_id() == 0) c->over = over;
      break;
    }
    if (!alone && thread_id() == 0) time = cycles();
    share_begins(sh);
    run_source(0, alone ? 1 : blocks);
    __syncthreads();
    share_ends(sh);
    if (!alone) {
      if (thread_id() == 0) {
        await(c, &c->arrived, blocks - 1);
        policy.slow = cycles() - time > LONG_RUN;
      }
      __syncthreads();
    }
  }
  if (warp_id() == 0) policy_end(policy, c, standing);
}
