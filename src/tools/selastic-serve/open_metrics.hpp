// SPDX-License-Identifier: MIT
// What monitoring is given, in OpenMetrics or in the older text format of Prometheus.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json.hpp"

namespace elastic::tools {

enum class MetricsFormat { text, open_metrics };

class MetricsWriter {
  public:
    using Labels = std::vector<std::pair<std::string_view, std::string>>;
    enum class Type { gauge, counter, histogram };

    explicit MetricsWriter(MetricsFormat format) : format_(format) {}

    // What follows is of this family.  `name` is without the "_total" of a counter.
    void family(std::string_view name, Type type, std::string_view help);
    void value(const Labels&, double value);
    // {"buckets": [[bound, count], ...], "sum": ..., "count": ...}
    void histogram(const Labels&, const Json&);

    const std::string& text() const { return text_; }

  private:
    void sample(std::string_view suffix, const Labels&, double value);

    MetricsFormat format_;
    std::string text_;
    std::string name_;
    Type type_ = Type::gauge;
};

// Of a reply to `metrics`.
std::string controller_metrics(const Json& reply, MetricsFormat);

}  // namespace elastic::tools
