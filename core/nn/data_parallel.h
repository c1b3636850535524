// Trains copies of a model on several devices, each in a thread of its own, as
// torch_xla.distributed.data_parallel does.
//
//   nn::DataParallel<Net> parallel(net);
//   parallel(train_loop, read_batch);  // an epoch
//
//   void train_loop(Net& net, PerDeviceLoader& loader, Device& device, nn::Context& context) {
//     auto& optimizer = context.Get<optim::SGD>("optimizer", net.parameters(), 0.1);
//     while (auto batch = loader.next()) { … optimizer_step(optimizer); }
//   }
#pragma once

#include <any>
#include <map>
#include <memory>
#include <string>

#include "core/nn/module.h"
#include "core/trace/eager.h"
#include "core/trace/loader.h"
#include "core/trace/ranks.h"

namespace xlaprof::lazy::nn {

// Keeps objects of a device's training loop from one epoch to the next.
class Context {
 public:
  // Returns the object of this name. At the first call, makes it from `args`.
  template <class T, class... Args>
  T& Get(const std::string& name, Args&&... args) {
    std::any& kept = kept_[name];
    if (!kept.has_value()) kept = std::make_shared<T>(std::forward<Args>(args)...);
    return **std::any_cast<std::shared_ptr<T>>(&kept);
  }

 private:
  std::map<std::string, std::any> kept_;
};

template <std::derived_from<Module> M>
class DataParallel {
 public:
  using Loop = std::function<void(M&, PerDeviceLoader&, Device&, Context&)>;

  // Copies the model to each device. Without devices, the model is trained on the CPU, each
  // operation at once and without a graph.
  explicit DataParallel(const M& model, std::vector<Device*> devices = AllDevices())
      : is_eager_(devices.empty()), devices_(std::move(devices)) {
    if (is_eager_) devices_ = {&Device::Host()};
    for (Device* device : devices_) {
      M copy = deepcopy(model);
      copy.to(*device);
      models_.push_back(std::move(copy));
    }
    contexts_.resize(devices_.size());
  }

  // Calls `loop` for each device with its copy of the model and its share of the batches. Raises
  // what the first of them raised.
  void operator()(const Loop& loop, ReadBatch read, size_t ahead = 8,
                  Where where = Where::current()) {
    ParallelLoader loader(std::move(read), devices_, ahead, where);
    const auto run = [&](int64_t rank, Device& device) {
      EagerMode eager(is_eager_);
      PerDeviceLoader batches(loader, device);
      loop(models_[size_t(rank)], batches, device, contexts_[size_t(rank)]);
    };
    run_ranks(devices_, run, where);
  }

  // Returns the devices' copies of the model, which are equal if they began so and each step
  // reduced its gradients.
  std::vector<M>& models() { return models_; }
  const std::vector<Device*>& devices() const { return devices_; }

 private:
  static std::vector<Device*> AllDevices() {
    const auto all = Device::Supported();
    return {all.begin(), all.end()};
  }

  const bool is_eager_;
  std::vector<Device*> devices_;
  std::vector<M> models_;
  std::vector<Context> contexts_;
};

}  // namespace xlaprof::lazy::nn
