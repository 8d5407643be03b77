// Loops that only spawn, where they have many turns: all lanes of a warp run them together. `long.rs` says of which loops that is right, and writes
// what of them differs from segment to segment.

// A loop of fewer turns is not worth the trouble; and what the elements of a tile reserve at once is not to come round.
[[maybe_unused]] constexpr u32 MANY_TURNS = 2 * WARP;
[[maybe_unused]] constexpr u64 MOST_TURNS = (1ull << 31) / (BLOCK * MAX_ITEMS);
// What it costs to begin with a lane's loop together, in turns.
[[maybe_unused]] constexpr u32 TO_BEGIN = 4;

// How many turns a loop that only spawns has, if they can be reserved at once.
template <class T>
FN u32 turns_of(T from, T to, u32 pushes) {
  const u64 turns = to > from ? (u64)to - (u64)from : 0;
  return turns <= MOST_TURNS / pushes ? (u32)turns : ~0u;
}

// Whether all lanes together are through with the loops that lanes come to sooner than these lanes by themselves: not where all have as many turns.
FN bool is_long(u32 turns) {
  if (turns < MANY_TURNS || turns == ~0u) return false;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const u32 lanes = active_lanes();
  return __reduce_add_sync(lanes, turns / WARP + TO_BEGIN) < __reduce_max_sync(lanes, turns);
#else
  return true;
#endif
}

// Runs the loops that lanes have put off, one after the other, each by all lanes of the warp. All of them call it. What is staged beyond the stage is
// never looked at, so it is not written either.
template <class S, class W>
FN void run_long([[maybe_unused]] W& w, [[maybe_unused]] typename S::Later& later) {
  if constexpr (S::LONG) {
    const u32 frame = w.frame;
    for (u32 off = __ballot_sync(ALL_LANES, later.which != 0); off; off &= off - 1) {
      const auto of = S::told(later, (u32)__ffs((i32)off) - 1);
      if (!S::template fits<W>(of)) continue;
      w.frame = of.frame;
      for (u32 turn = lane_id(); turn < of.turns && !w.failed; turn += WARP) {
        S::turn_of(w, of, turn);
        if (w.poll()) break;
      }
    }
    w.frame = frame;
    later.which = 0;
  }
}
