// Every operation on a ring, and when: for a history that is checked afterwards. One thread of this computer runs all fibers, so a plain counter is a clock.

// What happened to an element, or to a wavefront of slots.
struct Event {
  u64 number;                // of the element
  u64 enq_begin, enq_end;    // from before it got its place in the queue until it is published
  u64 deq_begin, deq_end;    // around its consumer's taking it
  u64 held_from, held_until; // its slot: allocated, given back
  u32 delivered, slot;
};
static u64 clock_of_all;
static u64 tick() { return ++clock_of_all; }

// Each block produces its share in wavefronts of all sizes and takes what it finds; or, `apart`, every other one does this, and the rest
// that, who also move `head`. Then nobody hears of another but by what the two have to do with each other.
static void play(const Ring& ring, u64* data, u64 all, Event* events, bool apart) {
  SHARED(u32, got);
  SHARED(u32, over);
  SHARED(u64, at);
  SHARED(u64, place);
  SHARED(u64, begun);
  SHARED(u64, asked);
  const u32 each = apart ? 2 : 1, part = blockIdx.x / each, parts = (gridDim.x + each - 1) / each;
  const bool produces = blockIdx.x % each == 0, consumes = !apart || !produces;
  u64 next = produces ? all * part / parts : 0;
  const u64 last = produces ? all * (part + 1) / parts : 0;
  bool done = false;
  for (u32 size = 1; !done; size = size % (2 * BLOCK + 1) + 1) {
    if (next < last) {
      const u32 most = (u32)min_of((u64)min_of(size, ring.width), last - next);
      if (warp_id() == 0) {
        if (!apart && __shfl_sync(ALL_LANES, ring_room(ring), 0, WARP) < most) ring_reclaim<false>(ring);
        if (lane_id() == 0) {
          asked = tick();
          got = ring_room(ring) ? ring_talloc(ring, most, at, place) : 0;
          begun = tick();
        }
      }
      __syncthreads();
      const u32 count = got;
      const u64 first = at;
      if (count) {
        const Round slots = ring_slots(ring, first);
        for (u32 i = thread_id(); i < count; i += BLOCK) {
          data[slots.at(i)] = next + i;
          events[next + i].held_from = begun;
          events[next + i].slot = slots.at(i);
        }
        __syncthreads();
        ring_enq(ring, slots, ring_control(ring, place), count, thread_id(), BLOCK);
        __syncthreads();
        for (u32 i = thread_id(); i < count; i += BLOCK) {
          events[next + i].enq_begin = asked;
          events[next + i].enq_end = tick();
        }
        next += count;
      }
      __syncthreads();
    }
    if (thread_id() == 0) {
      begun = tick();
      got = consumes && ring_ready(ring) ? ring_deq(ring, size, at) : 0;
      over = got == 0 && next == last && GLOBAL_LOAD(&ring.words->control_head) >= all;
    }
    if (apart && consumes && warp_id() == 0) ring_reclaim<false>(ring);
    __syncthreads();
    const u32 count = got;
    const u64 first = at;
    done = over;
    if (count) {
      const Round places = ring_control(ring, first);
      for (u32 base = 0; base < count; base += BLOCK) {
        const u32 i = base + thread_id();
        const bool mine = i < count;
        const u32 slot = mine ? ring_await(ring, places, i) : 0;
        ring_seen();
        const u64 number = mine ? data[slot] : all;
        if (number < all) {
          Event& event = events[number];
          event.delivered++;
          event.deq_begin = begun;
          event.deq_end = tick();
          event.held_until = tick();
        }
        ring_read();
        ring_tfree(ring, slot, mine);
      }
    }
    __syncthreads();
  }
}

extern "C" unsigned play_ring(uint64_t seed, unsigned one_in, unsigned blocks, const Ring* ring, u64* data, u64 all, unsigned apart, Event* events) {
  lots = seed * 0x9e3779b97f4a7c15ull | 1;
  switches = one_in;
  sleeps = 16;
  turns_left = 1000000 + 50000 * all;
  return launch(blocks, [=] { play(*ring, data, all, events, apart && blocks > 1); });
}
