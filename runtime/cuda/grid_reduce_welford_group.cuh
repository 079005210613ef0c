// Several Welfords over the same blocks, with the barrier of one.
//
// provides: grid_reduce_welford_group grid_allreduce_welford_group
// requires: types vector welford grid_reduce
#pragma once

template <unsigned kSize, typename T, typename Count>
struct WelfordGroup {
  Welford<T, Count> each[kSize];
};

template <typename T, typename Count>
struct WelfordRefs {
  T& mean;
  T& deviation;
  Count& count;
};

/// The triples of a slot lie together, in words of 8 bytes: a vector of them is one access.
template <unsigned kSize, typename T, typename Count>
struct WelfordGroupPartials {
  static constexpr int kWords = sizeof(Welford<T, Count>) / sizeof(int64_t);
  static constexpr int kLanes = kWords % 2 == 0 ? 2 : 1;
  static_assert(sizeof(Welford<T, Count>) % sizeof(int64_t) == 0);
  int64_t* data;

  NVF_FUNCTION int64_t* words_of(uint64_t index, unsigned i) const {
    return data + (index * kSize + i) * kWords;
  }
  NVF_FUNCTION void store(uint64_t index, const WelfordGroup<kSize, T, Count>& values) const {
#pragma unroll
    for (unsigned i = 0; i < kSize; ++i) {
      alignas(16) int64_t words[kWords];
      memcpy(words, &values.each[i], sizeof(words));
#pragma unroll
      for (int word = 0; word < kWords; word += kLanes) {
        store_vector<kLanes, Cache::AllLevels>(words_of(index, i) + word, &words[word]);
      }
    }
  }
  NVF_FUNCTION WelfordGroup<kSize, T, Count> load(uint64_t index) const {
    WelfordGroup<kSize, T, Count> values;
#pragma unroll
    for (unsigned i = 0; i < kSize; ++i) {
      alignas(16) int64_t words[kWords];
#pragma unroll
      for (int word = 0; word < kWords; word += kLanes) {
        load_vector<kLanes, Cache::Global>(&words[word], words_of(index, i) + word);
      }
      memcpy(&values.each[i], words, sizeof(words));
    }
    return values;
  }
};

struct WelfordGroupCombine {
  template <unsigned kSize, typename T, typename Count>
  NVF_FUNCTION WelfordGroup<kSize, T, Count> operator()(
      const WelfordGroup<kSize, T, Count>& a, const WelfordGroup<kSize, T, Count>& b) const {
    WelfordGroup<kSize, T, Count> all;
#pragma unroll
    for (unsigned i = 0; i < kSize; ++i) {
      all.each[i] = WelfordCombine()(a.each[i], b.each[i]);
    }
    return all;
  }
};

template <unsigned kSize, typename T, typename Count>
NVF_FUNCTION WelfordGroup<kSize, T, Count> load_welfords(
    const WelfordRefs<T, Count> (&from)[kSize]) {
  WelfordGroup<kSize, T, Count> values;
#pragma unroll
  for (unsigned i = 0; i < kSize; ++i) {
    values.each[i] = {from[i].mean, from[i].deviation, from[i].count};
  }
  return values;
}
template <unsigned kSize, typename T, typename Count>
NVF_FUNCTION void store_welfords(
    const WelfordRefs<T, Count> (&to)[kSize], const WelfordGroup<kSize, T, Count>& values) {
#pragma unroll
  for (unsigned i = 0; i < kSize; ++i) {
    to[i].mean = values.each[i].mean;
    to[i].deviation = values.each[i].deviation;
    to[i].count = values.each[i].count;
  }
}

template <unsigned kSize, typename T, typename Count>
NVF_FUNCTION WelfordGroup<kSize, T, Count> contributed(
    const Welford<T, Count> (&ins)[kSize], bool read) {
  WelfordGroup<kSize, T, Count> values = {};
#pragma unroll
  for (unsigned i = 0; read && i < kSize; ++i) {
    values.each[i] = ins[i];
  }
  return values;
}

/// As grid_reduce, for each triple.
template <typename Shape, unsigned kSize, typename T, typename Count, typename C>
NVF_FUNCTION bool grid_reduce_welford_group(
    const WelfordRefs<T, Count> (&outs)[kSize],
    const Welford<T, Count> (&ins)[kSize],
    bool read,
    int64_t* partials,
    C* counters,
    uint64_t entrance) {
  const WelfordGroup<kSize, T, Count> none = {};
  WelfordGroup<kSize, T, Count> all = load_welfords(outs);
  const bool is_last = Shape::reduce(
      all, contributed(ins, read), none, WelfordGroupCombine(),
      WelfordGroupPartials<kSize, T, Count>{partials}, counters, entrance);
  store_welfords(outs, all);
  return is_last;
}

template <typename Shape, unsigned kSize, typename T, typename Count, typename C>
NVF_FUNCTION void grid_allreduce_welford_group(
    const WelfordRefs<T, Count> (&outs)[kSize],
    const Welford<T, Count> (&ins)[kSize],
    bool read,
    int64_t* partials,
    C* counters,
    uint64_t entrance) {
  const WelfordGroup<kSize, T, Count> none = {};
  WelfordGroup<kSize, T, Count> all = load_welfords(outs);
  Shape::allreduce(
      all, contributed(ins, read), none, WelfordGroupCombine(),
      WelfordGroupPartials<kSize, T, Count>{partials}, counters, entrance);
  store_welfords(outs, all);
}
