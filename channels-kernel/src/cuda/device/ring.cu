// The ring channel (`ring/README.md` has the protocol and says why it is right): a data array for each field, a control array of slots in the order
// in which they are published, a bit for each slot that says whether it is done, a count of done slots for each stretch. Positions count from 0 and never wrap.
//
// What is the GPU's own: a compare-exchange on a word that many want succeeds once in the time that it takes there and back, and so does what is handed
// from one to the next. So there is neither. `room` and `ready` count what may still be allocated, and taken: who wants some subtracts, and adds what was
// not there; who got some adds to `tail`, or to `control_head`, which gives each a place of its own. All are sums, of which one address does a thousand
// million a second. And no tail is moved over what is published: each entry of the control array says by a bit whether it is of this time round.

FN i32 gate(u32* word) { return (i32)GLOBAL_LOAD(word); }
FN u32 ring_ready(const Ring& r) { return max_of(gate(&r.words->ready), 0); }
FN u32 ring_room(const Ring& r) { return max_of(gate(&r.words->room), 0); }

// Passes a gate with so many, or with as many as there are. One lane calls it.
FN u32 ring_pass(u32* word, u32 most) {
  // Relaxed: pairs with the additions of `ring_reclaim` and `ring_enq`; the fences around order.
  const i32 had = (i32)__nv_atomic_fetch_sub(word, most, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (had >= (i32)most) return most;
  const u32 got = (u32)max_of(had, 0);
  __nv_atomic_fetch_add(word, most - got, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  return got;
}

// Passes a gate, and gives a place of its own behind it, counted by `word`. What is counted in a gate need not be what the place stands for: who passed
// later may have been given the earlier place. So passing is acquired before the place is given out, and whoever gets the next place hears of it.
FN u32 ring_take(u32* passes, u64* word, u32 most, u64& at) {
  const u32 got = ring_pass(passes, most);
  if (got == 0) return 0;
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  at = __nv_atomic_fetch_add(word, (u64)got, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  return got;
}

// `talloc`: up to so many consecutive positions, the first one is `data`, and as many places in the control array, the first one is `place`; there is
// always room there. One lane calls it. Available to reserved. The first fence pairs with the last one in `ring_reclaim`: who had these slots before has read
// them. The second: a place may have become free by what another producer saw when it passed, and not this one.
FN u32 ring_talloc(const Ring& r, u32 most, u64& data, u64& place) {
  const u32 got = ring_pass(&r.words->room, most);
  if (got == 0) return 0;
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  // Both are under way at once.
  data = __nv_atomic_fetch_add(&r.words->tail, (u64)got, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  place = __nv_atomic_fetch_add(&r.words->reserve_tail, (u64)got, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  return got;
}

// Some consecutive places of an array that is gone round: of so many slots, or of the control array.
struct Round {
  u32 first, places, turn;
  __device__ __forceinline__ Round(u64 at, u32 all) : first((u32)(at % all)), places(all), turn((u32)(at / all)) {}
  __device__ __forceinline__ u32 at(u32 i) const {
    const u32 place = first + i;
    return place < places ? place : place - places;
  }
  // What tells an entry of this time round from one of the last: it turns over, and begins with what zeroed memory is not.
  __device__ __forceinline__ u32 tag(u32 i) const { return ((turn + (first + i >= places)) % 2 ^ 1) * RING_TAG; }
};
FN Round ring_slots(const Ring& r, u64 at) { return Round(at, r.width); }
FN Round ring_control(const Ring& r, u64 at) { return Round(at, 2 * r.width); }

// `enq`: reserved to ready. Several lanes call it, each with its number among them. Each has written the elements `lane`, `lane + lanes`, and so on
// of what `ring_talloc` gave, and publishes those. Nobody waits.
FN void ring_enq(const Ring& r, const Round& slots, const Round& places, u32 count, u32 lane, u32 lanes) {
  // Release: pairs with the fence in `ring_await`.
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  for (u32 i = lane; i < count; i += lanes)
    __nv_atomic_store_n(&r.control[places.at(i)], slots.at(i) | places.tag(i), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  // Pairs with `ring_pass`: the passes of a later round are behind what is free by now.
  if (lane == 0) __nv_atomic_fetch_add(&r.words->ready, count, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// `deq`: up to so many consecutive places of the control array, the first one is `at`. One lane calls it. Ready to dispatched.
FN u32 ring_deq(const Ring& r, u32 most, u64& at) { return ring_take(&r.words->ready, &r.words->control_head, most, at); }

// The slot of an element that `ring_deq` gave. So many elements are published as places were given out, but the one of this place may be on its way:
// its producer has reserved the place, and waits for nothing before it writes the entry. `ring_seen` comes between this and a look at the element.
FN u32 ring_await(const Ring& r, const Round& places, u32 i) {
  u32 entry;
  while (((entry = GLOBAL_LOAD(&r.control[places.at(i)])) & RING_TAG) != places.tag(i)) pause(20);
  return entry & ~RING_TAG;
}
// Acquire: pairs with the fence in `ring_enq`.
FN void ring_seen() { __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE); }
// Comes between a look at elements and `ring_tfree`, and all lanes of the warp call it. Release: what was read is not written before the loads are done;
// pairs with the first fence in `ring_reclaim`. One lane marks for others, so they meet before the fence: votes and shuffles order no memory.
FN void ring_read() {
  __syncwarp();
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
}

FN u64 ring_bits(u32 count) { return ~0ull >> (64 - count); }

// Marks slots that lie side by side, in one word: dispatched to done. What they held was read, and `ring_read` called, or `ring_seen` by a lane alone. The
// bits say which, for who looks closely, the count how many, for who looks far. Both relaxed: they pair with the loads in `ring_reclaim`; the fence before
// releases, that of `ring_reclaim` acquires.
FN void ring_mark(const Ring& r, u32 slot, u32 count) {
  const u32 word = slot / r.group;
  __nv_atomic_fetch_xor(&r.done[word], ring_bits(count) << slot % r.group, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_add(&r.freed[word / r.stretch], count, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// `tfree`: marks slots that `ring_deq` gave, one of each lane that is asked, after all lanes of the warp have read theirs and called `ring_read`. All
// lanes call it. Slots that lie side by side are marked together, by the lane of the first.
FN void ring_tfree(const Ring& r, u32 slot, bool mine) {
  const u32 before = __shfl_up_sync(ALL_LANES, slot, 1, WARP);
  const bool begins = !mine || lane_id() == 0 || slot != before + 1 || slot % r.group == 0;
  const u32 beginnings = __ballot_sync(ALL_LANES, begins);
  if (!mine || !begins) return;
  const u32 later = lane_id() + 1 < WARP ? beginnings >> (lane_id() + 1) : 0;
  ring_mark(r, slot, later ? (u32)__ffs((i32)later) : WARP - lane_id());
}

// Moves `head` over what is done, in the order in which it was allocated: done to available. A warp calls it, each lane looks at a mark; or, where
// lanes do not stay together, one lane alone. All who want room wait for whoever moves `head`, so it goes by whole stretches, as far as these are done: a
// look at them is one for 32 x 64 x 64 slots. Only where the first one is not done whole it looks at bits.
template <bool ALONE>
FN void ring_reclaim(const Ring& r) {
  const u32 lane = ALONE ? 0 : lane_id();
  u64 head = GLOBAL_LOAD(&r.words->head);
  if constexpr (!ALONE) head = shuffle_wide(head, 0);
  u32 slot = (u32)(head % r.width);
  u64 turn = head / r.width, end = head;
  const u32 stretch = r.stretch * r.group;
  for (bool far = true; end - head < r.width;) {
    // Of a stretch that `head` stands in, slots that lie before it may be done in the next round already: its count is of both.
    far = far && slot % stretch == 0;
    const u32 each = far ? stretch : r.group, first = slot / each, all = (r.width + each - 1) / each;
    const u32 upto = far ? all : min_of(all, (slot / stretch + 1) * r.stretch), looks = ALONE ? 1 : min_of((u32)WARP, upto - first);
    const bool mine = lane < looks;
    const u32 mark = first + (mine ? lane : 0), from = lane == 0 ? slot : mark * each, own = min_of((mark + 1) * each, r.width) - from;
    u32 count;
    if (far) {
      // It is never set back: in each round the whole stretch is added.
      count = GLOBAL_LOAD(&r.freed[mark]) == (u32)(turn + 1) * own ? own : 0;
    } else {
      // A slot's bit turns over each time that it is done: to 1 in the first round, back to 0 in the second.
      const u64 marks = GLOBAL_LOAD(&r.done[mark]), done = turn % 2 ? ~marks : marks;
      count = min_of(trailing_zeros(~(done >> from % r.group)), own);
    }
    const bool last = ALONE || lane == looks - 1;
    bool partly = mine && count < own;
    u32 next = from + count;
    if constexpr (!ALONE) {
      const u32 ends = __ballot_sync(ALL_LANES, partly || last);
      const u32 who = (u32)__ffs((i32)ends) - 1;
      next = __shfl_sync(ALL_LANES, next, who, WARP);
      partly = __shfl_sync(ALL_LANES, partly, who, WARP);
    }
    end += next - slot;
    slot = next;
    if (partly && (!far || end != head)) break;
    far = !partly;
    if (slot == r.width) {
      slot = 0;
      turn++;
    }
  }
  if (end == head) return;
  // Acquire: each lane has seen what was done before the marks that it looked at; pairs with the fences of `ring_read` and `ring_seen`.
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  if constexpr (!ALONE) __syncwarp();
  if (lane == 0) {
    // Release: the first lane speaks for what the others told it when they met; pairs with the fence of `ring_talloc`.
    if constexpr (!ALONE) __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    const u32 more = (u32)(end - head);
    if (__nv_atomic_compare_exchange_n(&r.words->head, &head, end, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE))
      __nv_atomic_fetch_add(&r.words->room, more, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  if constexpr (!ALONE) __syncwarp();
}
