// What each block has of a dispatch, for timelines.

// A block begins with its share of a dispatch, and has nothing more to do. All threads call both, and have met before the second.
FN void share_begins([[maybe_unused]] Shared& sh) {
#ifdef RECORDS
  if (thread_id() == 0) sh.begun = now_ns();
#endif
}
FN void share_ends([[maybe_unused]] const Shared& sh) {
#ifdef RECORDS
  if (thread_id() != 0 || sh.dispatch.source >= SOURCES) return;
  Records* const all = device_channels.shares;
  // Relaxed: the host reads them when the kernel has ended.
  const u32 at = __nv_atomic_fetch_add(&all->kept, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (at >= all->room) return;
  Share* const share = (Share*)(all + 1) + at;
  share->begin = sh.begun;
  share->end = now_ns();
  share->source = sh.dispatch.source;
  share->level = sh.dispatch.level;
  share->block = blockIdx.x;
#endif
}
