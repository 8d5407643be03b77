// What is done at each access of memory that threads share, where the compiler was told to call us there (`-fsanitize=thread`, without its library): another
// thread may go on, and it is checked that whoever was here before is ordered before. Threads are ordered by barriers, and by atomics and fences as C++ says:
// each knows up to which of their steps it comes behind the others (a vector clock), and each byte remembers who wrote it and who has read it since. So a
// race is found wherever both accesses happen in some run, however they fell. Two that write the same value are none.
#define WATCHED
#define QUIET __attribute__((no_sanitize("thread"), noinline))
#define QUICK __attribute__((no_sanitize("thread"), always_inline)) inline

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr unsigned MOST_WATCHED = 128;
typedef unsigned Clock[MOST_WATCHED];
constexpr uint16_t NOBODY = 0xffff;

// What a thread is behind: of each other so many steps. By its last fence it tells of `fenced`; relaxed loads have told it of `heard`, which its next fence makes known.
struct Watched {
  Clock now, fenced, heard;
};
static Watched watched[MOST_WATCHED];
static unsigned watched_threads, watched_thread;
static unsigned watched_launch;

// What is known of a byte, or of four that were only used together so far: the first one's is all four's then. Clocks of several that read, and what the
// last atomic operation tells, are kept aside: their numbers, 0 for none.
struct Byte {
  unsigned launch, wrote_at, read_at, atomic_at;
  uint16_t writer, reader, atomic_by;
  bool split;
  unsigned readers, tells;
  void *wrote, *read, *atomic;
};
struct Kept {
  Clock of;
};
static std::vector<Kept> kept;

// Memory that is watched, and what is known of its bytes.
struct Range {
  char *begin, *end;
  Byte* bytes;
};
static Range ranges[3];

// The first race of a launch: where the code is, as distances in the library, and what kinds of accesses they are.
struct Race {
  uint64_t places[2];
  unsigned threads[2];
  char kinds[2];
};
static Race race_found;
static bool is_race;
// Two have written the same place: whether the same, is seen when the second has.
static struct {
  char* at;
  unsigned size;
  char before[16];
  Race race;
} doubtful;

QUIET static void watch_range(unsigned number, void* begin, size_t size) {
  Range& range = ranges[number];
  if (range.begin == begin && range.end == (char*)begin + size) return;
  const auto reserve = [](size_t bytes) { return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); };
  if (range.bytes) munmap(range.bytes, (range.end - range.begin) * sizeof(Byte));
  range = Range{(char*)begin, (char*)begin + size, (Byte*)reserve(size * sizeof(Byte))};
}

QUICK static Byte* watched_byte(const void* p) {
  for (const Range& range : ranges) {
    if ((char*)p >= range.begin && (char*)p < range.end) return range.bytes + ((char*)p - range.begin);
  }
  return nullptr;
}

QUICK static void join(Clock& to, const Clock& from) {
  for (unsigned i = 0; i < watched_threads; i++) to[i] = from[i] > to[i] ? from[i] : to[i];
}
QUIET static unsigned keep(const Clock& clock) {
  Kept own;
  memcpy(own.of, clock, sizeof(Clock));
  kept.push_back(own);
  return (unsigned)kept.size() - 1;
}

// Ends the launch: what comes of a race need not come to an end.
static void end_launch();
QUIET static void found(const Race& race) {
  race_found = race;
  is_race = true;
}
QUICK static void settle_doubt() {
  if (!doubtful.at) return;
  const bool differ = memcmp(doubtful.at, doubtful.before, doubtful.size) != 0;
  doubtful.at = nullptr;
  if (differ) found(doubtful.race);
}

QUIET static void watch_begins(unsigned threads) {
  watched_threads = threads;
  watched_launch++;
  memset(watched, 0, sizeof(watched));
  for (unsigned i = 0; i < threads; i++) watched[i].now[i] = 1;
  kept.assign(1, Kept{});
  is_race = false;
  doubtful.at = nullptr;
}

// These meet: whatever one has done comes before what another does from now on.
template <class Each>
QUIET static void watch_meeting(unsigned count, Each thread) {
  Clock all = {};
  for (unsigned i = 0; i < count; i++) join(all, watched[thread(i)].now);
  for (unsigned i = 0; i < count; i++) {
    Clock& now = watched[thread(i)].now;
    memcpy(now, all, sizeof(Clock));
    now[thread(i)]++;
  }
}

QUIET static void watch_fence() {
  Watched& own = watched[watched_thread];
  join(own.now, own.heard);
  memcpy(own.fenced, own.now, sizeof(Clock));
  own.now[watched_thread]++;
}

QUIET static uint64_t place_of(void* code) {
  Dl_info of;
  return dladdr(code, &of) ? (char*)code - (char*)of.dli_fbase : 0;
}
QUICK static bool is_unseen(unsigned at, unsigned by) { return by != NOBODY && by != watched_thread && at > watched[watched_thread].now[by]; }

QUIET static void conflict(void* first, unsigned by, char kind, void* second, char own) {
  found(Race{{place_of(first), place_of(second)}, {by, watched_thread}, {kind, own}});
  end_launch();
}

// Somebody reads (`r`), writes (`w`) or does something atomic (`a`): `p` and `size` are the whole access, `byte` is a part of it.
QUICK static void note_part(Byte& byte, void* p, unsigned size, char kind, void* code) {
  Watched& own = watched[watched_thread];
  const unsigned at = own.now[watched_thread];
  if (is_unseen(byte.wrote_at, byte.writer)) {
    if (kind != 'w' || size > sizeof(doubtful.before)) {
      conflict(byte.wrote, byte.writer, 'w', code, kind);
    } else if (!doubtful.at) {
      doubtful.at = (char*)p;
      doubtful.size = size;
      memcpy(doubtful.before, p, size);
      doubtful.race = Race{{place_of(byte.wrote), place_of(code)}, {byte.writer, watched_thread}, {'w', 'w'}};
    }
  }
  if (kind != 'a' && is_unseen(byte.atomic_at, byte.atomic_by)) conflict(byte.atomic, byte.atomic_by, 'a', code, kind);
  if (kind == 'w') {
    if (is_unseen(byte.read_at, byte.reader)) conflict(byte.read, byte.reader, 'r', code, kind);
    for (unsigned t = 0; byte.readers && t < watched_threads; t++) {
      if (t != watched_thread && kept[byte.readers].of[t] > own.now[t]) conflict(byte.read, t, 'r', code, kind);
    }
    byte.writer = watched_thread;
    byte.wrote_at = at;
    byte.wrote = code;
    byte.reader = NOBODY;
    byte.readers = 0;
  } else if (kind == 'a') {
    byte.atomic_by = watched_thread;
    byte.atomic_at = at;
    byte.atomic = code;
  } else {
    if (byte.readers == 0 && is_unseen(byte.read_at, byte.reader)) {
      Clock both = {};
      both[byte.reader] = byte.read_at;
      byte.readers = keep(both);
    }
    if (byte.readers) kept[byte.readers].of[watched_thread] = at;
    byte.reader = watched_thread;
    byte.read_at = at;
    byte.read = code;
  }
}
QUIET static void note_access(void* p, unsigned size, char kind, void* code) {
  Byte* const bytes = watched_byte(p);
  const unsigned odd = (uintptr_t)p % 4;
  for (unsigned i = 0; i < size;) {
    Byte* const word = bytes + i - (odd + i) % 4;
    if (word->launch != watched_launch) {
      *word = Byte{};
      word->launch = watched_launch;
      word->writer = word->reader = word->atomic_by = NOBODY;
    }
    const bool whole = (odd + i) % 4 == 0 && size - i >= 4;
    if (!whole && !word->split) {
      word->split = true;
      for (unsigned b = 1; b < 4; b++) {
        word[b] = *word;
        if (word->readers) word[b].readers = keep(kept[word->readers].of);
      }
    }
    for (unsigned b = 0; b < (whole && word->split ? 4 : 1); b++) note_part(bytes[i + b], p, size, kind, code);
    i += whole ? 4 : 1;
  }
}

// An atomic operation that loads, stores, or both, in that order of memory.
QUIET static void watch_atomic(const void* p, unsigned size, bool loads, bool stores, int order, void* code) {
  Byte* const byte = watched_byte(p);
  if (!byte) return;
  settle_doubt();
  if (is_race) end_launch();
  note_access((void*)p, size, 'a', code);
  Watched& own = watched[watched_thread];
  const bool acquires = order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  const bool releases = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  if (loads && byte->tells) join(acquires ? own.now : own.heard, kept[byte->tells].of);
  if (stores) {
    if (!byte->tells) byte->tells = keep(Clock{});
    Clock& tells = kept[byte->tells].of;
    if (!loads) memset(tells, 0, sizeof(Clock));
    join(tells, releases ? own.now : own.fenced);
    if (releases) own.now[watched_thread]++;
  }
}

static void maybe_others_at_access();
QUIET static void accessed(void* p, unsigned size, bool writes, void* code) {
  if (!watched_byte(p)) return;
  settle_doubt();
  if (is_race) end_launch();
  maybe_others_at_access();
  note_access(p, size, writes ? 'w' : 'r', code);
}
#define ACCESS(size)                                                                                              \
  extern "C" QUIET void __tsan_read##size(void* p) { accessed(p, size, false, __builtin_return_address(0)); }     \
  extern "C" QUIET void __tsan_write##size(void* p) { accessed(p, size, true, __builtin_return_address(0)); }     \
  extern "C" QUIET void __tsan_unaligned_read##size(void* p) { accessed(p, size, false, __builtin_return_address(0)); } \
  extern "C" QUIET void __tsan_unaligned_write##size(void* p) { accessed(p, size, true, __builtin_return_address(0)); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
extern "C" QUIET void __tsan_read_range(void* p, size_t size) { accessed(p, size, false, __builtin_return_address(0)); }
extern "C" QUIET void __tsan_write_range(void* p, size_t size) { accessed(p, size, true, __builtin_return_address(0)); }
extern "C" QUIET void __tsan_func_entry(void*) {}
extern "C" QUIET void __tsan_func_exit() {}
extern "C" QUIET void __tsan_init() {}

extern "C" void watch_memory(unsigned number, char* begin, size_t size) { watch_range(number, begin, size); }
extern "C" const Race* race_of_launch() {
  settle_doubt();
  return is_race ? &race_found : nullptr;
}
