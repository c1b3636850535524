// Operations in which all ranks take part. Ranks are the threads of a DataParallel or the processes
// of a launch(). Outside of both there is one rank, whose values stay as they are.
//
// All ranks must make the same collectives, in the same order, in the same graphs. If they do not,
// each rank gets an error that names two ranks, their steps and their graphs.
#pragma once

#include <span>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// The ranks that exchange values with each other, group by group. All groups have the same size,
// and each rank is in one. None: all ranks are one group.
using Groups = std::vector<std::vector<int64_t>>;

// Return the rank of a device, from 0 up, and the number of ranks.
int64_t global_ordinal(const Device& device = Device::Default());
int64_t world_size(const Device& device = Device::Default());
inline bool is_master_ordinal(const Device& device = Device::Default()) {
  return global_ordinal(device) == 0;
}

// Returns the combination of the ranks' tensors, times `scale`. All ranks get the same bits.
// Gradients flow through sums.
Tensor all_reduce(ReduceOp kind, const Tensor& x, double scale = 1, const Groups& groups = {},
                  Where where = Where::current());
// Does this in place for tensors of one device, in one exchange per type.
void all_reduce_(ReduceOp kind, std::span<Tensor> tensors, double scale = 1,
                 const Groups& groups = {}, Where where = Where::current());
// Returns the ranks' tensors, one after the other along `dim`.
Tensor all_gather(const Tensor& x, int64_t dim = 0, const Groups& groups = {},
                  Where where = Where::current());
// Returns this rank's part of what all_reduce would return: with R ranks, one of R equal parts along
// `dim`.
Tensor reduce_scatter(ReduceOp kind, const Tensor& x, double scale = 1, int64_t dim = 0,
                      const Groups& groups = {}, Where where = Where::current());
// Gives the tensors, in place, the values that they have on the rank `root`.
void collective_broadcast(std::span<Tensor> tensors, int64_t root = 0,
                          Where where = Where::current());
// Waits until all ranks have come here, and until their devices have done everything before.
void rendezvous(Device& device = Device::Default(), Where where = Where::current());

}  // namespace xlaprof::lazy
