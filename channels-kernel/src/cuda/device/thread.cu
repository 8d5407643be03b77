// So many turns of loops are between two looks of a thread.
#define TURNS 4096

// A thread that runs a segment's body.
struct Thread {
  Control* control;
  u64 since = 0;
  u32 turns = TURNS;   // of loops, until it looks whether the run is over
  u32 depth = 0;       // of recursive helpers
  bool failed = false;

  // Before the first turn of a loop, and after each look. An instruction that no compiler leaves out is there so that the loop stays one by itself, within
  // another one that looks.
  __device__ __forceinline__ void begin_turns() { turns = at_most(turns, TURNS); }
  // After so many turns of loops: whether to leave.
  __device__ __forceinline__ bool is_over() {
    turns = TURNS;
    if (!should_stop(control, since)) return false;
    failed = true;
    return true;
  }
  // The same at the end of each turn.
  __device__ __forceinline__ bool poll() { return --turns == 0 && is_over(); }
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

