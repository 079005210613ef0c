// Asynchronous copies as the check for races knows them. Here a copy has ended when its statement
// has; the check notes what threads would have to do on a GPU before they may touch its elements.
//
//   copies in    groups of copies, which a thread commits and waits for. The group of a thread
//                (cp.async) is seen by that thread when it has waited, by others after a barrier
//                that follows. The group of a block (bulk copies) is seen by each thread that has
//                waited. Stages that are handed back are counted elsewhere (race_check.h).
//   copies out   bulk copies read through the async proxy: what a thread wrote they see after a
//                fence of that thread, and a barrier. They read until their thread has waited for
//                reads; what they read may change after that, and a barrier. They write until it
//                has waited for stores, as it has before its block ends.
//
// All of these are events of one thread that others know after the next barrier.
// provides: RaceRule RaceGroups RaceHistory RaceThread
#pragma once

/// The rule that an access breaks. The host is told its number.
enum class RaceRule : int { barrier, fence, arrival, store, end_of_store };

/// Who counts the groups of a copy: nobody, the thread that copies, or the block.
enum class RaceGroups : int { none, of_thread, of_block };

/// Events of one kind, numbered from 1 on, and since which barrier each has happened.
struct RaceHistory {
  static constexpr int kKept = 32;
  long long count;
  long long epochs[kKept];

  void add(long long epoch) {
    ++count;
    epochs[count % kKept] = epoch;
  }
  bool has(long long event) const {
    return event <= count;
  }
  /// 0: longer ago than all that are kept. Requires: it has happened.
  long long epoch_of(long long event) const {
    return event + kKept <= count ? 0 : epochs[event % kKept];
  }
};

/// What a thread has done. All are 0 when a block begins.
struct RaceThread {
  RaceHistory fences;
  RaceHistory store_waits;
  RaceHistory arrived_of_thread; // groups that it has waited for
  RaceHistory arrived_of_block;
  long long committed_of_thread; // groups that it has committed
  long long committed_of_block;
  long long store;    // number of the wait that its last store needs; 0: it has stored nothing
  const char* stored; // the buffer
  bool is_storing;    // since its last wait for what stores write

  RaceHistory& arrived(RaceGroups groups) {
    return groups == RaceGroups::of_block ? arrived_of_block : arrived_of_thread;
  }
  long long& committed(RaceGroups groups) {
    return groups == RaceGroups::of_block ? committed_of_block : committed_of_thread;
  }
  /// Wait for all groups but the youngest `keep`.
  void wait(RaceGroups groups, int keep, long long epoch) {
    while (arrived(groups).count < committed(groups) - keep) {
      arrived(groups).add(epoch);
    }
  }
};
