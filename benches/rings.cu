// Elements through one queue, by all blocks at once: each produces its share and consumes what it finds. An element's number is its position, so that
// all numbers are there once. `WORDS` of 32 bits are an element, of which each is its number. `LIE` says how they lie, and `WHOLE` whether who takes an
// element reads all of it, or its first word alone.

#define STRUCTS 0
#define ARRAYS 1
#define PADDED 2
#ifndef LIE
#define LIE STRUCTS
#define WHOLE 1
#endif

struct alignas(WORDS % 4 == 0 ? 16 : 4) Element {
  u32 word[WORDS];
};
FN Element* element_at(void* data, u32 slot) {
  return (Element*)((u8*)data + (u64)slot * (LIE == PADDED ? 128 : sizeof(Element)));
}
FN u32* word_at(void* data, u32 width, u32 slot, u32 w) {
  return LIE == ARRAYS ? (u32*)data + (u64)w * width + slot : element_at(data, slot)->word + w;
}
FN void put(void* data, u32 width, u32 slot, const Element& e) {
  if constexpr (LIE != ARRAYS) {
    *element_at(data, slot) = e;
  } else {
#pragma unroll
    for (u32 w = 0; w < WORDS; w++) *word_at(data, width, slot, w) = e.word[w];
  }
}
FN Element get(void* data, u32 width, u32 slot) {
  if constexpr (LIE != ARRAYS && WHOLE) {
    return *element_at(data, slot);
  } else {
    Element e;
#pragma unroll
    for (u32 w = 0; w < WORDS; w++) e.word[w] = WHOLE || w == 0 ? *word_at(data, width, slot, w) : e.word[0];
    return e;
  }
}
FN Element element_of(u64 number) {
  Element e;
#pragma unroll
  for (u32 w = 0; w < WORDS; w++) e.word[w] = (u32)number;
  return e;
}

// What all blocks came to: how many elements were consumed, their sum, how many had words that differ, and how many wavefronts of producers found no
// room when they came.
struct Came {
  u64 consumed, sum, wrong, yields;
};
struct Mine {
  u64 consumed = 0, sum = 0, wrong = 0, yields = 0;
  bool waits = false;
  // A producer was given so many slots.
  __device__ __forceinline__ void given(u32 slots) {
    yields += slots == 0 && !waits;
    waits = slots == 0;
  }
  __device__ __forceinline__ void take(const Element& e) {
    consumed++;
    sum += e.word[0];
    bool same = true;
#pragma unroll
    for (u32 w = 1; w < WORDS; w++) same &= e.word[w] == e.word[0];
    wrong += !same;
  }
  __device__ __forceinline__ void tell(Came* came) const {
    combine_add(&came->consumed, consumed);
    combine_add(&came->sum, sum);
    combine_add(&came->wrong, wrong);
    combine_add(&came->yields, yields);
  }
};
FN u64 share_of(u64 all, u32 part, u32 parts) { return all * (part + 1) / parts - all * part / parts; }

// Elements of a wavefront: so many a lane.
#define LANE 4u
#define TILE (LANE * BLOCK)

// The ring, a wavefront a block, by one of so many blocks.
FN void pass_wavefronts(const Ring& ring, Element* data, u64 all, Came* came, u32 part, u32 parts) {
  SHARED(u32, got);
  SHARED(u32, over);
  SHARED(u64, at);
  SHARED(u64, place);
  u64 left = share_of(all, part, parts);
  Mine mine;
  bool done = false;
  while (!done) {
    if (left) {
      if (warp_id() == 0) {
        const u32 most = (u32)min_of((u64)min_of(TILE, ring.width), left);
        if (__shfl_sync(ALL_LANES, ring_room(ring), 0, WARP) < most) ring_reclaim<false>(ring);
        if (lane_id() == 0) got = ring_room(ring) ? ring_talloc(ring, most, at, place) : 0;
      }
      __syncthreads();
      const u32 count = got;
      if (thread_id() == 0) mine.given(count);
      if (count) {
        const Round slots = ring_slots(ring, at);
        for (u32 i = thread_id(); i < count; i += BLOCK) put(data, ring.width, slots.at(i), element_of(at + i));
        __syncthreads();
        ring_enq(ring, slots, ring_control(ring, place), count, thread_id(), BLOCK);
        left -= count;
      }
      __syncthreads();
    }
    if (thread_id() == 0) {
      got = ring_ready(ring) ? ring_deq(ring, TILE, at) : 0;
      over = got == 0 && left == 0 && GLOBAL_LOAD(&ring.words->control_head) == all;
    }
    __syncthreads();
    const u32 count = got;
    done = over;
    if (count) {
      const Round places = ring_control(ring, at);
      u32 slot[LANE];
#pragma unroll
      for (u32 k = 0; k < LANE; k++) {
        const u32 i = k * BLOCK + thread_id();
        slot[k] = i < count ? ring_await(ring, places, i) : 0;
      }
      ring_seen();
#pragma unroll
      for (u32 k = 0; k < LANE; k++)
        if (k * BLOCK + thread_id() < count) mine.take(get(data, ring.width, slot[k]));
      ring_read();
#pragma unroll
      for (u32 k = 0; k < LANE; k++) ring_tfree(ring, slot[k], k * BLOCK + thread_id() < count);
    }
    __syncthreads();
  }
  mine.tell(came);
}

extern "C" __global__ void __launch_bounds__(BLOCK) by_wavefronts(Ring ring, Element* data, u64 all, Came* came) {
  pass_wavefronts(ring, data, all, came, blockIdx.x, gridDim.x);
}

// Rings side by side, each of two blocks: so many elements through each.
extern "C" __global__ void __launch_bounds__(BLOCK) side_by_side(const Ring* rings, Element* data, u64 each, Came* came) {
  const Ring ring = rings[blockIdx.x / 2];
  pass_wavefronts(ring, element_at(data, blockIdx.x / 2 * ring.width), each, came, blockIdx.x % 2, 2);
}

// The ring, a wavefront a warp.
extern "C" __global__ void __launch_bounds__(BLOCK) by_warps(Ring ring, Element* data, u64 all, Came* came) {
  const u32 warps = BLOCK / WARP, lane = lane_id();
  u64 left = share_of(all, blockIdx.x * warps + warp_id(), gridDim.x * warps);
  Mine mine;
  bool done = false;
  while (!done) {
    u64 at = 0, place = 0;
    u32 count = 0;
    if (left) {
      const u32 most = (u32)min_of((u64)min_of(WARP, ring.width), left);
      if (__shfl_sync(ALL_LANES, ring_room(ring), 0, WARP) < most) ring_reclaim<false>(ring);
      if (lane == 0) {
        count = ring_room(ring) ? ring_talloc(ring, most, at, place) : 0;
        mine.given(count);
      }
      count = __shfl_sync(ALL_LANES, count, 0, WARP);
      at = shuffle_wide(at, 0);
      place = shuffle_wide(place, 0);
      if (count) {
        const Round slots = ring_slots(ring, at);
        if (lane < count) put(data, ring.width, slots.at(lane), element_of(at + lane));
        __syncwarp();
        ring_enq(ring, slots, ring_control(ring, place), count, lane, WARP);
        left -= count;
      }
    }
    if (lane == 0) {
      count = ring_ready(ring) ? ring_deq(ring, WARP, at) : 0;
      done = count == 0 && left == 0 && GLOBAL_LOAD(&ring.words->control_head) == all;
    }
    count = __shfl_sync(ALL_LANES, count, 0, WARP);
    at = shuffle_wide(at, 0);
    done = __shfl_sync(ALL_LANES, done, 0, WARP);
    if (count) {
      const u32 slot = lane < count ? ring_await(ring, ring_control(ring, at), lane) : 0;
      ring_seen();
      if (lane < count) mine.take(get(data, ring.width, slot));
      ring_read();
      ring_tfree(ring, slot, lane < count);
    }
    __syncwarp();
  }
  mine.tell(came);
}

// A pointer of which the compiler does not know that all lanes have it: each lane's atomic operations stay its own.
template <class T>
FN T* own(T* p) {
#ifndef EMULATED
  asm volatile("mov.u64 %0, %0;" : "+l"(p));
#endif
  return p;
}

// The ring, a wavefront a lane.
extern "C" __global__ void __launch_bounds__(BLOCK) by_lanes(Ring ring, Element* data, u64 all, Came* came) {
  const u32 parts = gridDim.x * BLOCK;
  u64 left = share_of(all, blockIdx.x * BLOCK + thread_id(), parts);
  ring.words = own(ring.words);
  Mine mine;
  for (bool over = false; !over;) {
    u64 at = 0, place = 0;
    if (left) {
      if (ring_room(ring) == 0) ring_reclaim<true>(ring);
      const u32 count = ring_room(ring) ? ring_talloc(ring, 1, at, place) : 0;
      mine.given(count);
      if (count) {
        const Round slot = ring_slots(ring, at);
        put(data, ring.width, slot.at(0), element_of(at));
        ring_enq(ring, slot, ring_control(ring, place), 1, 0, 1);
        left--;
      }
    }
    if (ring_ready(ring) && ring_deq(ring, 1, at)) {
      const u32 slot = ring_await(ring, ring_control(ring, at), 0);
      ring_seen();
      mine.take(get(data, ring.width, slot));
      ring_seen();
      ring_mark(ring, slot, 1);
    } else {
      over = left == 0 && GLOBAL_LOAD(&ring.words->control_head) == all;
    }
  }
  mine.tell(came);
}

// The broker queue of Kerbl et al., "The Broker Queue: A Fast, Linearizable FIFO Queue for Fine-Granular Work Distribution on the GPU" (2018), written
// from the paper: a count that brokers, two counters that give places, a ticket for each place that says whose turn it is. An operation a lane.
struct Broker {
  alignas(128) u32 count;
  alignas(128) u64 head;
  alignas(128) u64 tail;
};
#define RELAXED(what, p, v) __nv_atomic_fetch_##what(p, v, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)
FN void fence_device() { __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE); }
FN void await_ticket(u32* ticket, u32 turn) {
  while (GLOBAL_LOAD(ticket) != turn) pause(20);
  fence_device();
}
FN void set_ticket(u32* ticket, u32 turn) {
  fence_device();
  __nv_atomic_store_n(ticket, turn, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

extern "C" __global__ void __launch_bounds__(BLOCK) by_broker(Broker* queue, u32* tickets, Element* data, u32 width, u64 all, Came* came) {
  const u32 parts = gridDim.x * BLOCK;
  u64 left = share_of(all, blockIdx.x * BLOCK + thread_id(), parts);
  queue = own(queue);
  Mine mine;
  for (bool over = false; !over;) {
    // ensureEnqueue
    bool may = false;
    if (left && (i32)GLOBAL_LOAD(&queue->count) < (i32)width) {
      may = (i32)RELAXED(add, &queue->count, 1u) < (i32)width;
      if (!may) RELAXED(sub, &queue->count, 1u);
    }
    if (may) {
      const u64 at = RELAXED(add, &queue->tail, 1ull);
      const u32 slot = (u32)(at % width), turn = (u32)(at / width);
      await_ticket(&tickets[slot], 2 * turn);
      put(data, width, slot, element_of(at));
      set_ticket(&tickets[slot], 2 * turn + 1);
      left--;
    }
    // ensureDequeue
    may = false;
    if ((i32)GLOBAL_LOAD(&queue->count) > 0) {
      may = (i32)RELAXED(sub, &queue->count, 1u) > 0;
      if (!may) RELAXED(add, &queue->count, 1u);
    }
    if (may) {
      const u64 at = RELAXED(add, &queue->head, 1ull);
      const u32 slot = (u32)(at % width), turn = (u32)(at / width);
      await_ticket(&tickets[slot], 2 * turn + 1);
      mine.take(get(data, width, slot));
      set_ticket(&tickets[slot], 2 * turn + 2);
    } else {
      over = left == 0 && GLOBAL_LOAD(&queue->head) == all;
    }
  }
  mine.tell(came);
}

// Empty polls, by a lane of each block: so many looks at a ring that stays empty, one after the other.
extern "C" __global__ void __launch_bounds__(BLOCK) polls(Ring ring, Element*, u64 all, Came* came) {
  if (thread_id() != 0) return;
  u64 looks = 0;
  while (looks < all && ring_ready(ring) == 0) looks++;
  combine_add(&came->consumed, looks);
}
