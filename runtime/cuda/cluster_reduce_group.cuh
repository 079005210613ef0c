// Several reductions over the same threads of a cluster, with the barrier of one.
//
// provides: cluster_reduce_group
// requires: types reduce_ops group cluster_reduce
#pragma once

/// As cluster_reduce, for each value: `outs` are references, `Op` is a GroupCombine.
template <unsigned kBlocks, bool kX, bool kY, bool kZ, typename Op, typename... T>
NVF_FUNCTION void cluster_reduce_group(
    const Group<T&...>& outs,
    const typename Exactly<Group<T...>>::Type& in,
    const typename Exactly<Group<T...>>::Type& init,
    bool read,
    void* scratch,
    ClusterTurns& turns) {
  const Group<T...> all =
      combine_in_cluster<kBlocks, kX, kY, kZ>(read ? in : init, init, Op(), scratch, turns);
  store_group(outs, Op()(load_group(outs), all));
}
