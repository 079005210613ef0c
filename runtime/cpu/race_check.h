// Races on shared memory, found although the threads of a block run one after the other.
//
// Every element of a shared buffer remembers which thread wrote and which read it last, and since
// which barrier. Two threads that touch one element between the same two barriers, at least one of
// them writing, race: on a GPU the order is not defined. Threads run in reverse, so that an order
// that happens to be right on a GPU most of the time gives a wrong value here.
// provides: RaceCheck RaceTags
// requires: types abi
#pragma once

struct RaceTag {
  long long write_epoch;
  long long read_epoch;
  int writer;
  int reader; // -1: several
};

/// The tags of one buffer, while a block runs.
struct RaceTags {
  const char* name;
  RaceTag* tags;
  RaceTags(const char* buffer, long long elements)
      : name(buffer),
        tags(static_cast<RaceTag*>(__builtin_calloc(elements + 1, sizeof(RaceTag)))) {}
  ~RaceTags() {
    __builtin_free(tags);
  }
  RaceTags(const RaceTags&) = delete;
  RaceTags& operator=(const RaceTags&) = delete;
};

struct RaceCheck {
  const nvf_cpu_runtime* runtime;
  long long epoch; // barriers passed; 0 is "never"
  int thread;

  explicit RaceCheck(const nvf_cpu_runtime* rt) : runtime(rt), epoch(1), thread(0) {}

  void barrier() {
    ++epoch;
  }

  /// `index`, noted as read by this thread, with the `lanes` - 1 elements after it.
  nvfuser_index_t read(RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes; ++i) {
      RaceTag& tag = buffer.tags[index + i];
      if (tag.write_epoch == epoch && tag.writer != thread) {
        runtime->report_race(runtime, buffer.name, index + i, tag.writer, thread, "reads");
      }
      tag.reader = tag.read_epoch == epoch && tag.reader != thread ? -1 : thread;
      tag.read_epoch = epoch;
    }
    return index;
  }

  /// The same for writing.
  nvfuser_index_t write(RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes; ++i) {
      RaceTag& tag = buffer.tags[index + i];
      if (tag.write_epoch == epoch && tag.writer != thread) {
        runtime->report_race(runtime, buffer.name, index + i, tag.writer, thread, "writes");
      } else if (tag.read_epoch == epoch && tag.reader != thread) {
        runtime->report_race(runtime, buffer.name, index + i, tag.reader, thread, "overwrites");
      }
      tag.writer = thread;
      tag.write_epoch = epoch;
    }
    return index;
  }
};
