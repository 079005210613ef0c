// Values that travel together: one step of a tree, one barrier, serves all of them.
//
// requires: types
#pragma once

template <typename... T>
struct Group;
template <typename T>
struct Group<T> {
  T value;
};
template <typename T, typename... Rest>
struct Group<T, Rest...> {
  T value;
  Group<Rest...> rest;
};

template <typename... T>
NVF_FUNCTION Group<T&...> refs(T&... values) {
  return {values...};
}

template <typename T>
NVF_FUNCTION Group<T> load_group(const Group<T&>& from) {
  return {from.value};
}
template <typename T, typename... Rest>
NVF_FUNCTION Group<T, Rest...> load_group(const Group<T&, Rest&...>& from) {
  return {from.value, load_group(from.rest)};
}

template <typename T>
NVF_FUNCTION void store_group(const Group<T&>& to, const Group<T>& from) {
  to.value = from.value;
}
template <typename T, typename... Rest>
NVF_FUNCTION void store_group(const Group<T&, Rest&...>& to, const Group<T, Rest...>& from) {
  to.value = from.value;
  store_group(to.rest, from.rest);
}

/// A combiner for each value.
template <typename... Op>
struct GroupCombine;
template <typename Op>
struct GroupCombine<Op> {
  template <typename T>
  NVF_FUNCTION Group<T> operator()(const Group<T>& a, const Group<T>& b) const {
    return {Op()(a.value, b.value)};
  }
};
template <typename Op, typename... Rest>
struct GroupCombine<Op, Rest...> {
  template <typename T, typename... Others>
  NVF_FUNCTION Group<T, Others...> operator()(
      const Group<T, Others...>& a, const Group<T, Others...>& b) const {
    return {Op()(a.value, b.value), GroupCombine<Rest...>()(a.rest, b.rest)};
  }
};
