// Tests who runs the work that is queued for a device: its own thread, or any thread that waits for
// it. Work runs one at a time and in order.
#include "core/exec/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "core/exec/data.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"

namespace xlaprof::lazy {
namespace {

const std::thread::id kMain = std::this_thread::get_id();

Device& DeviceOfNull() {
  static Device& device = *new Device("NULL:0", MakeNullBackend());
  return device;
}
Ref<Data> OnItsWay() { return MakeRef<Data>(Shape{DType::kF32, {}}, DeviceOfNull()); }

// Many tries are needed, because the device's thread may come first if earlier work woke it.
constexpr int kTries = 1000;

TEST(Device, WhoWaitsRunsWhatIsQueued) {
  Device& device = DeviceOfNull();
  int on_this_thread = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<int> ran;
    const Ref<Data> first = OnItsWay(), second = OnItsWay();
    for (const Ref<Data>& data : {first, second}) {
      device.Enqueue(
          [&, data] {
            ran.push_back(data == first ? 1 : 2);
            on_this_thread += std::this_thread::get_id() == kMain;
            data->Set(nullptr);
          },
          /*caller_waits=*/true);
    }
    device.RunUntil(*second);
    ASSERT_TRUE(second->Wait().ok());
    device.WaitForAll();
    ASSERT_THAT(ran, testing::ElementsAre(1, 2));
  }
  EXPECT_GT(on_this_thread, 0);
}

// Work that no thread waits for runs on the device's thread, and a thread that waits meanwhile
// sleeps.
TEST(Device, ItsThreadRunsTheRest) {
  Device& device = DeviceOfNull();
  std::latch begun(1), go_on(1);
  std::thread::id ran_on;
  const Ref<Data> data = OnItsWay();
  device.Enqueue([&] {
    ran_on = std::this_thread::get_id();
    begun.count_down();
    go_on.wait();
    data->Set(nullptr);
  });
  begun.wait();
  auto waits = std::async(std::launch::async, [&] {
    device.RunUntil(*data);
    return data->Wait();
  });
  go_on.count_down();
  EXPECT_TRUE(waits.get().ok());
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(Device, TasksOfManyThreadsRunOneAtATimeAndInTheirOrder) {
  Device& device = DeviceOfNull();
  constexpr int kThreads = 4, kTasks = 500;
  std::atomic<int> running{0}, most{0};
  std::vector<std::vector<int>> order(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTasks; ++i) {
        const Ref<Data> data = OnItsWay();
        const bool waits = (i + t) % 3 == 0;
        device.Enqueue(
            [&, data, t, i] {
              most = std::max(most.load(), ++running);
              order[size_t(t)].push_back(i);
              data->Set(nullptr);
              --running;
            },
            waits);
        if (!waits) continue;
        device.RunUntil(*data);
        EXPECT_TRUE(data->Wait().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  device.WaitForAll();
  EXPECT_EQ(most, 1);
  for (const std::vector<int>& of_thread : order) {
    EXPECT_EQ(of_thread.size(), size_t(kTasks));
    EXPECT_TRUE(std::is_sorted(of_thread.begin(), of_thread.end()));
  }
}

// Fills the queue with work for which nobody was woken.
TEST(Device, AFullQueueIsEmptied) {
  Device& device = DeviceOfNull();
  int ran = 0;
  for (int i = 0; i < 20; ++i) device.Enqueue([&] { ++ran; }, /*caller_waits=*/true);
  device.WaitForAll();
  EXPECT_EQ(ran, 20);
}

TEST(Device, IsFoundByItsName) {
  static Device& made = *new Device("OWN:0", MakeNullBackend());
  static Device& same = *new Device("OWN:0", MakeNullBackend());
  EXPECT_EQ(Device::Find("OWN:0"), &made);
  EXPECT_NE(&same, &made);
  EXPECT_EQ(&Device::Named(Device::Default().name()), &Device::Default());
  EXPECT_EQ(&Device::Named("cpu"), &Device::Host());
  EXPECT_EQ(Device::Find("OWN:1"), nullptr);
  EXPECT_THROW(Device::Named("OWN:1"), Error);
  EXPECT_THAT(Device::Names(), testing::ContainsRegex("CPU:0, cpu.* and OWN:0"));
}

// The work counts as the device's, whichever thread runs it.
TEST(Device, AReadIsRunByItsReaderForTheDevice) {
  struct : Listener {
    std::atomic<int> inside = 0, left = 0, on_this_thread = 0;
    void EnterDevice(std::string_view device) override {
      EXPECT_EQ(device, "NULL:0");
      ++inside;
      on_this_thread += std::this_thread::get_id() == kMain;
    }
    void LeaveDevice() override { ++left; }
  } listener;
  const Tensor x = zeros({3}, DType::kF32, DeviceOfNull());
  DeviceOfNull().WaitForAll();
  observe::observer = &listener;
  for (int i = 0; i < kTries; ++i) (x + 1).to_cpu();
  DeviceOfNull().WaitForAll();
  observe::observer = nullptr;
  EXPECT_EQ(listener.inside, kTries);
  EXPECT_EQ(listener.left, kTries);
  EXPECT_GT(listener.on_this_thread, 0);
}

}  // namespace
}  // namespace xlaprof::lazy
