// The result of every reader of a printed graph, and functions for nested text: brackets of all
// kinds, and quotes around text that may hold brackets. No function here recurses.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

// One graph, read from its text. Parts that could not be read are counted in `oddities` and left
// out.
struct GraphText {
  PrintedForm printed_as = PrintedForm::kUnknown;
  std::string name;  // name of the module; "" if the form has none
  // graph_id is 0 and idx is counted from 0; operands come before their users.
  std::vector<GraphNodeRow> nodes;
  OptInt input_count, output_count;  // NULL if the form does not show it
  Store::Frame call_site;            // call of the jitted function; no file if it is not shown
  // True if scopes, locations or metadata are printed: recorded with XLA_IR_DEBUG or XLA_HLO_DEBUG.
  bool shows_debug = false;

  struct Oddity {
    int64_t count = 0, offset = 0, line = 0;  // place of the first; line from 0 where the text
                                              // begins
  };
  std::map<std::string, Oddity> oddities;
  void Odd(const char* code, int64_t offset, int64_t line);
};

// Returns a number that is equal for graphs that compute the same results. It covers op, shape and
// attributes of each node, followed from the results back to the inputs. Names, scopes, locations,
// the order of printing and whether a value is printed once or computed twice do not count, as they
// do not in torch_xla's own hash.
uint64_t ContentHash(const GraphText& graph);

// Returns a replacement for a long literal: "#" and FNV-1a of its bytes as they are in the file,
// so that the same literal gives the same text on every machine.
std::string HashOfLiteral(std::string_view bytes);

// Finds the nodes that have been printed, by name.
class NodeNames {
 public:
  // Adds a node. `name` must stay valid as long as this object. Returns false if the name was there
  // already; the later node counts from now on.
  bool Add(std::string_view name, int64_t idx) { return names_.insert_or_assign(name, idx).second; }
  int64_t Find(std::string_view name) const {  // -1: not printed so far
    auto found = names_.find(name);
    return found == names_.end() ? -1 : found->second;
  }
  void Clear() { names_.clear(); }
  void Reserve(size_t count) { names_.reserve(count); }

 private:
  absl::flat_hash_map<std::string_view, int64_t> names_;
};

// Returns the place of the first `stop` from `from` on that is outside brackets and, with `quotes`,
// outside "strings"; npos if there is none. If `from` follows an opening bracket, a closing bracket
// as `stop` is its partner.
size_t FindOutside(std::string_view text, size_t from, char stop, bool quotes);

// Takes the part before the next comma outside brackets (and quotes) off `rest`, and returns it
// without spaces at its ends.
std::string_view TakePiece(std::string_view* rest, bool quotes);

// Appends the attributes of a parameter that the caller determines. donated=1 says that the caller
// donates its memory and result 1 takes it; a negative `donated` is written as none, if no result
// does. argument="state['w']" is JAX's name of the argument, which it writes as the op_name.
void AppendParameter(OptInt donated, std::string_view op_type, std::string_view op_name,
                     std::string& attributes);

// Appends to a list, with ", " or another separator between the pieces.
void AppendTo(std::string& list, std::string_view piece, std::string_view separator = ", ");

}  // namespace xlaprof
