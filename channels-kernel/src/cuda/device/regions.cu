// Parallel regions: loops whose rounds a crew shares out: all blocks but the first, some of them, or a warp. The crew's first lane runs what is around them,
// and writes down which loop it has come to, with what the rounds know; the others wait for that, and it waits until all have done their part. Of all
// blocks the first lane is one by itself, of block 0, the *master*; of some blocks and of a warp it has its own part of the rounds. Block 0 is the master's own crew, for few
// rounds that are over before other blocks hear of them. A README says why nothing is lost.

// What is handed out when there is nothing more to hand out.
#define REGIONS_OVER 0xffffffffu

// Who takes single rounds of a region; and what a crew is told of both.
enum By : u32 { BY_LANES, BY_WARPS, BY_BLOCKS };
FN constexpr u32 told(u32 region, By by) { return 4 * region + by; }

// What is handed to some blocks or to a warp; and where these blocks meet.
struct Handed {
  u32 which, failed, met, meetings;
  u64 args[32], gathered[16];
};
static __device__ Handed handed_to_blocks[REGION_BLOCKS], handed_to_warps[REGION_BLOCKS * WARPS];

// A text that is there once for all who call it so. What a lane counts meanwhile is a copy that stays in registers.
template <auto TEXT, class... Args>
static __device__ __noinline__ void called(Thread& caller, Args... args) {
  Thread w = caller;
  TEXT(w, args...);
  caller = w;
}

// The part of a crew that this thread belongs to: a switch over the regions that it may be handed, behind their texts. All threads of the crew call it.
static __device__ __noinline__ void run_rounds_of_device(u32 which);
static __device__ __noinline__ void run_rounds_of_master(u32 which);
static __device__ __noinline__ void run_rounds_of_blocks(u32 which);
static __device__ __noinline__ void run_rounds_of_warp(u32 which);

// How many blocks serve the master, and the number of this one.
FN u32 serving() { return gridDim.x - 1; }
FN u32 own_block() { return blockIdx.x - 1; }
// Whether it belongs to a crew of blocks, or its warps are crews.
FN bool takes_part() { return own_block() < shared().crew * shared().crews; }

// Joins what the lanes of a warp have.
template <class R>
FN typename R::Value joined_in_warp(typename R::Value value) {
  for (u32 o = WARP / 2; o; o >>= 1) value = R::join(value, from_bits<typename R::Value>(shuffle_xor_wide(bits_of(value), o)));
  return value;
}

// The others come to such a place from elsewhere in the code than the first lane.
static __device__ __noinline__ void meet_warp() { __syncwarp(); }
// The hardware's barrier counts whole warps, and so cannot be waited at by one lane of a warp before the others.
static __device__ __noinline__ void meet_block() {
  Shared& sh = shared();
  __syncwarp();
  if (lane_id() == 0) {
    // Relaxed: it changes only when this lane has come, too.
    const u32 meeting = __nv_atomic_load_n(&sh.meetings, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    // Acquire and release: pairs with the other warps' additions.
    if (__nv_atomic_fetch_add(&sh.met, 1u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK) == WARPS - 1) {
      // Relaxed: nobody comes again before the next line.
      __nv_atomic_store_n(&sh.met, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
      // Release: pairs with the load below. What the other warps wrote before came by the additions, of which each acquires the one before.
      __nv_atomic_store_n(&sh.meetings, meeting + 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    } else {
      // Who has waited for long gets out of the way of who works: of block 0 that is the master.
      for (u32 spins = 0; __nv_atomic_load_n(&sh.meetings, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == meeting; spins++) pause(spins < 64 ? 20 : 100);
    }
  }
  __syncwarp();
}

static __device__ bool meet_blocks();

struct OfLane {};

struct OfWarp {
  FN_IN static u64 lanes() { return WARP; }
  FN_IN static bool is_there() { return true; }
  FN_IN static bool leads() { return lane_id() == 0; }
  FN_IN static u32 number() { return own_block() * WARPS + warp_id(); }
  FN_IN static Handed& handed() { return handed_to_warps[number()]; }
  FN_IN static bool meet() { return meet_warp(), true; }
  FN_IN static bool has_left() { return false; }
  FN_IN static void run(u32 which) { run_rounds_of_warp(which); }
  template <class R>
  FN_IN static void join(u64* to, typename R::Value value) {
    value = joined_in_warp<R>(value);
    if (leads()) *to = bits_of(R::join(from_bits<typename R::Value>(*to), value));
  }
  FN_IN static void end(Handed& handed, bool failed) {
    if (any_lane(failed) && leads()) handed.failed = 1;
  }
};

// Neighbouring blocks, as many as there are for each of few rounds.
struct OfBlocks {
  FN_IN static u32 size() { return shared().crew; }
  FN_IN static u32 own() { return own_block() % size(); }
  FN_IN static u32 number() { return own_block() / size(); }
  FN_IN static u64 lanes() { return (u64)size() * BLOCK; }
  FN_IN static bool is_there() { return true; }
  FN_IN static bool leads() { return thread_id() == 0 && own() == 0; }
  FN_IN static Handed& handed() { return handed_to_blocks[number()]; }
  FN_IN static bool meet() { return meet_blocks(); }
  // Whether this block has given a meeting up, and with it the region.
  FN_IN static bool has_left() { return !shared().all_met; }
  FN_IN static void run(u32 which) { run_rounds_of_blocks(which); }
  // The first thread of a block does `give` with what all of it have.
  template <class R, class Give>
  FN_IN static void join_and(typename R::Value value, Give give) {
    Shared& sh = shared();
    value = joined_in_warp<R>(value);
    if (lane_id() == 0) sh.value[warp_id()] = bits_of(value);
    meet_block();
    if (thread_id() == 0) {
      for (u32 w = 1; w < WARPS; w++) value = R::join(value, from_bits<typename R::Value>(sh.value[w]));
      give(value);
    }
    meet_block();
  }
  template <class R>
  FN_IN static void join(u64* to, typename R::Value value) {
    join_and<R>(value, [&](typename R::Value all) {
      if (size() == 1) {
        *to = bits_of(R::join(from_bits<typename R::Value>(*to), all));
      } else {
        R::template give<DeviceMemory>((ptr)to, all);
      }
    });
  }
  // Relaxed: read behind the blocks' meeting.
  FN_IN static void end(Handed& handed, bool failed) {
    if (failed) __nv_atomic_store_n(&handed.failed, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
};
// False if the run is over: then a block may be missing that saw so before it was told of the region. All of a block get the same answer.
static __device__ __noinline__ bool meet_blocks() {
  meet_block();
  if (OfBlocks::size() == 1) return true;
  Shared& sh = shared();
  if (thread_id() == 0) {
    Control* const control = DeviceMemory::control();
    Handed& handed = OfBlocks::handed();
    // Relaxed: it changes only when this block has come, too.
    const u32 meeting = __nv_atomic_load_n(&handed.meetings, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    sh.all_met = 1;
    // Acquire and release: pairs with the other blocks' additions; what their other threads wrote came by the meeting above.
    if (__nv_atomic_fetch_add(&handed.met, 1u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE) == OfBlocks::size() - 1) {
      // Relaxed: nobody comes again before the next line.
      __nv_atomic_store_n(&handed.met, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      // Release: pairs with the load below.
      __nv_atomic_store_n(&handed.meetings, meeting + 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else {
      while (sh.all_met && __nv_atomic_load_n(&handed.meetings, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == meeting) {
        pause(20);
        if (stopped(control)) sh.all_met = 0;
      }
    }
  }
  meet_block();
  return sh.all_met;
}

struct OfDevice {
  FN_IN static u64 lanes() { return (u64)serving() * BLOCK; }
  FN_IN static bool is_there() { return gridDim.x > 1; }
  FN_IN static Regions& handed() { return *DeviceMemory::control()->regions; }
  template <class R>
  FN_IN static void join(u64* to, typename R::Value value) {
    OfBlocks::join_and<R>(value, [&](typename R::Value all) { R::template give<DeviceMemory>((ptr)to, all); });
  }
  // The master looks at the run's status.
  FN_IN static void end(Regions&, bool) {}
};

// The master's own block, block 0. What it runs is a text of its own, though it does the same: one text for all blocks that the master calls, too, from wherever it
// is, would take all of them more registers.
struct OfMaster {
  FN_IN static Regions& handed() { return OfDevice::handed(); }
  FN_IN static bool meet() { return meet_block(), true; }
  FN_IN static void run(u32 which) { run_rounds_of_master(which); }
  template <class R>
  FN_IN static void join(u64* to, typename R::Value value) {
    OfBlocks::join_and<R>(value, [&](typename R::Value all) { *to = bits_of(R::join(from_bits<typename R::Value>(*to), all)); });
  }
  FN_IN static void end(Regions&, bool) {}
};

// Which part of a crew this is, and of how many: of what takes single rounds; where lanes do, of the warps.
template <class C, class P>
struct Part;
template <>
struct Part<OfDevice, OfLane> {
  FN_IN static u32 own() { return warp_id() * serving() + own_block(); }
  FN_IN static u32 all() { return serving() * WARPS; }
};
template <>
struct Part<OfMaster, OfLane> {
  FN_IN static u32 own() { return warp_id(); }
  FN_IN static u32 all() { return WARPS; }
};
template <>
struct Part<OfDevice, OfWarp> {
  FN_IN static u32 own() { return warp_id() * shared().crews + own_block(); }
  FN_IN static u32 all() { return shared().crews * WARPS; }
};
template <>
struct Part<OfDevice, OfBlocks> {
  FN_IN static u32 own() { return OfBlocks::number(); }
  FN_IN static u32 all() { return shared().crews; }
};
template <>
struct Part<OfBlocks, OfLane> {
  FN_IN static u32 own() { return warp_id() * OfBlocks::size() + OfBlocks::own(); }
  FN_IN static u32 all() { return OfBlocks::size() * WARPS; }
};
template <>
struct Part<OfBlocks, OfWarp> : Part<OfBlocks, OfLane> {};
template <>
struct Part<OfWarp, OfLane> {
  FN_IN static u32 own() { return 0; }
  FN_IN static u32 all() { return 1; }
};

// Which of so many rounds a part has, and how far they are apart. A part beyond all of them is none of the team's.
template <class P>
FN void share(P, u64 rounds, u32 part, u32 parts, u64& first, u64& step) { first = part < parts ? part : rounds, step = parts; }
// `lanes` neighbouring ones go to a warp, and few are spread over all of them.
FN void share(OfLane, u64 rounds, u32 warp, u32 warps, u64& first, u64& step) {
  const u64 each = (rounds + warps - 1) / warps, lanes = each < WARP ? each : WARP;
  first = lane_id() < lanes && warp < warps ? warp * lanes + lane_id() : rounds;
  step = warps * lanes;
}

// Hands a region out to some blocks or a warp, has its own part, and waits until all have done theirs. The first lane calls it.
template <class C>
FN void hand_to(Thread& w, Handed& handed, u32 which) {
  handed.which = which;
  handed.failed = 0;
  if (!C::meet()) {
    w.failed = true;
    return;
  }
  C::run(which);
  if (!C::meet() || handed.failed) w.failed = true;
}

// Serves the first lane until there is nothing more to serve. All other threads of the crew call it.
template <class C>
FN void serve() {
  const auto& handed = C::handed();
  while (C::meet()) {
    const u32 which = handed.which;
    if (which == REGIONS_OVER) return;
    C::run(which);
    if (!C::meet()) return;
  }
}

// Lets them go, unless they have left when the run was over, at a meeting that the first lane gave up as they did.
template <class C>
FN void dismiss() {
  if (C::has_left()) return;
  C::handed().which = REGIONS_OVER;
  C::meet();
}

// Hands a region out to all blocks, and waits until they have served it. The master calls it.
template <class C>
FN void hand_to(Thread& w, Regions& handed, u32 which) {
  Control* const c = w.control;
  handed.which = which;
  // Relaxed: the others add to it behind the next `turn`.
  __nv_atomic_store_n(&handed.arrived, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  const u32 turn = GLOBAL_LOAD(&handed.turn);
  __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  // Release: pairs with the fence in the other blocks' `await`.
  __nv_atomic_store_n(&handed.turn, turn + 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  // Each region has its own time. Relaxed: pairs with the load in `await`. A fence behind it would wait for it.
  __nv_atomic_fetch_add(&c->regions_begun, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  // The other blocks add to it, with a release that pairs with the fence in `await`.
  if (!await(c, &handed.arrived, serving())) w.failed = true;
}

// The same, to the master's own block.
FN void hand_to_own(Control* c, Regions& handed, u32 which) {
  handed.which = which;
  OfMaster::meet();
  // As above.
  __nv_atomic_fetch_add(&c->regions_begun, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  OfMaster::run(which);
  OfMaster::meet();
}

// No more rounds than these are few: the lanes of a block.
#define FEW_ROUNDS 256u
// How many cycles a region of few rounds took the last time, by all blocks and by the master's own; 0 if that is not known.
struct Took {
  u32 by_all, by_own;
};
static __device__ Took regions_took[REGIONS];
// It is tried by the master's own block, too, if it took all no longer: twice what it takes that they hear of it.
#define LITTLE 30000u

// Whether the master's own block runs a region: as it is told, or whoever was the faster for few rounds.
enum Keeps : u32 { NEVER, IF_FASTER, ALWAYS };

// Hands a region out; the master to all blocks or to its own.
template <class C, Keeps OWN>
FN void hand_out(Thread& w, Handed& handed, u32 region, By by, u64) {
  hand_to<C>(w, handed, told(region, by));
}
template <class C, Keeps OWN>
FN void hand_out(Thread& w, Regions& handed, u32 region, By by, u64 rounds) {
  Took& took = regions_took[region];
  const bool few = OWN == IF_FASTER && rounds <= FEW_ROUNDS;
  const bool by_own = OWN == ALWAYS || (few && took.by_all && (took.by_own ? took.by_own < took.by_all : took.by_all < LITTLE));
  const u64 begun = cycles();
  if (by_own) {
    hand_to_own(w.control, handed, told(region, by));
  } else {
    hand_to<C>(w, handed, told(region, by));
  }
  if (few) {
    const u32 cycles_taken = (u32)max_of(min_of(cycles() - begun, 0xffffffffull), 1ull);
    (by_own ? took.by_own : took.by_all) = cycles_taken;
  }
  if (stopped(w.control)) w.failed = true;
  w.since = 0;
}

// Of so many blocks at most the master makes crews: a crew for each round of so few that it has several blocks, or else of each block one. Its warps are
// crews where single rounds are theirs. Blocks that meet take longer than a block's warps do: three would be too few.
FN void divide(Handed&, By, u32, u64) {}
FN void divide(Regions& handed, By by, u32 most, u64 rounds) {
  const u32 blocks = min_of(serving(), min_of(most, REGION_BLOCKS));
  handed.crew = by == BY_BLOCKS && rounds <= blocks / 4 ? blocks / (u32)rounds : 1;
  handed.crews = blocks / handed.crew;
}

// A region with these arguments, that gathers from these values on, and who takes single rounds.
template <class C, Keeps OWN, u32 ARGS, u32 GATHERS>
FN void share_out(Thread& w, u32 region, By by, u32 most, u64 rounds, const u64 (&args)[ARGS], const u64 (&none)[GATHERS]) {
  auto& handed = C::handed();
  divide(handed, by, most, rounds);
#pragma unroll
  for (u32 i = 0; i < ARGS; i++) handed.args[i] = args[i];
#pragma unroll
  for (u32 g = 0; g < GATHERS; g++) handed.gathered[g] = none[g];
  hand_out<C, OWN>(w, handed, region, by, rounds);
}

// Runs the elements of a segment that is a master's, one after the other: block 0 has the master, the others serve.
template <class S>
FN void run_master(u32 block) {
  Shared& sh = shared();
  Control* const control = DeviceMemory::control();
  Regions& r = *control->regions;
  Gathered<typename S::Sum> sum;
  LeafCounts<S> leaves;
  if (block == 0) {
    // A run that was stopped may have left blocks that waited for others. Before the first `turn`.
    for (u32 i = thread_id(); i < min_of(serving(), REGION_BLOCKS); i += BLOCK) handed_to_blocks[i].met = 0;
    if (thread_id() == 0) sh.met = sh.meetings = 0;
    __syncthreads();
    if (thread_id() == 0) {
      bool failed = false;
      for (u32 i = 0; i < sh.dispatch.count && !failed; i++) {
        Direct<S> worker(sum, leaves);
        worker.control = control;
        worker.dispatch = &sh.dispatch;
        worker.counter = control->counter;
        S::run(worker, S::template deq<DeviceMemory, true>(sh.dispatch.first + i));
        failed = worker.failed;
      }
      Thread w;
      w.control = control;
      if (serving() > 0) {
        hand_to<OfDevice>(w, r, REGIONS_OVER);
      } else {
        r.which = REGIONS_OVER;
      }
      OfMaster::meet();
      // All have seen the last one. Relaxed: the barrier that begins the next dispatch orders it.
      __nv_atomic_store_n(&r.turn, 0u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    } else {
      serve<OfMaster>();
    }
    __syncwarp();
    __syncthreads();
  } else {
    if (thread_id() == 0) sh.met = sh.meetings = 0, sh.all_met = 1;
    u32 which = 0;
    for (u32 turn = 1; which != REGIONS_OVER; turn++) {
      if (thread_id() == 0) {
        sh.go = await(control, &r.turn, turn) ? r.which : REGIONS_OVER;
        sh.crew = r.crew, sh.crews = r.crews;
      }
      __syncthreads();
      which = sh.go;
      if (which != REGIONS_OVER) run_rounds_of_device(which);
      __syncwarp();
      __syncthreads();
      // Release: pairs with the fence in the master's `await`.
      if (thread_id() == 0) {
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_fetch_add(&r.arrived, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
      }
    }
  }
  hand_over(sh, control, sum, leaves);
}
