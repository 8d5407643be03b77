// Whose channels those are that somebody decides about and that bodies push to: the run's, or a worker's own ranges of them (`workers.cu`).
#ifdef WORKERS
// What a warp does with a private stack (`private.cu`).
struct Private {
  u32 pushed;           // elements of the stack, while a wavefront runs
  u32 ran, wavefronts;  // of the dispatch
  // Elements at its end: of the stack, and of the warp's region of the channel; and most that there were in that.
  u32 have, spilled, most_spilled;
};
struct Own {
  Channels channels;      // the run's, but every array begins where the worker's range does
  Control control;        // as the run's, but for the status: the worker's own is near
  u32 at[STACKS];         // where its range of each stack begins in the run's
  // Of each entry channel: what waits lies from `bottom` on, up to `top`. Frames and continuations have none.
  u32 bottom[STACKS], top[STACKS];
  u32 peak[STACKS];
  u64 consumed[SOURCES];
  u32 each[SOURCES];      // children of an element in its own channel, as far as the last ones tell, in sixteenths
  u64 dispatches, donated, acquired;
  u32 most;               // elements of a dispatch: fewer after one that found no room
  u32 hungry;             // how many workers had nothing to do when it was last looked
  u32 offers;             // whether there was a gift of the worker's that is not gone
  // Of a dispatch on private stacks: whether it is one, and whether the next one may not be; how many elements were taken, how many warps have none, and
  // whether it is worth to share anew.
  u32 is_private, in_tiles, taken, idle, wanted;
  Private of_warp[WARPS];
  Crew* crew;
  near stage;
};
COMMON(Own, of_worker, own)
#define HERE own().channels
#else
#define HERE device_channels
#endif

// Says that a worker goes on, for who waits: what it has run so far, or anything else that changes. Relaxed: pairs with the loads of who waits, and of the host's.
FN void worker_goes_on([[maybe_unused]] u32 dispatches) {
#ifdef WORKERS
  __nv_atomic_store_n(&device_channels.control->beat, dispatches * gridDim.x + blockIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#endif
}

