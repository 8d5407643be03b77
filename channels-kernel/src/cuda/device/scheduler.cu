// Where a block finds its next wavefront, and how a graph ends.

// Brings what was kept of a channel into it, as much as finds room. All threads call it.
FN void bring_held(FlowShared& sh) {
  const u32 channel = sh.channel, held = sh.held[channel];
  const Ring& r = device_flow.rings[channel];
  if (warp_id() == 0) allocate(sh, channel, held);
  __syncthreads();
  const u32 got = sh.got;
  const Round slots = ring_slots(r, sh.data), places = ring_control(r, sh.place);
  for (u32 i = thread_id(); i < got; i += BLOCK) put_held(channel, slots.at(i), blockIdx.x * r.keeps + held - got + i);
  if (got) ring_enq(r, slots, places, got, thread_id(), BLOCK);
  __syncthreads();
  if (thread_id() == 0) sh.held[channel] = held - got;
}

// What one look of a block sees beside the channels; the same for all lanes.
struct Seen {
  bool over, done, quiet, pausing;
  u32 idle, waiting;
  u64 alive;
};

FN Seen see(FlowShared& sh, u32 looks, u64& since) {
  Control* const c = device_flow.control;
  FlowState* const state = device_flow.state;
  u32 bits = 0, idle = 0, waiting = 0;
  u64 alive = 0;
  if (lane_id() == 0) {
    const u32 stop = GLOBAL_LOAD(&state->stop), status = GLOBAL_LOAD(&c->status);
    u32 pausing = GLOBAL_LOAD(&state->pausing);
    idle = GLOBAL_LOAD(&state->idle);
    waiting = GLOBAL_LOAD(&state->waiting);
    alive = GLOBAL_LOAD(&state->alive);
    // What the host asks lies far away; one block looks for all.
    if ((looks == 1 ? sh.wavefronts : (u64)looks) % 64 == 0) {
      if (should_stop(c, since)) bits |= 1;
      if (!pausing && has_turn(&state->looked, now_ns()) && __nv_atomic_load_n(state->asked, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)) {
        pausing = 1;
        __nv_atomic_store_n(&state->pausing, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      }
    }
    bits |= ((stop != GOES_ON && stop != ALL_DONE) || status != OK) | pausing << 1 | (stop == ALL_DONE) << 2;
  }
  bits = __shfl_sync(ALL_LANES, bits, 0, WARP);
  idle = __shfl_sync(ALL_LANES, idle, 0, WARP);
  waiting = __shfl_sync(ALL_LANES, waiting, 0, WARP);
  return {(bits & 1) != 0, (bits & 4) != 0, state_idle(idle) == gridDim.x, (bits & 2) != 0 && waiting == 0, idle, waiting, shuffle_wide(alive, 0)};
}

// Whether a channel's elements are worth a wavefront.
FN bool is_wanted(u32 channel, u32 ready, u32 width, bool patient, bool more) {
  const ChannelInfo& info = channels[channel];
  switch (info.wanted) {
    case WANTS_FULL: return ready >= min_of(width, BLOCK) || !patient;
    case WANTS_LEAST: return ready >= min_of(width, info.least) || !more;
    case WANTS_OWN: return own_predicate(channel, ready, width, more);
    default: return true;
  }
}

// Looks for something to do until there is some, or the graph is over. The first warp calls it.
static __device__ __noinline__ void look(FlowShared& sh, u32 how) {
  constexpr u32 EACH = (CHANNELS + WARP - 1) / WARP;
  bool idle = false;
  u64 since = 0;
  u32 still = 0, last = 0;
  for (u32 looks = 1;; looks++) {
    const Seen seen = see(sh, looks, since);
    if (seen.idle != last) since = 0;
    u32 ready[EACH];
    u64 waits = 0, crowded = 0, holds = 0;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      const u32 c = k * WARP + lane_id();
      ready[k] = c < CHANNELS ? ring_ready(device_flow.rings[c]) : 0;
      waits |= (u64)__ballot_sync(ALL_LANES, ready[k] != 0) << k * WARP;
      crowded |= (u64)__ballot_sync(ALL_LANES, c < CHANNELS && ready[k] > device_flow.rings[c].width / 4 * 3) << k * WARP;
      holds |= (u64)__ballot_sync(ALL_LANES, c < CHANNELS && sh.held[c] != 0) << k * WARP;
    }
    u32 act = LEAVE, channel = 0, best = 0;
    if (seen.over || (seen.done && holds == 0)) {
      if (lane_id() == 0) sh.act = LEAVE;
      break;
    }
    // What is kept goes first: it keeps this block from what would add to it. Also when nothing is alive: what the host is to get is not counted, and
    // others may say that all is done before this block has looked once. A kernel that left it would be one that brought nothing on.
    for (u64 rest = holds; rest && act == LEAVE; rest &= rest - 1) {
      channel = trailing_zeros(rest);
      const Ring& r = device_flow.rings[channel];
      if (__shfl_sync(ALL_LANES, ring_room(r), 0, WARP) == 0) reclaim(channel);
      if (__shfl_sync(ALL_LANES, ring_room(r), 0, WARP)) act = BRING_HELD;
    }
    if (act == LEAVE && seen.done) {
      if (lane_id() == 0) sh.act = LEAVE;
      break;
    }
    if (act == LEAVE && !seen.pausing) {
      const bool patient = looks <= PATIENCE, quiet = how == LAST || (idle && seen.quiet);
#pragma unroll
      for (u32 k = 0; k < EACH; k++) {
        const u32 c = k * WARP + lane_id();
        if (c >= CHANNELS || ready[k] == 0) continue;
        const ChannelInfo& info = channels[c];
        if (info.most == 0 || blockIdx.x < info.floor || (info.outputs & holds)) continue;
        if (patient && (info.outputs & crowded & ~(1ull << c))) continue;
        const bool more = !quiet || (info.upstream & waits);
        if (is_wanted(c, ready[k], device_flow.rings[c].width, patient, more)) best = max_of(best, info.rank << 16 | c + 1);
      }
      __syncwarp();
      for (u32 o = WARP / 2; o; o >>= 1) best = max_of(best, (u32)__shfl_xor_sync(ALL_LANES, best, o, WARP));
    }
    if (act == BRING_HELD || best) {
      if (lane_id() == 0) rises(idle);
      idle = false;
      if (best) {
        channel = (best & 0xffff) - 1;
        u32 got = 0;
        if (lane_id() == 0) {
          const Ring& r = device_flow.rings[channel];
          // Few elements are spread over the blocks: each takes its share of all that there are, wherever they wait. What the program's own predicate said
          // yes to is taken whole: it may say no to the rest.
          const u32 most = channels[channel].most, share = (u32)min_of(seen.alive / gridDim.x, (u64)most) / WARP * WARP + WARP;
          got = ring_deq(r, channels[channel].wanted == WANTS_OWN ? most : min_of(share, most), sh.at);
          sh.count = got;
        }
        if (__shfl_sync(ALL_LANES, got, 0, WARP)) act = RUN_NODE;
      }
      if (act != LEAVE) {
        for (u32 p = lane_id(); p < MOST_PORTS; p += WARP) sh.staged[p] = sh.written[p] = sh.bringing[p] = 0;
        if (lane_id() == 0) {
          sh.act = act;
          sh.channel = channel;
        }
        break;
      }
      last = 0;
      continue;
    }
    if (seen.alive == 0 && holds == 0 && lane_id() == 0) end_flow(ALL_DONE);
    if (how != PERSISTENT && looks > PATIENCE) {
      if (lane_id() == 0) sh.act = LEAVE;
      break;
    }
    if (how == PERSISTENT && looks >= IDLE_LOOKS) {
      if (lane_id() == 0) rests(idle);
      idle = true;
    }
    still = seen.quiet && seen.idle == last ? still + 1 : 0;
    last = seen.idle;
    if (lane_id() == 0 && seen.quiet && (bool)GLOBAL_LOAD(&device_flow.state->pausing) && seen.waiting == 0 && still > 2) end_flow(PAUSED);
    if (lane_id() == 0 && blockIdx.x == 0 && still >= STILL_LOOKS) end_flow(STANDS_STILL);
    // The more there are who look, the less often each does: somebody sees what comes as soon, and who works is not in their way.
    pause(min_of(20u + 10u * state_idle(seen.idle), 5000u));
  }
}

// The whole graph, until nothing is alive, it stands still, the host asks for a pause, or something is wrong; or until each block once finds nothing.
extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) run_graph(u32 how) {
  FlowShared& sh = flow_shared();
  FlowState* const state = device_flow.state;
  for (u32 c = thread_id(); c < CHANNELS; c += BLOCK) {
    const u32 held = state->held[blockIdx.x * CHANNELS + c];
    if (held) __nv_atomic_fetch_sub(&state->kept, (u64)held, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    sh.held[c] = held;
  }
  for (u32 n = thread_id(); n < NODES; n += BLOCK) sh.ran[n] = 0;
  if (thread_id() == 0) sh.wavefronts = 0;
  while (true) {
    __syncthreads();
    if (warp_id() == 0) look(sh, how);
    __syncthreads();
    if (sh.act == LEAVE) break;
    if (sh.act == BRING_HELD) {
      bring_held(sh);
    } else {
      run_node(sh.channel);
    }
  }
  for (u32 c = thread_id(); c < CHANNELS; c += BLOCK) {
    state->held[blockIdx.x * CHANNELS + c] = sh.held[c];
    if (sh.held[c]) __nv_atomic_fetch_add(&state->kept, (u64)sh.held[c], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  for (u32 n = thread_id(); n < NODES; n += BLOCK) {
    if (sh.ran[n]) __nv_atomic_fetch_add(&state->ran[n], sh.ran[n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  if (thread_id() == 0) __nv_atomic_fetch_add(&state->wavefronts, sh.wavefronts, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
