#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzers/report/report_sample.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportMarkdown, TellsAll) {
  EXPECT_EQ(
      ReportMarkdown(SampleReport(), {}),
      R"(**xlaprof 0.1.0**: /runs/7: 2 files (debug_log, xspace; 1.24 MB), run 2026_11_21, 10 steps, window of 1 s

first step 400 ms, warm-up step 200 ms, steady step 60 ms (median of 8; the longest takes 90 ms)

10 steps, 7 compilations, 10 executions (1 a step)

of the 1 s in the window (activities overlap): tracing 100 ms, compile 500 ms, device busy 250 ms, device idle 750 ms

| where a step goes | time | mean of 8 steady steps, 60 ms; what the device does overlaps the rest |
| --- | ---: | ---: |
| tracing | 45 ms | 75 % |
| your code | 15 ms | 25 % |
| device busy | 20 ms | 33 % |
| device idle | 40 ms | 67 % |

### 1. compiled 5 times after warm-up

warning · recompilation · /home/u/train.py:7, in step

**Why**: shape_change, ongoing: the batch varies

```diff
  xla::device_data, near train.py:7
- f32[64,784]
+ f32[48,784]
```

**Cost**: 400 ms, 40 ms a step, 67 % of a steady step: measured

**Saves**: about 380 ms: one compile stays

**Fix**: Pad the last batch.

### 2. a value is read

warning · sync_point · /home/u/train.py:9

**Cost**: unmeasured: no profile

**Fix**: Pad the last batch.

<details><summary>Also seen: 2</summary>

| kind | what | where | advice |
| --- | --- | --- | --- |
| slow_compile | 7 graphs took 500 ms |  |  |
| incomplete_capture | no source holds the graphs |  | Dump them. |

</details>

<details><summary>Which file saw what, and 1 issue in the input</summary>

| file | format | steps | compiles | executions | transfers | events | note |
| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| log.txt | debug_log | 10 | 7 | 10 | - | - |  |
| tb/vm.xplane.pb | xspace | 10 | 7 | 10 | - | 12,345 |  |

- slowed the run: ir_debug: frames in the dump

- warning: log.txt:120: cut_block, 2 times: a block ends early
- not read: tb/vm.trace.json.gz: made from another file
- not read: notes.md: not recognised: looks like text

</details>
)");
}

TEST(ReportMarkdown, NamesStayText) {
  std::string text = ReportMarkdown(HostileReport(), {});
  // Outside of fences, no hostile text may become HTML, a mention, a link or the end of a cell.
  bool fenced = false;
  std::string fence, prose;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!fenced && line.starts_with("```")) {
      fenced = true;
      fence = line.substr(0, line.find_first_not_of('`'));
    } else if (fenced && line == fence) {
      fenced = false;
    } else if (!fenced) {
      prose += line + "\n";
    }
  }
  EXPECT_FALSE(fenced);
  EXPECT_THAT(prose, Not(HasSubstr("<script")));
  EXPECT_THAT(prose, Not(HasSubstr("@team")));
  EXPECT_THAT(prose, Not(HasSubstr("https://evil")));
  EXPECT_THAT(prose, Not(HasSubstr("[a](b)")));
  EXPECT_THAT(prose, Not(HasSubstr("`")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  auto count = [&](std::string_view what) {
    int n = 0;
    for (size_t at = prose.find(what); at != std::string::npos; at = prose.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("</details>"), 2);
  EXPECT_EQ(count("<details>"), 2);
}

TEST(ReportMarkdown, CleanRunSaysSo) {
  EXPECT_THAT(ReportMarkdown(CleanReport(), {}), HasSubstr("Nothing found that needs fixing"));
}

}  // namespace
}  // namespace xlaprof
