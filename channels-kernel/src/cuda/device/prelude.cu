// Types, arithmetic and checks: what generated code is written in. Nothing is included: the compiler's built-ins are enough.
//
// The meaning is Rust's: integers wrap, shift amounts are taken modulo the width, float-to-int casts saturate, NaN becomes 0.

#define WARPS (BLOCK / WARP)
#define ALL_LANES (0xffffffffu >> (32u - WARP))

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef char* ptr;

#ifndef FN
#define FN [[maybe_unused]] static __device__ __forceinline__
#endif

#ifndef EMULATED
FN u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
// The smaller one, so that no compiler on the way leaves the instruction out.
FN u32 at_most(u32 x, u32 most) {
  asm volatile("min.u32 %0, %0, %1;" : "+r"(x) : "r"(most));
  return x;
}
FN u64 cycles() { return (u64)clock64(); }
FN void pause(u32 ns) { __nanosleep(ns); }
// Copies a word from global to shared memory, where the hardware can without waiting for it; `brought` waits for all of the thread's.
template <class T>
FN constexpr bool brings() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return sizeof(T) == 4 || sizeof(T) == 8;
#else
  return false;
#endif
}
template <class T>
FN void bring(T* to, const T* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)),
               "n"(sizeof(T))
               : "memory");
#endif
}
FN void brought() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// An address of which the compiler knows nothing (`cuda/origin.rs`).
FN ptr hidden(ptr p) {
  asm("" : "+l"(p));
  return p;
}
FN u32 active_lanes() { return __activemask(); }
// Where the ways out of a loop join: the compiler may not lead each of them past it.
FN void regroup() {
  [[maybe_unused]] u32 lanes;
  asm volatile("activemask.b32 %0;" : "=r"(lanes));
}
FN u32 shuffle(u32 lanes, u32 x, u32 from) { return __shfl_sync(lanes, x, from); }
#define SHARED(type, name) __shared__ type name
// What the parts of a program have in common, and how each reaches it. The part with the kernels defines it, and those that have segments alone are
// linked with it.
#ifdef SEGMENTS
#define COMMON(type, name, reach) extern __shared__ type name; FN type& reach() { return name; }
#else
#define COMMON(type, name, reach) __shared__ type name; FN type& reach() { return name; }
#endif
// An address in shared memory, in a register: the compiler does not know that it could work it out again at each use.
typedef u32 near;
FN near near_of(const void* p) {
  near at;
  asm volatile("mov.u32 %0, %1;" : "=r"(at) : "r"((u32)__cvta_generic_to_shared(p)));
  return at;
}
// Shared memory that a kernel was launched with beside what it declares, and where it lies.
FN u32 dynamic_bytes() {
  u32 bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}
extern __shared__ __align__(64) char dynamic_shared[];
FN near dynamic_memory() { return near_of(dynamic_shared); }
FN ptr at_near(near at) { return (ptr)__cvta_shared_to_generic(at); }
// Adds one to a word of shared memory, and gives what was there. Relaxed: the block's barrier orders. The compiler has one lane of a warp add for
// all.
FN u32 count_up(near at) {
  u32 old;
  asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(at));
  return old;
}
// The same by so many.
FN u32 count_up(near at, u32 by) {
  u32 old;
  asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(at), "r"(by));
  return old;
}
// What a word of shared memory holds, and what it is to hold. Relaxed, as above.
FN u32 load_near(near at) {
  u32 x;
  asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
  return x;
}
FN void store_near(near at, u32 x) { asm volatile("st.relaxed.cta.shared.u32 [%0], %1;" ::"r"(at), "r"(x)); }
#endif
// An estimate needs no more bits than the hardware's inverse has, unless it is to be compared with the host's.
#if defined(EMULATED) || defined(RECORDS)
FN f32 quotient(f32 a, f32 b) { return a / b; }
#else
FN f32 quotient(f32 a, f32 b) {
  f32 out;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}
#endif
// Where a block stages children.
struct StageMemory {
  alignas(16) char bytes[STAGE_BYTES];
};
COMMON(StageMemory, stage_of_block, stage)
FN ptr stage_memory() { return stage().bytes; }

// Wrapping arithmetic on signed and on narrow types goes through an unsigned type that C does not promote to int.
#define WRAPPING(T, U, W)                                                          \
  FN T add(T a, T b) { return (T)(U)((W)(U)a + (W)(U)b); }                         \
  FN T sub(T a, T b) { return (T)(U)((W)(U)a - (W)(U)b); }                         \
  FN T mul(T a, T b) { return (T)(U)((W)(U)a * (W)(U)b); }                         \
  FN T neg(T a) { return (T)(U)((W)0 - (W)(U)a); }                                 \
  FN T shl(T a, u32 n) { return (T)(U)((W)(U)a << (n % (8 * sizeof(T)))); }        \
  FN T shr(T a, u32 n) { return (T)(a >> (n % (8 * sizeof(T)))); }                 \
  FN T rotl(T a, u32 n) {                                                          \
    n %= 8 * sizeof(T);                                                            \
    return n ? (T)(U)(((W)(U)a << n) | ((W)(U)a >> (8 * sizeof(T) - n))) : a;      \
  }                                                                                \
  FN T rotr(T a, u32 n) { return rotl(a, (u32)(8 * sizeof(T)) - n % (u32)(8 * sizeof(T))); } \
  FN T min_of(T a, T b) { return b < a ? b : a; }                                  \
  FN T max_of(T a, T b) { return b < a ? a : b; }                                  \
  FN T pow_of(T a, u32 n) {                                                        \
    T r = 1;                                                                       \
    while (n) {                                                                    \
      if (n & 1) r = mul(r, a);                                                    \
      a = mul(a, a);                                                               \
      n >>= 1;                                                                     \
    }                                                                              \
    return r;                                                                      \
  }                                                                                \
  FN u64 bits_of(T a) { return (u64)(U)a; }

WRAPPING(i8, u8, u32)
WRAPPING(i16, u16, u32)
WRAPPING(i32, u32, u32)
WRAPPING(i64, u64, u64)
WRAPPING(u8, u8, u32)
WRAPPING(u16, u16, u32)
WRAPPING(u32, u32, u32)
WRAPPING(u64, u64, u64)

FN u64 bits_of(bool a) { return a; }
FN u64 bits_of(ptr a) { return (u64)a; }
FN u64 bits_of(f32 a) {
  u32 b;
  memcpy(&b, &a, 4);
  return b;
}
FN u64 bits_of(f64 a) {
  u64 b;
  memcpy(&b, &a, 8);
  return b;
}

// Overflow tests and saturation.
#define SIGNED(T, U, MIN, MAX)                                                        \
  FN T abs_of(T a) { return a < 0 ? neg(a) : a; }                                     \
  FN bool add_overflows(T a, T b) { return b < 0 ? a < MIN - b : a > MAX - b; }       \
  FN bool sub_overflows(T a, T b) { return b < 0 ? a > MAX + b : a < MIN + b; }       \
  FN bool mul_overflows(T a, T b) {                                                   \
    if (a == 0 || b == 0) return false;                                               \
    if (a == -1) return b == MIN;                                                     \
    if (b == -1) return a == MIN;                                                     \
    const T p = mul(a, b);                                                            \
    return p / b != a;                                                                \
  }                                                                                   \
  FN T saturating_add(T a, T b) { return add_overflows(a, b) ? (b < 0 ? MIN : MAX) : add(a, b); } \
  FN T saturating_sub(T a, T b) { return sub_overflows(a, b) ? (b < 0 ? MAX : MIN) : sub(a, b); }

SIGNED(i8, u8, (i8)-128, (i8)127)
SIGNED(i16, u16, (i16)-32768, (i16)32767)
SIGNED(i32, u32, (-2147483647 - 1), 2147483647)
SIGNED(i64, u64, (-9223372036854775807LL - 1), 9223372036854775807LL)

#define UNSIGNED(T)                                                                   \
  FN T abs_of(T a) { return a; }                                                      \
  FN bool add_overflows(T a, T b) { return add(a, b) < a; }                           \
  FN bool sub_overflows(T a, T b) { return a < b; }                                   \
  FN bool mul_overflows(T a, T b) { return a != 0 && mul(a, b) / a != b; }            \
  FN T saturating_add(T a, T b) { return add_overflows(a, b) ? (T)~(T)0 : add(a, b); } \
  FN T saturating_sub(T a, T b) { return a < b ? (T)0 : sub(a, b); }

UNSIGNED(u8)
UNSIGNED(u16)
UNSIGNED(u32)
UNSIGNED(u64)

// Bit counts. `U` is the unsigned type of the width, so that sign bits do not spread.
#define COUNTS(T, U)                                                                                          \
  FN u32 count_ones(T a) { return sizeof(T) == 8 ? (u32)__popcll((u64)(U)a) : (u32)__popc((u32)(U)a); }       \
  FN u32 leading_zeros(T a) {                                                                                 \
    return sizeof(T) == 8 ? (u32)__clzll((i64)a) : (u32)__clz((i32)(u32)(U)a) - (32 - 8 * (u32)sizeof(T) % 64); \
  }                                                                                                           \
  FN u32 trailing_zeros(T a) {                                                                                \
    return a == 0 ? (u32)(8 * sizeof(T)) : (u32)__ffsll((i64)a) - 1;                                          \
  }                                                                                                           \
  FN T reverse_bits(T a) {                                                                                    \
    return sizeof(T) == 8 ? (T)__brevll((u64)(U)a) : (T)(U)(__brev((u32)(U)a) >> ((32 - 8 * sizeof(T)) % 32)); \
  }                                                                                                           \
  FN T swap_bytes(T a) {                                                                                      \
    u64 r = 0, b = (u64)(U)a;                                                                                 \
    for (u32 i = 0; i < sizeof(T); i++) r |= ((b >> (8 * i)) & 255) << (8 * (sizeof(T) - 1 - i));             \
    return (T)(U)r;                                                                                           \
  }

COUNTS(i8, u8)
COUNTS(i16, u16)
COUNTS(i32, u32)
COUNTS(i64, u64)
COUNTS(u8, u8)
COUNTS(u16, u16)
COUNTS(u32, u32)
COUNTS(u64, u64)

// Floats. Minimum and maximum give the number if one side is NaN; round goes half away from zero.
#define FLOAT(T, S)                                       \
  FN T min_of(T a, T b) { return fmin##S(a, b); }         \
  FN T max_of(T a, T b) { return fmax##S(a, b); }         \
  FN T abs_of(T a) { return fabs##S(a); }                 \
  FN T rem_of(T a, T b) { return fmod##S(a, b); }         \
  FN T powi_of(T a, i32 n) {                              \
    const bool recip = n < 0;                             \
    T r = 1;                                              \
    while (true) {                                        \
      if (n & 1) r *= a;                                  \
      n /= 2;                                             \
      if (n == 0) break;                                  \
      a *= a;                                             \
    }                                                     \
    return recip ? 1 / r : r;                             \
  }

FLOAT(f32, f)
FLOAT(f64, )

// `as` from a float to an integer: saturates, NaN becomes 0. `END` is the first power of two beyond the greatest value.
#define SATURATE(T, MIN, MAX, END)                                                            \
  FN T to_##T(f64 a) { return !(a == a) ? (T)0 : a >= END ? MAX : a <= (f64)MIN ? MIN : (T)a; } \
  FN T to_##T(f32 a) { return !(a == a) ? (T)0 : a >= (f32)END ? MAX : a <= (f32)MIN ? MIN : (T)a; }

SATURATE(i8, (i8)-128, (i8)127, 128.0)
SATURATE(i16, (i16)-32768, (i16)32767, 32768.0)
SATURATE(i32, (-2147483647 - 1), 2147483647, 2147483648.0)
SATURATE(i64, (-9223372036854775807LL - 1), 9223372036854775807LL, 9223372036854775808.0)
SATURATE(u8, (u8)0, (u8)255, 256.0)
SATURATE(u16, (u16)0, (u16)65535, 65536.0)
SATURATE(u32, 0u, 4294967295u, 4294967296.0)
SATURATE(u64, 0ull, 18446744073709551615ull, 18446744073709551616.0)

template <class To, class From>
FN To bitcast(From a) {
  static_assert(sizeof(To) == sizeof(From), "the same size");
  To b;
  memcpy(&b, &a, sizeof(To));
  return b;
}

template <class T>
FN T from_bits(u64 bits) {
  T out;
  memcpy(&out, &bits, sizeof(T));
  return out;
}
FN u64 shuffle_wide(u64 x, u32 from) {
  return (u64)__shfl_sync(ALL_LANES, (u32)(x >> 32), from, WARP) << 32 | __shfl_sync(ALL_LANES, (u32)x, from, WARP);
}
FN u64 shuffle_xor_wide(u64 x, u32 by) {
  return (u64)__shfl_xor_sync(ALL_LANES, (u32)(x >> 32), by, WARP) << 32 | __shfl_xor_sync(ALL_LANES, (u32)x, by, WARP);
}
// What one lane has. All lanes get it.
template <class T>
FN T from_lane(T x, u32 lane) {
  return from_bits<T>(sizeof(T) > 4 ? shuffle_wide(bits_of(x), lane) : (u64)__shfl_sync(ALL_LANES, (u32)bits_of(x), lane, WARP));
}
// Gives what the lanes have found, those of them that have, one after the other in their order. All lanes get all of it.
template <class T, class F>
FN void in_order(bool has, T x, F take) {
  const u32 who = __ballot_sync(ALL_LANES, has);
// All at once take more predicates than there are.
#pragma unroll 8
  for (u32 i = 0; i < WARP; i++) {
    const T one = from_lane(x, i);
    if (who >> i & 1) take(one);
  }
}

// Memory.
template <class T>
FN T load(const char* p) {
  return *(const T*)p;
}
template <>
__device__ __forceinline__ bool load<bool>(const char* p) {
  return *(const u8*)p != 0;
}
template <class T>
FN void store(ptr p, T value) {
  *(T*)p = value;
}
FN void store(ptr p, bool value) { *(u8*)p = value; }

// Two neighbours at once: `at` is aligned to both.
template <class T>
FN void put_two(T* at, T a, T b) {
  struct alignas(2 * sizeof(T)) Two {
    T a, b;
  };
  *(Two*)at = Two{a, b};
}

// Few words are copied without a loop, so that what lies in registers stays there. More have one: without, each copy of a kilobyte is a thousand
// instructions and more, three times over where the compiler does not know how it is aligned.
constexpr u64 UNROLLED = 16;

template <class T>
FN void copy_words(ptr to, const char* from, u64 size) {
  if (size <= UNROLLED * sizeof(T)) {
#pragma unroll
    for (u64 i = 0; i < size; i += sizeof(T)) *(T*)(to + i) = *(const T*)(from + i);
  } else {
#pragma unroll 4
    for (u64 i = 0; i < size; i += sizeof(T)) *(T*)(to + i) = *(const T*)(from + i);
  }
}

FN void copy_bytes(ptr to, const char* from, u64 size) {
  if (to == from) return;
  const u64 odd = (u64)to | (u64)from | size;
  if (odd % 8 == 0) {
    copy_words<u64>(to, from, size);
  } else if (odd % 4 == 0) {
    copy_words<u32>(to, from, size);
  } else {
    copy_words<char>(to, from, size);
  }
}

template <class T>
FN void zero_words(ptr to, u64 size) {
  if (size <= UNROLLED * sizeof(T)) {
#pragma unroll
    for (u64 i = 0; i < size; i += sizeof(T)) *(T*)(to + i) = 0;
  } else {
#pragma unroll 4
    for (u64 i = 0; i < size; i += sizeof(T)) *(T*)(to + i) = 0;
  }
}

FN void zero_bytes(ptr to, u64 size) {
  const u64 odd = (u64)to | size;
  if (odd % 8 == 0) {
    zero_words<u64>(to, size);
  } else if (odd % 4 == 0) {
    zero_words<u32>(to, size);
  } else {
    zero_words<char>(to, size);
  }
}

// Results that are combined with others. They lie in global memory; the built-ins take any memory, and then wait to hear which it was. Relaxed:
// the parent reads after the dispatch's barrier.
#ifdef EMULATED
#define REDUCTION(name, T, type, in) \
  FN void combine_##name(T* p, T x) { __nv_atomic_fetch_##name(p, x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); }
#else
#define REDUCTION(name, T, type, in)                                                                                        \
  FN void combine_##name(T* p, T x) {                                                                                       \
    asm volatile("red.relaxed.gpu.global." #name "." #type " [%0], %1;" ::"l"(__cvta_generic_to_global(p)), in(x) : "memory"); \
  }
#endif
// Sums of floats are the built-in's: it knows no `red` without a result, and the compiler makes one of it.
FN void combine_add(f32* p, f32 x) { __nv_atomic_fetch_add(p, x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); }
FN void combine_add(f64* p, f64 x) { __nv_atomic_fetch_add(p, x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); }
REDUCTION(add, u32, u32, "r")
REDUCTION(add, u64, u64, "l")
REDUCTION(and, u32, b32, "r")
REDUCTION(and, u64, b64, "l")
REDUCTION(or, u32, b32, "r")
REDUCTION(or, u64, b64, "l")
REDUCTION(xor, u32, b32, "r")
REDUCTION(xor, u64, b64, "l")
REDUCTION(min, u32, u32, "r")
REDUCTION(min, i32, s32, "r")
REDUCTION(min, u64, u64, "l")
REDUCTION(min, i64, s64, "l")
REDUCTION(max, u32, u32, "r")
REDUCTION(max, i32, s32, "r")
REDUCTION(max, u64, u64, "l")
REDUCTION(max, i64, s64, "l")

// Atomics that the hardware lacks (narrow types, nand, float minimum): exchange the word that holds the value. Sequentially
// consistent: pairs with every atomic of the program on that word.
template <class T, class F>
FN T atomic_update(ptr p, F f) {
  if constexpr (sizeof(T) >= 4) {
    T old = __nv_atomic_load_n((T*)p, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    while (!__nv_atomic_compare_exchange_n((T*)p, &old, f(old), false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_DEVICE)) {
    }
    return old;
  } else {
    u32* word = (u32*)((u64)p & ~3ull);
    const u32 at = 8 * (u32)((u64)p & 3), mask = (u32)((1ull << (8 * sizeof(T))) - 1) << at;
    u32 old = __nv_atomic_load_n(word, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    while (true) {
      const T now = (T)((old & mask) >> at);
      const u32 next = (old & ~mask) | (((u32)bits_of(f(now)) << at) & mask);
      if (__nv_atomic_compare_exchange_n(word, &old, next, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE))
        return now;
    }
  }
}
// The same for floats, whose bits are exchanged.
template <class T, class U, class F>
FN T atomic_update_float(ptr p, F f) {
  return bitcast<T>(atomic_update<U>(p, [&](U old) { return bitcast<U>((T)f(bitcast<T>(old))); }));
}
