// Several reductions over the same threads of a block, with the barriers of one.
//
// provides: block_reduce_group
// requires: types reduce_ops group block_reduce
#pragma once

/// As block_reduce, for each value: `outs` are references, `Op` is a GroupCombine. Scratch: as many
/// values of the widest type per thread.
template <bool kX, bool kY, bool kZ, bool kWarps, typename Op, typename... T>
NVF_FUNCTION void block_reduce_group(
    const Group<T&...>& outs,
    const typename Exactly<Group<T...>>::Type& in,
    const typename Exactly<Group<T...>>::Type& init,
    bool read,
    void* scratch) {
  const Group<T...> all = combine_in_block<kX, kY, kZ, kWarps>(read ? in : init, Op(), scratch);
  store_group(outs, Op()(load_group(outs), all));
}
