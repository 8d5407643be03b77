// Narrow runs: few elements in one warp, a lane each, while the block's other warps wait. Nobody else pushes meanwhile, so nothing is reserved by
// atomics and no barrier is met; and what the policy has to know of the current level lies in registers.

// What runs a segment's narrow runs: a part of the one function that decides, in whose registers everything lies. Of many segments that is more than the
// registers hold, and takes minutes to compile.
#if SOURCES > 24
#define NARROW static __device__ __noinline__
#else
#define NARROW FN
#endif

// What is the lane's of something that every stack has: that of the stacks `lane`, `lane + WARP`, ..
#define PER_LANE ((STACKS + WARP - 1) / WARP)
template <class T>
struct Each {
  T of[PER_LANE];
};

// A value of the lane's own, in a register: the compiler does not know that it could work it out again.
#ifdef EMULATED
FN u32 held(u32 x) { return x; }
FN u32 held_of_table(u32 x) { return x; }
#else
FN u32 held(u32 x) {
  asm volatile("mov.u32 %0, %0;" : "+r"(x));
  return x;
}
// The same where it would read a table again, at each use and 32 words of it. Behind a move ptxas sees the table; behind a shuffle it does not.
FN u32 held_of_table(u32 x) { return __shfl_sync(ALL_LANES, x, lane_id(), WARP); }
#endif

// Narrow runs of a level, in registers. What is not of each stack is the same in all lanes.
struct Narrow {
  u32 lane;
  u32 before;       // a bit for each lane before this one
  Each<u32> own;    // the lane's stacks; lanes without one do as the last stack's, for a condition costs more
  // The level, as in `Level`.
  u32 level;
  Place* place;     // where it lies
  Each<u32> lo, hi, floor;
  Each<f32> pushed;
  u64 elements;
  // All levels, as in `Policy`.
  Each<u32> top, young, peak, consumed;
  bool pending;     // whether children wait for their level to begin: `young` says how many
  bool others;      // whether a source waits that may join the run's
  u32 number, reached;
  u32 oldest;       // the first level that lies in shared memory
  // What is known of each stack.
  Each<bool> feeds;
  Each<u32> entry;             // 1 if it is an entry channel, else 0
  Each<u32> most;              // of an entry channel: what an element pushes at most, if that is known
  Each<u32> capacity, frames;  // as `stacks_frame` says: lanes that each read another word of a table wait for each other
  u32 room;         // so many more elements each stack holds, or more
  // The run, and what it pushed: how much to each stack, and from where on.
  u32 stack, first, count;
  Each<u32> base, added;
  u32 left;         // how many elements, the lowest ones, found no room
  bool data;        // data decides how much it pushed
  u32 children;     // to how many entry channels it pushed
  bool failed;
  // An entry channel that it pushed to, and the first and the number of these elements, or 0 if they are too many for a narrow run. If it pushed
  // to no other, they are the next run.
  u32 next, at, few;
#ifdef RECORDS
  u64 begun;        // when the run was chosen
#endif
};

// Whether the lane's stack is no other's.
FN bool is_real(u32 k, u32 lane) { return k * WARP + lane < STACKS; }

FN u32 of_stack(const Each<u32>& x, u32 stack) {
  u32 out = 0;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 y = __shfl_sync(ALL_LANES, x.of[k], stack % WARP, WARP);
    if (stack / WARP == k) out = y;
  }
  return out;
}

// A run of so few elements is narrow: whatever the policy's estimates say, it finds room.
FN bool is_narrow(u32 count, u32 most, u32 room) {
  // Of elements that push more than `MOST` no run is narrow, so that 32 bits are enough.
  constexpr u32 LIMIT = NARROW_ITEMS * WARP, MOST = 0xffffffffu / LIMIT / NARROW_ROOM;
  return count == 0 || ((count <= LIMIT) & (most <= MOST) & (count * (NARROW_ROOM * most) <= room));
}

// Whether a lane has one of the elements that are left. Those before the first one wrap around, to numbers that are too high.
FN bool is_mine(const Narrow& n, u32 left) { return left - WARP + n.lane < left; }

// Puts the level where it belongs. All lanes have met since they read from there.
FN void narrow_store(const Narrow& n) {
  const bool known = n.level < HERE.known;
  Place& to = *n.place;
  if (n.lane == 0 && known) to.elements = n.elements;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const u32 s = n.own.of[k];
    to.lo[s] = n.lo.of[k];
    to.hi[s] = n.hi.of[k];
    to.floor[s] = n.floor.of[k];
    if (known) to.pushed[s] = n.pushed.of[k];
  }
}

// Of so many children the stack's new ones are to lie behind. Where there is but one entry channel none wait while a run is chosen.
FN u32 narrow_young(const Narrow& n, u32 k) { return SEVERAL ? n.young.of[k] : 0; }

// Takes a run off its channel.
FN void narrow_begin(Narrow& n, u32 stack, u32 first, u32 count) {
  n.stack = stack;
  n.first = first;
  n.count = count;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    const bool mine = stack == n.own.of[k];
    if (mine) n.hi.of[k] = first;
    if (mine && !n.entry.of[k]) n.top.of[k] -= count;
    // What a narrow run needs is little beside the room that there is.
    const bool gap = mine & has_gap(n.lo.of[k] == first && narrow_young(n, k) == 0, n.floor.of[k], first, count * n.most.of[k]);
    const u32 top = gap ? n.floor.of[k] : n.top.of[k];
    n.base.of[k] = n.entry.of[k] && narrow_young(n, k) == 0 ? aligned(top) : top;
  }
  n.number++;
#ifdef RECORDS
  n.begun = now_ns();
#endif
#ifndef WORKERS
  // Relaxed: pairs with the load in `await`. All lanes write the same. Workers would all wait for one word: they say so now and then (`worker_goes_on`).
  __nv_atomic_store_n(&device_channels.control->beat, n.number, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#endif
}

// To which entry channels the run pushed.
FN Each<bool> narrow_pushed_to(const Narrow& n) {
  Each<bool> children;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) children.of[k] = n.entry.of[k] && n.added.of[k];
  return children;
}

// Takes down what a segment pushed: how many elements, and from which one on.
template <class S>
FN void narrow_pushed(Narrow& n, const u32* base, const u32* pushed) {
  u32 most = 0;
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) most = pushed[p] > most ? pushed[p] : most;
  n.room = n.room > most + NEIGHBOURS - 1 ? n.room - most - (NEIGHBOURS - 1) : 0;
  n.children = n.few = 0;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) n.added.of[k] = 0;
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) {
    const u32 stack = S::stack_of(p);
#pragma unroll
    for (u32 k = 0; k < PER_LANE; k++) {
      if (stack == n.own.of[k]) n.added.of[k] = pushed[p];
    }
    if (!is_entry(stack)) continue;
    n.children += pushed[p] != 0;
    if (pushed[p]) n.next = stack;
    if (pushed[p]) n.at = base[p];
    if (pushed[p]) n.few = most_of(stack) && narrow_of(stack) && is_narrow(pushed[p], most_of(stack), n.room) ? pushed[p] : 0;
  }
}

// Keeps record of the run. Nobody asked for its room: there is plenty.
FN void narrow_record([[maybe_unused]] const Narrow& n) {
#ifdef RECORDS
  const u32 source = stacks_source[n.stack] - 1;
  const Source from = sources[source];
  Record* const record = next_record(n.begun, 1, source, n.level, n.first, n.count, Left{n.first, n.left, 0});
  for (u32 i = 0; i < from.pushes; i++) {
    const u32 stack = pushes[from.first_push + i].stack;
    const u32 pushed = of_stack(n.added, stack), base = of_stack(n.base, stack);
    if (record && n.lane == 0) note(*record, i, pushed, base, 0);
  }
#endif
}

// Takes in what the run did. `children`: the entry channels that it pushed to.
FN void narrow_take(Narrow& n, const Each<bool>& children) {
  const u32 taken = n.count - n.left;
  narrow_record(n);
  if (is_entry(n.stack)) n.elements += taken;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    // To a stack of frames it may have pushed nothing: `base` is `top` there.
    if (!n.entry.of[k] || children.of[k]) n.top.of[k] = n.base.of[k] + n.added.of[k];
    n.young.of[k] = narrow_young(n, k) + (children.of[k] ? n.added.of[k] : 0);
    if (n.stack == n.own.of[k]) {
      // What found no room stands in its channel again.
      n.hi.of[k] += n.left;
      if (!n.entry.of[k]) n.top.of[k] += n.left;
      n.consumed.of[k] += taken;
    }
    n.pushed.of[k] += (f32)n.added.of[k];
    if (n.top.of[k] > n.peak.of[k]) n.peak.of[k] = n.top.of[k];
    if (!n.entry.of[k]) n.hi.of[k] = n.top.of[k];
    if (n.lo.of[k] == n.hi.of[k]) n.lo.of[k] = n.hi.of[k] = n.floor.of[k];
  }
}

// Down to the level below, which is the children.
FN void narrow_down(Policy& p, Narrow& n) {
  narrow_store(n);
  n.level++;
  Place& next = *(n.place = &policy_level(p, n.level));
  n.elements = next.elements;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) {
    n.floor.of[k] = n.hi.of[k];
    n.hi.of[k] = n.top.of[k] = n.young.of[k] ? n.top.of[k] : n.floor.of[k];
    n.lo.of[k] = n.top.of[k] - n.young.of[k];
    n.young.of[k] = 0;
    n.pushed.of[k] = next.pushed[n.own.of[k]];
  }
  n.pending = n.others = false;
}

// Whether the hardware adds to a result by itself. Then each lane hands in what it gives, for nobody waits for that.
template <class V>
FN constexpr bool adds_alone() {
  return sizeof(V) >= 4 && (V)0.5 == (V)0;
}

// Otherwise the lanes join what goes to one address.
FN void hand_over_warp(const Narrow&, Gathered<NoSum>&) {}
template <class R>
FN void hand_over_warp(const Narrow& n, Gathered<R>& sum) {
  typedef typename R::Value Value;
  const u32 some = __ballot_sync(ALL_LANES, sum.to != nullptr);
  if (some == 0) return;
  const u32 leader = (u32)__ffs((i32)some) - 1;
  const bool same = (u64)sum.to == shuffle_wide((u64)sum.to, leader);
  if (sum.to && !same) R::template give<DeviceMemory>(sum.to, sum.value);
  Value value = same ? sum.value : R::none();
  for (u32 o = WARP / 2; o; o >>= 1) value = R::join(value, from_bits<Value>(shuffle_xor_wide(bits_of(value), o)));
  if (n.lane == leader) R::template give<DeviceMemory>(sum.to, value);
}

// Runs an element of a narrow run whose pushes are numbered: `at` is the next element of each.
template <class S>
struct Numbered : Worker<DeviceMemory> {
  static constexpr bool RUN = true, FALLIBLE = false, STAGES = false, EACH = true, LONG = S::LONG;
  typename S::Later later;
  const u32 level;
  Gathered<typename S::Sum>& sum;
  u32 at[S::PUSHED + 1];
  u32 frame = 0;
  __device__ __forceinline__ Numbered(const Narrow& n, Gathered<typename S::Sum>& all) : level(n.level), sum(all) { control = HERE.control; }
  __device__ __forceinline__ u32 talloc(u32 push, u32 count = 1) { return (at[push] += count) - count; }
  template <class V>
  __device__ __forceinline__ void give(ptr to, V value) {
    if constexpr (adds_alone<V>()) {
      S::Sum::template give<DeviceMemory>(to, value);
    } else {
      sum.add(to, value);
    }
  }
  __device__ __forceinline__ void leaf(u32 push, bool ended) {
    if (!ended) return;
    // The host reads them after the run.
    combine_add(&control->leaves[S::stack_of(push)], (u64)1);
    count_ended(control, level + 1, 1);
  }
};

// Whether a segment pushes to just one entry channel: its own.
template <class S>
FN constexpr bool pushes_again(u32 own) {
  bool again = false;
  for (u32 p = 0; p < S::PUSHED; p++) {
    if (S::stack_of(p) != own && is_entry(S::stack_of(p))) return false;
    again |= S::stack_of(p) == own;
  }
  return again;
}

// A lane's element of those that are left: they go from the top of the run downwards. Lanes that have none get the first one, as a load
// under no condition is the quicker one. Says whether the lane has one.
template <class S>
FN bool narrow_dequeue(const Narrow& n, u32 first, u32 left, typename S::Args& args) {
  const bool mine = is_mine(n, left);
  args = S::template deq<DeviceMemory, true>(first + (mine ? left - WARP + n.lane : 0));
  return mine;
}

// Counts, then runs. `args` is the lane's first element, if one is `mine`.
template <class S, bool FAILS, u32 MOST>
FN void narrow_elements(Narrow& n, typename S::Args& args, bool mine, Gathered<typename S::Sum>& sum) {
  u32 base[S::PUSHED + 1], pushed[S::PUSHED + 1] = {}, units[S::GROUPS + 1] = {};
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) base[p] = of_stack(n.base, S::stack_of(p));
  bool failed = false;
  u32 left = n.count;
  while (true) {
    // All lanes count, those that have no element the first one's once more: else they would come apart, and where a loop of the body looks whether the run
    // is over they do not join behind it. A scan takes lanes that are apart ten times as long (H100: 2.7 us a level of one element for 1.7).
    Counting<S> counting;
    counting.control = HERE.control;
    S::run(counting, args);
    u32 unit[S::GROUPS + 1];
#pragma unroll
    for (u32 g = 0; g < S::GROUPS; g++) {
      const u32 own = mine ? counting.at[S::lead(g)] / S::ratio(S::lead(g)) : 0, most = S::binary(g) ? 1 : MOST;
      u32 before = 0, all = 0;
      if (most != 0 && most < 16) {
        // By the bits of these small numbers.
#pragma unroll
        for (u32 bit = 1; bit <= most; bit *= 2) {
          const u32 who = __ballot_sync(ALL_LANES, (own & bit) != 0);
          before += bit * (u32)__popc(who & n.before);
          all += bit * (u32)__popc(who);
        }
      } else {
        before = warp_scan(own);
        all = __shfl_sync(ALL_LANES, before, WARP - 1, WARP);
        before -= own;
      }
      unit[g] = units[g] + before;
      units[g] += all;
    }
    if (MOST == 0) {
      bool fits = true;
#pragma unroll
      for (u32 p = 0; p < S::PUSHED; p++) {
        const u32 end = n.count > 1 ? wide_of(S::stack_of(p)) : of_stack(n.capacity, S::stack_of(p));
        const u32 all = end > base[p] ? end - base[p] : 0;
        if (units[S::group(p)] * S::ratio(p) <= (n.count > 1 ? all - all / RESERVE : all)) continue;
        fits = false;
        if ((!S::YIELDS || n.count == 1) && n.lane == 0) stop_run(HERE.control, CHANNEL_FULL, S::stack_of(p), 0, 0);
      }
      if (!fits) {
        failed = !S::YIELDS || n.count == 1;
        break;
      }
    }
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) pushed[p] = units[S::group(p)] * S::ratio(p);
    Numbered<S> worker(n, sum);
#pragma unroll
    for (u32 p = 0; p < S::PUSHED; p++) worker.at[p] = base[p] + unit[S::group(p)] * S::ratio(p);
    if (mine) S::run(worker, args);
    run_long<S>(worker, worker.later);
    failed |= worker.failed;
    const bool last = left <= WARP;
    left = last ? 0 : left - WARP;
    if (last) break;
    mine = narrow_dequeue<S>(n, n.first, left, args);
  }
  // Where it is known what an element pushes, all have found room.
  n.left = MOST == 0 ? left : 0;
  n.failed = (FAILS || MOST == 0) && any_lane(failed);
  n.data = MOST == 0;
  narrow_pushed<S>(n, base, pushed);
}

// `FAILS`: an element's run may end early. `MOST`: what an element pushes to one channel at most, so that all of it finds room; 0 if that is not
// known. A segment that pushes to its own channel goes on with that.
template <class S, bool FAILS, u32 MOST, u32 OWN>
NARROW void narrow_scanned(Policy& p, Narrow& n) {
  Gathered<typename S::Sum> sum;
  typename S::Args args;
  bool mine = narrow_dequeue<S>(n, n.first, n.count, args);
  // It has pushed to its own channel, and to no other.
  Each<bool> children;
#pragma unroll
  for (u32 k = 0; k < PER_LANE; k++) children.of[k] = n.own.of[k] == OWN;
  // Until there is no place for another level, or the host is to be asked.
  u32 more = min_of(n.oldest + NEAR - 1 - n.level, (0 - n.number) % 256);
  while (true) {
    narrow_elements<S, FAILS, MOST>(n, args, mine, sum);
    if (MOST == 0 || !pushes_again<S>(OWN) || n.few == 0 || n.failed || n.pending || n.others || more-- == 0) break;
    __syncwarp();
    // The next elements are under way while this run is taken in.
    mine = narrow_dequeue<S>(n, n.at, n.few, args);
    n.stack = OWN;
    narrow_take(n, children);
    narrow_down(p, n);
    narrow_begin(n, OWN, n.at, n.few);
  }
  if constexpr (S::SUMS) {
    if constexpr (!adds_alone<typename S::Sum::Value>()) hand_over_warp(n, sum);
  }
}

// For bodies that push nothing.
template <class S, bool FAILS>
NARROW void narrow_leaves(Narrow& n) {
  Gathered<typename S::Sum> sum;
  bool failed = false;
  for (u32 i = n.lane; i < n.count && !failed; i += WARP) {
    Numbered<S> worker(n, sum);
    S::run(worker, S::template deq<DeviceMemory, true>(n.first + i));
    failed = worker.failed;
  }
  n.left = 0;
  n.data = false;
  n.failed = FAILS && any_lane(failed);
  if constexpr (S::SUMS) {
    if constexpr (!adds_alone<typename S::Sum::Value>()) hand_over_warp(n, sum);
  }
  narrow_pushed<S>(n, nullptr, nullptr);
}

// For bodies whose pushes cannot be counted before they have run.
template <class S>
NARROW void narrow_direct(Shared& sh, Narrow& n) {
  Gathered<typename S::Sum> sum;
  LeafCounts<S> leaves;
  Dispatch& d = sh.dispatch;
  u32 base[S::PUSHED], pushed[S::PUSHED];
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) {
    base[p] = of_stack(n.base, S::stack_of(p));
    const u32 end = S::turn(p) || n.count > 1 ? wide_of(S::stack_of(p)) : of_stack(n.capacity, S::stack_of(p));
    const u32 all = end > base[p] ? end - base[p] : 0;
    if (n.lane == 0) {
      d.base[p] = base[p];
      d.room[p] = S::turn(p) ? max_of(all / 2, S::turn(p)) : n.count > 1 ? all - all / RESERVE : all;
    }
  }
  if (n.lane == 0) d.count = n.count;
  __syncwarp();
  const u32 each = own_grant<S>(d);
  bool failed = false;
  for (u32 i = n.lane; i < n.count && !failed; i += WARP) {
    Direct<S> worker(sum, leaves);
    worker.control = HERE.control;
    worker.dispatch = &d;
    worker.granted = each;
    worker.counter = sh.counter;
    S::run(worker, S::template deq<DeviceMemory, true>(n.first + i));
    failed = worker.failed;
  }
  n.left = 0;
  n.data = true;
  n.failed = any_lane(failed);
  hand_over_warp(n, sum);
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) {
    if (!S::leafy(p) || leaves.count[p] == 0) continue;
    combine_add(&HERE.control->leaves[S::stack_of(p)], (u64)leaves.count[p]);
    count_ended(HERE.control, n.level + 1, leaves.count[p]);
  }
  __syncwarp();
#pragma unroll
  for (u32 p = 0; p < S::PUSHED; p++) pushed[p] = (u32)sh.counter[S::group(p)] * S::ratio(p);
  __syncwarp();
  for (u32 g = n.lane; g < MAX_GROUPS; g += WARP) sh.counter[g] = 0;
  __syncwarp();
  narrow_pushed<S>(n, base, pushed);
}
