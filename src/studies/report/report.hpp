// SPDX-License-Identifier: MIT
// The folder of a reproduction: figures, tables, and a page that sets what the paper says beside
// what came out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "studies/report/plot.hpp"
#include "studies/report/table.hpp"

namespace elastic::studies {

enum class Verdict { confirmed, partly, not_confirmed, undecided };
std::string_view to_string(Verdict);

// A statement of a paper, and what the numbers say of it.
struct Finding {
    std::string place;      // "section 5.3, figure 7"
    std::string statement;  // in our words
    Verdict verdict = Verdict::not_confirmed;
    std::string outcome;      // with the numbers
    std::string reason = {};  // if it did not come out: the run that shows why; "": none does
};

// What runs say of a question: nothing where the answer is within the error of measurement.
enum class Answer { no, yes, undecided };
Answer answer(bool);
Answer opposite(Answer);
// No if any is no, yes if all are yes.
Answer both(Answer, Answer);
Verdict verdict(Answer);
inline Verdict verdict(bool holds) {
    return verdict(answer(holds));
}

// Of two things measured on the same workloads, a value for each seed: the mean of a - b, and twice
// the standard error of that mean, which has no bound for a single seed.
struct Difference {
    double mean = 0, error = 0;
};
Difference difference(const std::vector<double>& a, const std::vector<double>& b);
// Whether the difference is positive, or of no more than `most`, either way.
Answer is_positive(const Difference&);
Answer is_within(const Difference&, double most);

double mean_of(const std::vector<double>&);

// How many of some cases a statement holds for, and of how many nobody can tell.
struct Tally {
    int holds = 0, of = 0, undecided = 0;
    void count(Answer);
    void count(bool it_does) { count(answer(it_does)); }
    double share() const { return of > 0 ? static_cast<double>(holds) / of : 0; }
};
std::string to_string(const Tally&);  // "97 of 108 (3 undecided)"

// "In all cases": confirmed if all do, partly if at least half, undecided if more than half are and
// none fails, else not.
Verdict in_all(const Tally&);
// "In most cases": confirmed if more than half do, undecided if the undecided ones could make them
// so, partly if at least a quarter, else not.
Verdict in_most(const Tally&);
// Numbers that a paper prints, in every study by this rule: confirmed if ours are near every one of
// them, not if near none, else partly.
Verdict every_value(const Tally&);
// How many of such numbers ours are within a factor of, and by what factor the others are off.
struct Nearness {
    Tally tally;
    double least_off = 0, most_off = 0;
    void count(double ours, double paper, double factor);
};
std::string to_string(const Nearness&);  // "25 of 35, the others off by 3.6 to 14.6 times"
// A statement of several parts: confirmed if all are, undecided if all are, not if none is even
// partly, else partly.
Verdict all_of(const std::vector<Verdict>&);

// The findings of the same study read in another way, in the same order.
struct Variant {
    std::string name;
    std::vector<Finding> findings;
};
// What is not confirmed, or partly, gets the runs that explain it: the variants in which it is
// confirmed, else its reason; or says that nothing does.
void explain(std::vector<Finding>&, const std::vector<Variant>&);
// The verdicts side by side, a column for each variant behind the first.
Table side_by_side(const std::string& first, const std::vector<Finding>&,
                   const std::vector<Variant>&);

Table to_table(const std::vector<Finding>&);

// Collects a page and writes what it shows, each file as a whole.  The first error is kept and told
// by finish().
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
