// Several reductions over the same blocks, with the barrier of one.
//
// provides: grid_reduce_group grid_allreduce_group
// requires: types reduce_ops group grid_reduce
#pragma once

/// A buffer for each value.
template <typename... T>
struct GroupPartials;
template <typename T>
struct GroupPartials<T> {
  T* data;
  NVF_FUNCTION void store(uint64_t index, const Group<T>& values) const {
    data[index] = values.value;
  }
  NVF_FUNCTION Group<T> load(uint64_t index) const {
    return {load_partial(data + index)};
  }
};
template <typename T, typename... Rest>
struct GroupPartials<T, Rest...> {
  T* data;
  GroupPartials<Rest...> rest;
  NVF_FUNCTION void store(uint64_t index, const Group<T, Rest...>& values) const {
    data[index] = values.value;
    rest.store(index, values.rest);
  }
  NVF_FUNCTION Group<T, Rest...> load(uint64_t index) const {
    return {load_partial(data + index), rest.load(index)};
  }
};

/// As grid_reduce, for each value: `outs` are references, `Op` is a GroupCombine.
template <typename Shape, typename Op, typename C, typename... T>
NVF_FUNCTION bool grid_reduce_group(
    const Group<T&...>& outs,
    const typename Exactly<Group<T...>>::Type& in,
    const typename Exactly<Group<T...>>::Type& init,
    bool read,
    const typename Exactly<GroupPartials<T...>>::Type& partials,
    C* counters,
    uint64_t entrance) {
  Group<T...> all = load_group(outs);
  const bool is_last =
      Shape::reduce(all, read ? in : init, init, Op(), partials, counters, entrance);
  store_group(outs, all);
  return is_last;
}

template <typename Shape, typename Op, typename C, typename... T>
NVF_FUNCTION void grid_allreduce_group(
    const Group<T&...>& outs,
    const typename Exactly<Group<T...>>::Type& in,
    const typename Exactly<Group<T...>>::Type& init,
    bool read,
    const typename Exactly<GroupPartials<T...>>::Type& partials,
    C* counters,
    uint64_t entrance) {
  Group<T...> all = load_group(outs);
  Shape::allreduce(all, read ? in : init, init, Op(), partials, counters, entrance);
  store_group(outs, all);
}
