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
//
// Asynchronous copies have rules of their own (race_copies.h).
// provides: RaceCheck RaceMemory RaceTags
// requires: types abi race_copies
#pragma once

struct RaceTag {
  long long write_epoch;
  long long read_epoch;
  int writer;
  int reader;            // negative: several
  long long load;        // number of the stage that it was last loaded for, from 1 on; 0: never
  long long handed_with; // number of the stage that is handed back after the last access; 0: none
  // Events that have to happen before the element may be touched; 0: none.
  long long fence; // before the async proxy reads: number of the writer's fence
  long long group; // before any access: number of the group that brings it
  long long store; // before it is written: number of the storing thread's wait
  int storing;
  RaceGroups groups;
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

/// Stages of circular buffers of a block, counted since it began.
struct RaceStages {
  long long loaded;
  long long arrived; // that threads which compute have waited for
  long long handed_back;
  long long free; // that the loading thread knows to have been handed back
};

/// Threads are numbered through all blocks of a cluster. Its blocks run one after the other between
/// two of its barriers, so that the barriers of all blocks have one order.
struct RaceCheck {
  static constexpr int kSeveral = -1;        // threads of several blocks
  static constexpr int kSeveralOfFirst = -2; // of the first block; of the next one: -3, ..
  const nvf_cpu_runtime* runtime;
  int threads;             // of a block
  int all_threads;         // of a cluster
  RaceThread* states;      // of each thread
  long long epoch;         // barriers passed; 0 is "never"
  long long cluster_epoch; // the same, when the cluster met last
  int block;               // of the cluster
  int thread;              // of the block
  bool is_loading;         // what follows is what the loading thread does
  RaceStages* stages;      // of each block
  bool ends_block;         // no other phase follows

  RaceCheck(
      const nvf_cpu_runtime* rt, int threads_of_block, int blocks_of_cluster, bool is_last = true)
      : runtime(rt),
        threads(threads_of_block),
        all_threads(threads_of_block * blocks_of_cluster),
        states(static_cast<RaceThread*>(__builtin_calloc(all_threads + 1, sizeof(RaceThread)))),
        epoch(1),
        cluster_epoch(1),
        block(0),
        thread(0),
        is_loading(false),
        stages(static_cast<RaceStages*>(__builtin_calloc(blocks_of_cluster, sizeof(RaceStages)))),
        ends_block(is_last) {}
  /// No thread leaves while a bulk copy of its own reads shared memory, or writes. One that a later
  /// phase waits for is not followed there.
  ~RaceCheck() {
    for (int i = 0; ends_block && i < all_threads; ++i) {
      const bool may_read = !states[i].store_waits.has(states[i].store);
      if (may_read || states[i].is_storing) {
        const RaceRule rule = may_read ? RaceRule::store : RaceRule::end_of_store;
        runtime->report_race(runtime, int(rule), states[i].stored, 0, i, i, "leaves before");
      }
    }
    __builtin_free(states);
    __builtin_free(stages);
  }
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  void barrier() {
    ++epoch;
  }
  void cluster_barrier() {
    cluster_epoch = ++epoch;
  }

  RaceStages& own_stages() {
    return stages[block];
  }
  void wait_empty(int keep_stages) {
    RaceStages& own = own_stages();
    const long long needed = own.loaded - keep_stages;
    const long long known = needed < own.handed_back ? needed : own.handed_back;
    own.free = own.free < known ? known : own.free;
  }
  void arrive_full() {
    ++own_stages().loaded;
  }
  void wait_full() {
    RaceStages& own = own_stages();
    own.arrived += own.arrived < own.loaded;
  }
  void arrive_empty() {
    ++own_stages().handed_back;
  }

  /// Number of the loading thread, which no other one has.
  int loader() const {
    return all_threads;
  }
  /// The loading thread must not overwrite a byte before its stage is handed back, and other
  /// threads must not read it before its load has arrived. Returns whether nothing else is to be
  /// checked.
  bool pass_load(const RaceTags& buffer, nvfuser_index_t index, int byte, const char* verb) {
    RaceTag& tag = buffer.tags[index * buffer.element_bytes + byte];
    if (is_loading) {
      if (tag.handed_with > own_stages().free) {
        report(buffer, index, byte, kSeveral, "overwrites");
      }
      tag.load = own_stages().loaded + 1;
      return true;
    }
    if (tag.load > own_stages().arrived) {
      report(buffer, index, byte, loader(), verb);
    }
    tag.handed_with = own_stages().handed_back + 1;
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

  // Commits, waits and fences of this thread.
  RaceThread& state() {
    return states[number()];
  }
  void fence() {
    state().fences.add(epoch);
  }
  void commit(RaceGroups groups) {
    ++state().committed(groups);
  }
  void wait(RaceGroups groups, int keep) {
    state().wait(groups, keep, epoch);
  }
  void wait_for_reads() {
    state().store_waits.add(epoch);
  }
  void wait_for_stores() {
    wait_for_reads();
    state().is_storing = false;
  }

  /// Whether this thread knows of an event of `other`.
  bool knows(const RaceHistory& history, long long event, int other) const {
    return history.has(event) && !is_concurrent(other, history.epoch_of(event));
  }
  /// No element is touched before the copy that brings it has arrived.
  void check_arrival(const RaceTags& buffer, nvfuser_index_t index, int byte, const char* verb) {
    const RaceTag& tag = buffer.tags[index * buffer.element_bytes + byte];
    const int waiting = tag.groups == RaceGroups::of_block ? number() : tag.writer;
    if (tag.group != 0 && !knows(states[waiting].arrived(tag.groups), tag.group, waiting)) {
      report(buffer, index, byte, tag.writer, verb, RaceRule::arrival);
    }
  }

  /// `index`, noted as read by this thread, with the `lanes` - 1 elements after it.
  nvfuser_index_t read(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      if (pass_load(buffer, index, i, "reads")) {
        continue;
      }
      check_arrival(buffer, index, i, "reads");
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (is_concurrent(tag.writer, tag.write_epoch)) {
        report(buffer, index, i, tag.writer, "reads");
      }
      tag.reader = reader_after(tag);
      tag.read_epoch = epoch;
    }
    return index;
  }

  /// The same for a product of warpgroups, which reads through the async proxy.
  nvfuser_index_t read_async(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    read(buffer, index, lanes);
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      const RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (tag.fence != 0 && !knows(states[tag.writer].fences, tag.fence, tag.writer)) {
        report(buffer, index, i, tag.writer, "reads", RaceRule::fence);
      }
    }
    return index;
  }

  /// The same for a bulk copy that stores the element.
  nvfuser_index_t copy_out(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    read_async(buffer, index, lanes);
    const long long wait = state().store_waits.count + 1;
    state().store = wait;
    state().stored = buffer.name;
    state().is_storing = true;
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      tag.store = wait;
      tag.storing = number();
    }
    return index;
  }

  /// The same for writing.
  nvfuser_index_t write(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    return write_as(buffer, index, lanes, RaceGroups::none, /*needs_fence=*/true);
  }

  /// The same for a copy that goes on while its thread does.
  nvfuser_index_t copy_in(
      const RaceTags& buffer, nvfuser_index_t index, int lanes, RaceGroups groups) {
    return write_as(buffer, index, lanes, groups, groups == RaceGroups::of_thread);
  }

  nvfuser_index_t write_as(
      const RaceTags& buffer,
      nvfuser_index_t index,
      int lanes,
      RaceGroups groups,
      bool needs_fence) {
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (pass_load(buffer, index, i, "writes")) {
        tag.fence = 0;
        tag.group = 0;
        continue;
      }
      const long long group = groups == RaceGroups::none ? 0 : state().committed(groups) + 1;
      const bool is_same_copy = tag.group == group && tag.groups == groups;
      if (!is_same_copy || tag.writer != number()) { // holes are filled before what is there
        check_arrival(buffer, index, i, "writes");
      }
      if (tag.store != 0 && !knows(states[tag.storing].store_waits, tag.store, tag.storing)) {
        report(buffer, index, i, tag.storing, "overwrites", RaceRule::store);
      }
      if (is_concurrent(tag.writer, tag.write_epoch)) {
        report(buffer, index, i, tag.writer, "writes");
      } else if (is_concurrent(tag.reader, tag.read_epoch)) {
        report(buffer, index, i, tag.reader, "overwrites");
      }
      tag.writer = number();
      tag.write_epoch = epoch;
      tag.fence = needs_fence ? state().fences.count + 1 : 0;
      tag.group = group;
      tag.groups = groups;
      tag.store = 0;
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
      const RaceTags& buffer,
      nvfuser_index_t index,
      int byte,
      int other,
      const char* verb,
      RaceRule rule = RaceRule::barrier) const {
    runtime->report_race(
        runtime, int(rule), buffer.name, index + byte / buffer.element_bytes,
        other < 0 ? -1 : other, number(), verb);
  }
};
