// Races on shared memory, found although the threads of a block run one after the other.
//
// Every byte of shared memory remembers which thread wrote and which read it last, and since which
// barrier. Two threads that touch one byte between the same two barriers, at least one of them
// writing, race: on a GPU the order is not defined. Buffers that overlay each other have bytes in
// common, so a barrier that lacks between them is found too. Threads run in reverse, so that an
// order that happens to be right on a GPU most of the time gives a wrong value here.
// provides: RaceCheck RaceMemory RaceTags
// requires: types abi
#pragma once

struct RaceTag {
  long long write_epoch;
  long long read_epoch;
  int writer;
  int reader; // -1: several
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

struct RaceCheck {
  const nvf_cpu_runtime* runtime;
  long long epoch; // barriers passed; 0 is "never"
  int thread;

  explicit RaceCheck(const nvf_cpu_runtime* rt) : runtime(rt), epoch(1), thread(0) {}

  void barrier() {
    ++epoch;
  }

  /// `index`, noted as read by this thread, with the `lanes` - 1 elements after it.
  nvfuser_index_t read(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (tag.write_epoch == epoch && tag.writer != thread) {
        report(buffer, index, i, tag.writer, "reads");
      }
      tag.reader = tag.read_epoch == epoch && tag.reader != thread ? -1 : thread;
      tag.read_epoch = epoch;
    }
    return index;
  }

  /// The same for writing.
  nvfuser_index_t write(const RaceTags& buffer, nvfuser_index_t index, int lanes) {
    for (int i = 0; i < lanes * buffer.element_bytes; ++i) {
      RaceTag& tag = buffer.tags[index * buffer.element_bytes + i];
      if (tag.write_epoch == epoch && tag.writer != thread) {
        report(buffer, index, i, tag.writer, "writes");
      } else if (tag.read_epoch == epoch && tag.reader != thread) {
        report(buffer, index, i, tag.reader, "overwrites");
      }
      tag.writer = thread;
      tag.write_epoch = epoch;
    }
    return index;
  }

  void report(
      const RaceTags& buffer, nvfuser_index_t index, int byte, int other, const char* verb) const {
    runtime->report_race(
        runtime, buffer.name, index + byte / buffer.element_bytes, other, thread, verb);
  }
};
