// Races on shared memory, found although the threads of a block run one after the other.
//
// Every byte of shared memory remembers which thread wrote and which read it last, and since which
// barrier. Two threads that touch one byte between the same two barriers, at least one of them
// writing, race: on a GPU the order is not defined. Buffers that overlay each other have bytes in
// common, so a barrier that is missing between them is found as well. Threads run in reverse, so
// that an order that happens to be right on a GPU most of the time gives a wrong value here.
//
// Stages of circular buffers that are handed back have no such barriers: one thread, `the loading
// thread`, is ordered with the others by counting stages. What it writes for a stage may be touched
// once that stage was waited for; what others have touched may be overwritten once the stage that
// they hand back next has been, and the loading thread has waited for that.
// provides: RaceCheck RaceMemory RaceTags
// requires: types abi
#pragma once

struct RaceTag {
  long long write_epoch;
  long long read_epoch;
  int writer;
  int reader;            // negative: several
  long long load;        // number of the stage that it was last loaded for, from 1 on; 0: never
  long long handed_with; // number of the stage that is handed back after the last access; 0: none
};

/// The tags of a piece of memory, while a block runs.
struct RaceMemory {
  RaceTag* tags;
  explicit RaceMemory(long long bytes)
      : tags(static_cast<RaceTag*>(__builtin_calloc(bytes + 1, sizeof(RaceTag)))) {}
  ~RaceMemory() {
    __builtin_free(tags);
  }
  RaceMemory(const RaceMemory&) = delete;
  RaceMemory& operator=(const RaceMemory&) = delete;
};

/// A buffer in it.
struct RaceTags {
  const char* name;
  RaceTag* tags;
  int element_bytes;
  RaceTags(const char* buffer, const RaceMemory& memory, long long offset, int bytes)
      : name(buffer), tags(memory.tags + offset), element_bytes(bytes) {}
};

/// Threads are numbered through all blocks of a cluster. Its blocks run one after the other between
/// two of its barriers, so that the barriers of all blocks have one order.
struct RaceCheck {
  static constexpr int kSeveral = -1;        // threads of several blocks
  static constexpr int kSeveralOfFirst = -2; // of the first block; of the next one: -3, ..
  const nvf_cpu_runtime* runtime;
  int threads;             // of a block
  long long epoch;         // barriers passed; 0 is "never"
  long long cluster_epoch; // the same, when the cluster met last
  int block;               // of the cluster
  int thread;              // of the block
  // Stages of circular buffers, counted since the block began.
  bool is_loading; // what follows is what the loading thread does
  long long loaded;
  long long arrived; // that threads which compute have waited for
  long long handed_back;
  long long free; // that the loading thread knows to have been handed back

  RaceCheck(const nvf_cpu_runtime* rt, int threads_of_block)
      : runtime(rt),
        threads(threads_of_block),
        epoch(1),
        cluster_epoch(1),
        block(0),
        thread(0),
        is_loading(false),
        loaded(0),
        arrived(0),
        handed_back(0),
        free(0) {}

  void barrier() {
    ++epoch;
  }
  void cluster_barrier() {
    cluster_epoch = ++epoch;
  }

  void wait_empty(int keep_stages) {
    const long long needed = loaded - keep_stages;
    const long long known = needed < handed_back ? needed : handed_back;
    free = free < known ? known : free;
  }
  void arrive_full() {
    ++loaded;
  }
  void wait_full() {
    arrived += arrived < loaded;
  }
  void arrive_empty() {
    ++handed_back;
  }

  /// Number of the loading thread, which no other one has.
  int loader() const {
    return threads;
  }
  /// The loading thread must not overwrite a byte before its stage is handed back, and other
  /// threads must not read it before its load has arrived. Returns whether nothing else is to be
  /// checked.
  bool pass_load(const RaceTags& buffer, nvfuser_index_t index, int byte, const char* verb) {
    RaceTag& tag = buffer.tags[index * buffer.element_bytes + byte];
    if (is_loading) {
      if (tag.handed_with > free) {
        report(buffer, index, byte, kSeveral, "overwrites");
      }
      tag.load = loaded + 1;
      return true;
    }
    if (tag.load > arrived) {
      report(buffer, index, byte, loader(), verb);
    }
    tag.handed_with = handed_back + 1;
    return false;
  }

  int number() const {
    return is_loading ? loader() : block * threads + thread;
  }
  bool is_of_own_block(int other) const {
    return other < 0 ? other == kSeveralOfFirst - block : other / threads == block;
  }
  /// Whether what `other` did then has no barrier between it and now.
  bool is_concurrent(int other, long long then) const {
    if (other == number()) {
      return false;
    }
    return is_of_own_block(other) ? then == epoch : then >= cluster_epoch;
  }

  /// `index`, noted as read by this thread, with the `lanes` - 1 elements after it.
  nvfuser_index_t read(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      if (pass_load(buffer, index, i, "reads")) {
        continue;
      }
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (is_concurrent(tag.writer, tag.write_epoch)) {
        report(buffer, index, i, tag.writer, "reads");
      }
      tag.reader = reader_after(tag);
      tag.read_epoch = epoch;
    }
    return index;
  }

  /// The same for writing.
  nvfuser_index_t write(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      if (pass_load(buffer, index, i, "writes")) {
        continue;
      }
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (is_concurrent(tag.writer, tag.write_epoch)) {
        report(buffer, index, i, tag.writer, "writes");
      } else if (is_concurrent(tag.reader, tag.read_epoch)) {
        report(buffer, index, i, tag.reader, "overwrites");
      }
      tag.writer = number();
      tag.write_epoch = epoch;
    }
    return index;
  }

  /// The thread that has read an element since the last barrier, once this thread has.
  int reader_after(const RaceTag& tag) const {
    if (!is_concurrent(tag.reader, tag.read_epoch)) {
      return number();
    }
    return is_of_own_block(tag.reader) ? kSeveralOfFirst - block : kSeveral;
  }

  void report(
      const RaceTags& buffer, nvfuser_index_t index, int byte, int other, const char* verb) const {
    runtime->report_race(
        runtime, buffer.name, index + byte / buffer.element_bytes, other < 0 ? -1 : other, number(),
        verb);
  }
};
