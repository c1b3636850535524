// outside_lazy trains for a few steps on the lazy runtime, and prints the last loss.
#include <xlaprof/lazy.h>
#include <xlaprof/record.h>

#include <cstdio>

int main() {
  using namespace xlaprof::lazy;
  nn::Linear layer(4, 2);
  optim::SGD optimizer(layer.parameters(), /*lr=*/0.1);
  for (int step = 0; step < 3; ++step) {
    XLAPROF_TRACE("user's step");
    optimizer.zero_grad();
    Tensor loss = sum(layer(ones({8, 4})));
    loss.backward();
    optimizer.step();
    sync();  // the runtime's, not the system's
    std::printf("%f\n", loss.item());
  }
}
