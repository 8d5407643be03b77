// What each block did, for timelines.

#ifdef RECORDS
// Keeps what a block did from a time on until now, if there is room. One thread calls it.
FN void keep_share(u64 begin, u32 what, u32 source, u32 level, u32 elements) {
  Records* const all = device_channels.shares;
  // Relaxed: the host reads them when the kernel has ended.
  const u32 at = __nv_atomic_fetch_add(&all->kept, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (at >= all->room) return;
  Share* const share = (Share*)(all + 1) + at;
  share->begin = begin;
  share->end = now_ns();
  share->what = what;
  share->source = source;
  share->level = level;
  share->elements = elements;
  share->block = blockIdx.x;
}
#endif

// A block begins with its share of a dispatch, and has nothing more to do. All threads call both, and have met before the second.
FN void share_begins([[maybe_unused]] Shared& sh) {
#ifdef RECORDS
  if (thread_id() == 0) sh.begun = now_ns();
#endif
}
FN void share_ends([[maybe_unused]] const Shared& sh) {
#ifdef RECORDS
  if (thread_id() == 0 && sh.dispatch.source < SOURCES) keep_share(sh.begun, OF_DISPATCH, sh.dispatch.source, sh.dispatch.level, 0);
#endif
}
