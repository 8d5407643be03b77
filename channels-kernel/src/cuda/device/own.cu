// Whose channels those are that somebody decides about and that bodies push to: the run's, or a worker's own ranges of them (`workers.cu`).
#ifdef WORKERS
struct Own {
  Channels channels;        // the run's, but every array begins where the worker's range does
  Control control;          // as the run's, but for what is counted and decided here
  u64 counter[MAX_GROUPS];
  u32 at[STACKS];           // where its range of each stack begins
  u32 level;                // of the roots
  u64* elements;            // consumed, of all workers, by level of the run
};
FN Own& own() {
  SHARED(Own, of_worker);
  return of_worker;
}
// Adds what was consumed at a level of the worker's. The roots are counted by who chose them.
FN void own_elements(u32 level, u64 count) {
  const u32 at = own().level + level;
  // Relaxed: the host reads it after the run.
  if (level && count && at < device_channels.known) combine_add(&own().elements[at], count);
}
#define HERE own().channels
#else
#define HERE device_channels
#endif

