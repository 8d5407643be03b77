// Whose channels those are that somebody decides about and that bodies push to: the run's, or a worker's own ranges of them (`workers.cu`).
#ifdef WORKERS
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
};
COMMON(Own, of_worker, own)
#define HERE own().channels
#else
#define HERE device_channels
#endif

