// A thread that runs a segment's body.
struct Thread {
  Control* control;
  u64 since = 0;
  u32 steps = 0;       // loop iterations
  u32 depth = 0;       // of recursive helpers
  bool failed = false;

  // At the back edge of each loop: whether to leave.
  __device__ __forceinline__ bool poll() {
    if ((++steps & 4095) != 0) return false;
    if (!should_stop(control, since)) return false;
    failed = true;
    return true;
  }
  __device__ __forceinline__ void fault(u32 site, u64 a, u64 b) {
    stop_run(control, FAULT, site, a, b);
    failed = true;
  }
  __device__ __forceinline__ bool enter(u32 helper) {
    if (++depth <= control->max_depth) return true;
    stop_run(control, STACK_OVERFLOW, helper, 0, 0);
    failed = true;
    return false;
  }
  __device__ __forceinline__ void leave() { --depth; }
};

