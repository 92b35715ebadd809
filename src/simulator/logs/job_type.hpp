// SPDX-License-Identifier: MIT
// By which fields of a log jobs are of the same type: those that would need the same initialisation
// ([packet]: "jobs of the same type from one user").
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/names.hpp"
#include "common/result.hpp"

namespace elastic::simulator {

// Of SWF the fields 12 to 16; of sacct the columns User or UID, Group or GID, JobName, QOS,
// Partition.
enum class TypeField { user, group, executable, queue, partition };
constexpr auto names(TypeField) {
    return std::to_array<std::string_view>({"user", "group", "executable", "queue", "partition"});
}
inline constexpr std::size_t kTypeFields = names(TypeField{}).size();
using elastic::to_string;

// Jobs that agree in all of these are of one type; with none no job has a type.
using TypeRule = std::vector<TypeField>;

// By which jobs are of one program (Workload's Job::program).
inline TypeRule program_rule() {
    return {TypeField::user, TypeField::executable};
}

// "user,executable": each at most once.
Result<TypeRule> parse_type_rule(std::string_view);
std::string to_string(const TypeRule&);

// Numbers the types of a log.
class TypeBook {
  public:
    explicit TypeBook(TypeRule rule) : rule_(std::move(rule)) {}

    const TypeRule& rule() const { return rule_; }
    // Of a job with these fields by the rule, nothing where the log does not say: -1 if one is not
    // known, or the rule has none.
    int type_of(const std::array<std::optional<std::string_view>, kTypeFields>& fields);
    // By type, for people: "17, 3".
    std::vector<std::string> take_names() { return std::move(names_); }

  private:
    TypeRule rule_;
    std::unordered_map<std::string, int> types_;  // by the fields, a line each
    std::vector<std::string> names_;
};

}  // namespace elastic::simulator
