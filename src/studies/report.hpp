// SPDX-License-Identifier: MIT
// The folder of a reproduction: figures, tables, and a page that sets what the
// paper says beside what came out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "studies/plot.hpp"
#include "studies/table.hpp"

namespace elastic::studies {

enum class Verdict { confirmed, partly, not_confirmed };
std::string_view to_string(Verdict);

// A statement of a paper, and what the numbers say of it.
struct Finding {
    std::string place;      // "section 5.3, figure 7"
    std::string statement;  // in our words
    Verdict verdict = Verdict::not_confirmed;
    std::string outcome;  // with the numbers, and the likely reason where it did not come out
};

// How many of some cases a statement holds for.
struct Tally {
    int holds = 0, of = 0;
    void count(bool it_does) { holds += it_does ? 1 : 0, ++of; }
    double share() const { return of > 0 ? static_cast<double>(holds) / of : 0; }
};
std::string to_string(const Tally&);  // "97 of 108"

// "In all cases": confirmed if all do, partly if at least half, else not.
Verdict in_all(const Tally&);
// "In most cases": confirmed if more than half do, partly if at least a quarter, else not.
Verdict in_most(const Tally&);
// A statement of several parts: confirmed if all are, not if none is even partly.
Verdict all_of(const std::vector<Verdict>&);

Table to_table(const std::vector<Finding>&);

// Collects a page and writes what it shows, each file as a whole.  The first error
// is kept and told by finish().
class Report {
  public:
    // Makes the folder if it is not there.
    Report(std::string folder, std::string title);

    void heading(std::string_view);
    void text(std::string_view);
    void list(const std::vector<std::string>&);
    // NAME.svg, NAME.csv, and the image on the page.
    void figure(const std::string& name, const Figure&);
    // An image that somebody else drew.
    void image(const std::string& name, std::string_view svg, std::string_view title);
    // NAME.csv, NAME.txt, and the table on the page if it is short.
    void table(const std::string& name, std::string_view title, const Table&);
    // findings.csv, and on the page.
    void findings(const std::vector<Finding>&);

    // Writes index.html.
    Result<void> finish();

  private:
    void write(const std::string& name, std::string_view content);

    std::string folder_, title_, body_;
    Result<void> written_;
};

}  // namespace elastic::studies
