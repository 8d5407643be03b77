// Memory that channel stacks lie in. A segment's body, and whoever takes its elements off, know it as a type `M` alone: `*channels` says where each
// field's array lies, `control` who counts and stops, and the rest joins a result with what its destination holds, as widely as others may do so at
// the same time. This one is the GPU's own; stacks in shared memory, or on a peer, are another type. `channels` is a constant, for then the
// compiler's first pass puts the constant bank's own address in its place; what a function returns it learns too late for some of its work.
struct DeviceMemory {
#ifdef WORKERS
  struct InShared {
    FN_IN const Channels& operator*() const { return HERE; }
  };
  static constexpr InShared channels{};
#else
  static constexpr const Channels* channels = &device_channels;
#endif
  FN_IN static Control* control() { return HERE.control; }
  template <class T> FN_IN static void combine_add(T* to, T x) { ::combine_add(to, x); }
  template <class T> FN_IN static void combine_and(T* to, T x) { ::combine_and(to, x); }
  template <class T> FN_IN static void combine_or(T* to, T x) { ::combine_or(to, x); }
  template <class T> FN_IN static void combine_xor(T* to, T x) { ::combine_xor(to, x); }
  template <class T> FN_IN static void combine_min(T* to, T x) { ::combine_min(to, x); }
  template <class T> FN_IN static void combine_max(T* to, T x) { ::combine_max(to, x); }
  // By `f`, for what the hardware has no instruction.
  template <class T, class F> FN_IN static void atomic_update(ptr to, F f) { ::atomic_update<T>(to, f); }
  template <class T, class U, class F> FN_IN static void atomic_update_float(ptr to, F f) { ::atomic_update_float<T, U>(to, f); }
};

// Results that go to one address are joined in registers, and handed over when the address changes.
struct NoSum {
  struct Value {};
  FN_IN static Value none() { return {}; }
};
template <class R, class M = DeviceMemory>
struct Gathered {
  ptr to = nullptr;
  typename R::Value value = R::none();
  __device__ __forceinline__ void add(ptr at, typename R::Value x) {
    if (at == to) {
      value = R::join(value, x);
    } else {
      if (to) R::template give<M>(to, value);
      to = at;
      value = x;
    }
  }
};
template <class M>
struct Gathered<NoSum, M> {};

// An array's zeros, one by one: NVRTC 13.0 loads those of a member's `= {}` from global memory, each time.
template <u32 N>
FN void clear(u32 (&of)[N]) {
#pragma unroll
  for (u32 i = 0; i < N; i++) of[i] = 0;
}

// Children that ended where they were spawned, per push.
template <class S>
struct LeafCounts {
  u32 count[S::PUSHED + 1];
  __device__ __forceinline__ LeafCounts() { clear(count); }
};

