// The network that learns digits.
#pragma once

#include <vector>

#include "core/nn/nn.h"

namespace xlaprof::examples {

struct Net : lazy::nn::Module {
  lazy::nn::Conv2d conv1{1, 10, 5}, conv2{10, 20, 5};
  lazy::nn::Linear fc1{320, 50}, fc2{50, 10};

  // Returns logarithms of probabilities [N, 10] for images [N, 1, 28, 28]. Fills `layers`, if
  // given, with the layers' outputs.
  lazy::Tensor operator()(const lazy::Tensor& images,
                          std::vector<lazy::Tensor>* layers = nullptr) const {
    const lazy::Tensor pool1 = max_pool2d(conv1(images), 2), relu1 = relu(pool1);
    const lazy::Tensor pool2 = max_pool2d(conv2(relu1), 2), relu2 = relu(pool2);
    const lazy::Tensor hidden = fc1(relu2.flatten(1)), relu3 = relu(hidden);
    if (layers != nullptr) *layers = {pool1, relu1, pool2, relu2, hidden, relu3};
    return log_softmax(fc2(relu3), 1);
  }
  std::vector<lazy::nn::Part> parts() override {
    return {{"conv1", conv1}, {"conv2", conv2}, {"fc1", fc1}, {"fc2", fc2}};
  }
};

}  // namespace xlaprof::examples
