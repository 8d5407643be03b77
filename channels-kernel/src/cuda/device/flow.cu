// A graph of kernels and ring channels, run by one cooperative kernel (`flow/README.md`). Each block looks for a wavefront by itself, runs it, and
// brings what it emitted, staged in shared memory meanwhile, into the channels: one reservation a wavefront.

// Fruitless looks after which a block takes what is less than a full wavefront,
#define PATIENCE 2u
// and after which it counts as idle.
#define IDLE_LOOKS 8u
// So many looks of one block at a graph in which all are idle: it stands still.
#define STILL_LOOKS 256u

#ifndef EMULATED
FN void sync_lanes(u32 lanes) { __syncwarp(lanes); }
#else
FN void sync_lanes(u32) {}
#endif
FN void fence_block() { __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK); }
FN u32 shared_add(u32* word, u32 by) { return __nv_atomic_fetch_add(word, by, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); }

// What a block does next.
enum Act : u32 { LEAVE, RUN_NODE, BRING_HELD };

// Shared memory of a block.
struct FlowShared {
  u32 staged[MOST_PORTS];   // places given out in the stage of each port
  u32 written[MOST_PORTS];  // those of them that are written, where the stage may become full
  u32 bringing[MOST_PORTS]; // somebody brings a full stage away
  u32 act, channel;
  u32 count;                // of a wavefront
  u64 at;
  u32 got;                  // of what is brought: how much found room,
  u64 data, place;          // and where
  u32 held[CHANNELS];       // what found no room, by channel
  u64 ran[NODES];           // elements
  u64 wavefronts;
};
COMMON(FlowShared, of_block, flow_shared)

FN u32 state_idle(u32 word) { return word & 0xffffu; }

// Counts this block, or this group of lanes for its block, as one that can do nothing. The upper half counts how often somebody could again.
FN void rests(bool& idle) {
  if (idle) return;
  idle = true;
  __nv_atomic_fetch_add(&device_flow.state->idle, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
FN void rises(bool& idle) {
  if (!idle) return;
  idle = false;
  __nv_atomic_fetch_add(&device_flow.state->idle, 0xffffu, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Says why the kernel ends; the first one wins.
FN void end_flow(u32 why) {
  u32 none = GOES_ON;
  __nv_atomic_compare_exchange_n(&device_flow.state->stop, &none, why, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
FN bool flow_over() { return GLOBAL_LOAD(&device_flow.state->stop) != GOES_ON || stopped(device_flow.control); }

// Children are counted before their parents are taken off, both by one addition. The order of this and of what is published later is `ring_enq`'s.
FN void count_alive(u32 born, u32 ended) {
  const u64 more = (u64)born - (u64)ended;
  if (more) __nv_atomic_fetch_add(&device_flow.state->alive, more, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// A lane that runs a kernel's body. `S` is the node.
template <class S>
struct Flowing : Thread {
  FlowShared& sh;
  __device__ __forceinline__ Flowing(FlowShared& of) : sh(of) { control = device_flow.control; }

  // A check of the body failed. As `stop_run`, and who wins also says which element it was.
  __device__ __forceinline__ void fault(u32 site, u64 a, u64 b, const typename S::Args& element) {
    u32 none = OK;
    if (__nv_atomic_compare_exchange_n(&control->status, &none, (u32)FAULT, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                       __NV_THREAD_SCOPE_DEVICE)) {
      control->site = site;
      control->values[0] = a;
      control->values[1] = b;
      device_flow.state->teller = S::NODE + 1;
      S::tell(device_flow.state->told, element);
    }
    failed = true;
  }
  // A place in the stage of a port.
  template <u32 P>
  __device__ __forceinline__ u32 talloc() {
    if constexpr (S::COUNTED) {
      return count_up(near_of(&sh.staged[P]));
    } else {
      while (true) {
        const u32 e = count_up(near_of(&sh.staged[P]));
        // Acquire: pairs with the last fence but one of `bring_full`. Who brought the stage away has read what stood there.
        fence_block();
        if (e < S::capacity(P)) return e;
        if (!bring_full<P>()) {
          failed = true;
          return 0;
        }
      }
    }
  }
  // What is staged there is written.
  template <u32 P>
  __device__ __forceinline__ void enq() {
    if constexpr (!S::COUNTED) {
      fence_block();
      shared_add(&sh.written[P], 1);
    }
  }
  // Brings a full stage into its channel, or lets somebody else do it. False when the run is over.
  template <u32 P>
  static __device__ __noinline__ bool bring_full();
};

// What is rare, or done once for a wavefront and a port, is there once for each port of each node. Of many ports that is most of what a graph takes to
// compile (four nodes of four ports each: 12 s): then it is called. Otherwise it is in line: called, a search took 1.16 times as long, a path
// tracer of 12 ports 1.2, however rare the calls are.
#if ALL_PORTS > 12
#define PER_PORT [[maybe_unused]] static __device__ __noinline__
#else
#define PER_PORT FN
#endif

// Moves a channel's `head`: by a warp, and by one lane.
PER_PORT void reclaim(u32 channel) { ring_reclaim<false>(device_flow.rings[channel]); }
PER_PORT void reclaim_alone(u32 channel) { ring_reclaim<true>(device_flow.rings[channel]); }

// Makes room in a channel by dropping its oldest elements. One lane calls it.
PER_PORT void drop_oldest(u32 channel, u32 most) {
  const Ring& r = device_flow.rings[channel];
  u64 at = 0;
  const u32 got = ring_deq(r, most, at);
  const Round places = ring_control(r, at);
  for (u32 i = 0; i < got; i++) {
    const u32 slot = ring_await(r, places, i);
    // Release: the entry is read before its place is written again.
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    ring_mark(r, slot, 1);
  }
  if (got == 0) return;
  if (lives_on(channel)) count_alive(0, got);
  __nv_atomic_fetch_add(&device_flow.state->dropped[channel], (u64)got, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  reclaim_alone(channel);
}

// Waits for room in the middle of a body. One lane does, of those that bring a full stage away, and holds nothing that others want: the wavefront
// that is being run was given back to its channel before. 0 when the run is over.
PER_PORT u32 wait_for_room(u32 channel, u32 most, u64& data, u64& place) {
  const Ring& r = device_flow.rings[channel];
  bool idle = false;
  u64 since = 0;
  u32 last = 0, got = 0;
  for (u32 looks = 1; got == 0; looks++) {
    if (ring_room(r) == 0) reclaim_alone(channel);
    if (ring_room(r)) {
      if (idle) __nv_atomic_fetch_sub(&device_flow.state->waiting, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      rises(idle);
      got = ring_talloc(r, most, data, place);
      if (got) break;
    }
    // Who waits is not at work for too long as long as others find something to do.
    const u32 now = GLOBAL_LOAD(&device_flow.state->idle);
    if (now != last) since = 0;
    last = now;
    if (flow_over() || (looks % 64 == 0 && should_stop(device_flow.control, since))) break;
    if (looks >= IDLE_LOOKS && !idle) {
      __nv_atomic_fetch_add(&device_flow.state->waiting, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      rests(idle);
    }
    pause(200);
  }
  return got;
}

// Room for elements of a full stage: in their channel, or else with the block, from `kept` - 1 on, as long as that has place for them; or waits for it.
// One lane calls it. How much is in the channel; if that is 0 and nothing is kept, the run is over.
PER_PORT u32 find_room(FlowShared& sh, u32 channel, u32 most, u32 full, u64& data, u64& place, u32& kept) {
  const Ring& r = device_flow.rings[channel];
  u32 got = 0;
  if (ring_room(r) == 0) reclaim_alone(channel);
  if (drops(channel) && ring_room(r) < most) drop_oldest(channel, most - ring_room(r));
  if (ring_room(r)) got = ring_talloc(r, most, data, place);
  if (got == 0 && sh.held[channel] + full + most <= r.keeps) {
    kept = sh.held[channel] + 1;
    sh.held[channel] += most;
    if (lives_on(channel)) count_alive(most, 0);
    return 0;
  }
  if (got == 0) got = wait_for_room(channel, most, data, place);
  if (got && lives_on(channel)) count_alive(got, 0);
  return got;
}

FN u64 shuffle_wide_of(u32 lanes, u64 x, u32 from) {
  return (u64)shuffle(lanes, (u32)(x >> 32), from) << 32 | shuffle(lanes, (u32)x, from);
}

template <class S>
template <u32 P>
__device__ __noinline__ bool Flowing<S>::bring_full() {
  FlowShared& sh = flow_shared();
  const u32 lanes = active_lanes(), leader = (u32)__ffs((i32)lanes) - 1, full = S::capacity(P);
  const bool leads = lane_id() == leader;
  u32 mine = 0;
  if (leads) mine = __nv_atomic_exchange_n(&sh.bringing[P], 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0;
  if (!shuffle(lanes, mine, leader)) {
    pause(100);
    return !flow_over();
  }
  fence_block();
  u32 done = 0;
  // Another may have brought it away before.
  if (GLOBAL_LOAD(&sh.staged[P]) >= full) {
    // Who has a place writes it, and waits for nobody meanwhile.
    while (GLOBAL_LOAD(&sh.written[P]) < full && !flow_over()) pause(50);
    fence_block();
    const Ring& r = device_flow.rings[S::channel(P)];
    while (done < full) {
      u64 data = 0, place = 0;
      u32 got = 0, kept = 0;
      if (leads) got = find_room(sh, S::channel(P), full - done, full, data, place, kept);
      sync_lanes(lanes);
      got = shuffle(lanes, got, leader);
      kept = shuffle(lanes, kept, leader);
      if (kept) {
        for (u32 i = (u32)__popc(lanes & ((1u << lane_id()) - 1)); i < full - done; i += (u32)__popc(lanes))
          S::template keep<P>(blockIdx.x * r.keeps + kept - 1 + i, done + i);
        done = full;
        break;
      }
      if (got == 0) break;
      const Round slots = ring_slots(r, shuffle_wide_of(lanes, data, leader));
      const Round places = ring_control(r, shuffle_wide_of(lanes, place, leader));
      const u32 number = (u32)__popc(lanes & ((1u << lane_id()) - 1)), all = (u32)__popc(lanes);
      for (u32 i = number; i < got; i += all) S::template put<P>(slots.at(i), done + i);
      ring_enq(r, slots, places, got, number, all);
      sync_lanes(lanes);
      done += got;
    }
    sync_lanes(lanes);
    if (leads) {
      // First nothing is written, then there is room.
      __nv_atomic_store_n(&sh.written[P], 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      fence_block();
      __nv_atomic_store_n(&sh.staged[P], 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
  } else {
    done = full;
  }
  fence_block();
  if (leads) __nv_atomic_store_n(&sh.bringing[P], 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  return done == full;
}

// Room for some elements of a block, in both arrays. The first warp calls it.
PER_PORT void allocate(FlowShared& sh, u32 channel, u32 most) {
  const Ring& r = device_flow.rings[channel];
  u32 got = 0;
  if (lane_id() == 0) got = ring_talloc(r, most, sh.data, sh.place);
  // All lanes have to see the same.
  if (__shfl_sync(ALL_LANES, got, 0, WARP) == 0) {
    reclaim(channel);
    if (lane_id() == 0) {
      if (drops(channel) && ring_room(r) < most) drop_oldest(channel, most - ring_room(r));
      if (ring_room(r)) got = ring_talloc(r, most, sh.data, sh.place);
    }
  }
  if (lane_id() == 0) sh.got = got;
}

// Brings what is staged for a port into its channel. What finds no room is kept. All threads call it.
template <class S, u32 P>
FN void bring_staged(FlowShared& sh) {
  const u32 count = min_of(sh.staged[P], S::capacity(P)), channel = S::channel(P);
  const Ring& r = device_flow.rings[channel];
  u32 done = 0;
  while (done < count) {
    if (warp_id() == 0) allocate(sh, channel, count - done);
    __syncthreads();
    const u32 got = sh.got;
    if (got == 0) break;
    const Round slots = ring_slots(r, sh.data), places = ring_control(r, sh.place);
    for (u32 i = thread_id(); i < got; i += BLOCK) S::template put<P>(slots.at(i), done + i);
    ring_enq(r, slots, places, got, thread_id(), BLOCK);
    __syncthreads();
    done += got;
  }
  if (done == count) return;
  for (u32 i = thread_id(); i < count - done; i += BLOCK) S::template keep<P>(blockIdx.x * r.keeps + sh.held[channel] + i, done + i);
  // Everybody has seen that there was no room, before it is asked for by another port.
  __syncthreads();
  if (thread_id() == 0) sh.held[channel] += count - done;
}

template <class S, u32 P>
struct Ports {
  FN_IN static void bring(FlowShared& sh) {
    Ports<S, P - 1>::bring(sh);
    bring_staged<S, P - 1>(sh);
  }
  FN_IN static u32 born(const FlowShared& sh) {
    return Ports<S, P - 1>::born(sh) + (S::lives(P - 1) ? min_of(sh.staged[P - 1], S::capacity(P - 1)) : 0);
  }
};
template <class S>
struct Ports<S, 0> {
  FN_IN static void bring(FlowShared&) {}
  FN_IN static u32 born(const FlowShared&) { return 0; }
};

#ifdef RECORDS
// Writes down a wavefront that is done. One thread of the block calls it.
static __device__ __noinline__ void wave_ends(u32 node, u32 count, u64 begun) {
  FlowState* const state = device_flow.state;
  // Relaxed: the host reads them when the kernel has ended.
  const u32 at = __nv_atomic_fetch_add(&state->waves_kept, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (at < state->waves_room) state->waves[at] = Wave{begun, now_ns(), node, count, blockIdx.x, 0};
}
#endif

// Runs a wavefront of a node's elements. All threads call it. Where a body may wait for room, its warp's elements are free before it begins: whoever
// waits holds nothing.
template <class S>
static __device__ __noinline__ void run_flow() {
  FlowShared& sh = flow_shared();
  const Ring& r = device_flow.rings[S::CONSUMES];
  const u32 count = sh.count;
#ifdef RECORDS
  const u64 begun = now_ns();
#endif
  const Round places = ring_control(r, sh.at);
  Flowing<S> worker(sh);
  constexpr u32 N = S::COUNTED ? S::ITEMS : 1;
  u32 slot[N];
#pragma unroll
  for (u32 j = 0; j < N; j++) slot[j] = j * BLOCK + thread_id() < count ? ring_await(r, places, j * BLOCK + thread_id()) : 0;
  ring_seen();
  if constexpr (S::COUNTED) {
#pragma unroll 1
    for (u32 j = 0; j < N; j++) {
      if (j * BLOCK + thread_id() < count && !worker.failed) S::run(worker, S::deq(slot[0]));
      // The next one comes to the front: registers have no numbers.
#pragma unroll
      for (u32 k = 0; k + 1 < N; k++) {
        const u32 first = slot[k];
        slot[k] = slot[k + 1];
        slot[k + 1] = first;
      }
    }
    ring_read();
#pragma unroll
    for (u32 j = 0; j < N; j++) ring_tfree(r, slot[j], j * BLOCK + thread_id() < count);
  } else {
    const bool mine = thread_id() < count;
    typename S::Args args = {};
    if (mine) args = S::deq(slot[0]);
    ring_read();
    ring_tfree(r, slot[0], mine);
    if (mine) S::run(worker, args);
  }
  __syncthreads();
  if (thread_id() == 0) {
    count_alive(Ports<S, S::PORTS>::born(sh), count);
    sh.ran[S::NODE] += count;
    sh.wavefronts++;
  }
  Ports<S, S::PORTS>::bring(sh);
#ifdef RECORDS
  if (thread_id() == 0) wave_ends(S::NODE, count, begun);
#endif
}
