// SPDX-License-Identifier: MIT
// How a job scales, by what it says before and behind its resizes.
#include "controller/scaling.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using core::SpeedupModel;

namespace {

// An application that knows its remaining time, and tells it in each ten seconds.
class Application {
  public:
    Application(SpeedupModel truth, int nodes) : truth_(truth), nodes_(nodes) { go_on(); }

    void go_on() {
        for (int i = 0; i < 3; ++i) {
            now_ += 10;
            work_ -= 10 / time(nodes_);
            scaling.say_progress(now_, nodes_, work_ * time(nodes_));
        }
    }
    void resize(int nodes, Duration cost = 0) {
        now_ += 4;
        work_ -= 4 / time(nodes_);
        if (nodes < nodes_) now_ += cost;
        scaling.resize(now_, nodes_, nodes, cost);
        if (nodes > nodes_) now_ += cost;
        nodes_ = nodes;
        go_on();
    }

    Scaling scaling;

  private:
    double time(int nodes) const { return truth_.relative_time(nodes, 1); }

    SpeedupModel truth_;
    int nodes_;
    Time now_ = 1000;
    double work_ = 10000;
};

constexpr SpeedupModel kLinear{};

}  // namespace

TEST(before_two_sizes_were_seen_the_declared_model_holds) {
    Application application({.a = 0.3}, 4);
    check_eq(application.scaling.measured(), 0);
    const SpeedupModel downey{.kind = SpeedupModel::Kind::downey, .a = 12, .b = 0.5};
    check_that(application.scaling.model(downey) == downey);
}

TEST(one_resize_tells_the_serial_share) {
    for (const double rho : {0.0, 0.05, 0.3, 1.0})
        for (const int to : {1, 2, 5, 8, 64}) {
            Application application({.a = rho}, 4);
            application.resize(to, 30);
            check_eq(application.scaling.measured(), 1);
            const SpeedupModel model = application.scaling.model(kLinear);
            check_that(model.kind == SpeedupModel::Kind::rho);
            check_near(model.a, rho, 1e-6);
        }
}

TEST(the_exponent_is_fitted_where_it_is_declared) {
    const SpeedupModel truth{.kind = SpeedupModel::Kind::power, .a = 0.25};
    Application application(truth, 4);
    application.resize(8);
    application.resize(2, 10);
    const SpeedupModel model =
        application.scaling.model({.kind = SpeedupModel::Kind::power, .a = 0.9});
    check_that(model.kind == truth.kind);
    check_near(model.a, truth.a, 1e-6);
}

TEST(a_declared_model_without_rho_gives_way) {
    Application application({.a = 0.2}, 4);
    application.resize(8);
    const SpeedupModel model =
        application.scaling.model({.kind = SpeedupModel::Kind::downey, .a = 12, .b = 0.5});
    check_that(model.kind == SpeedupModel::Kind::rho);
    check_near(model.a, 0.2, 1e-6);
}

// A job of Downey's model: the fit is right between the sizes at which the job ran.
TEST(a_fit_lies_near_what_was_seen) {
    const SpeedupModel truth{.kind = SpeedupModel::Kind::downey, .a = 20, .b = 0.5};
    Application application(truth, 4);
    for (const int to : {8, 6, 4}) application.resize(to);
    const SpeedupModel model = application.scaling.model(kLinear);
    check_near(core::rescale(1, 4, 8, model, 4), core::rescale(1, 4, 8, truth, 4), 0.02);
}

TEST(nobody_is_faster_than_linear_or_slower_with_more_nodes) {
    Scaling scaling;
    scaling.say_progress(0, 2, 100);
    scaling.resize(0, 2, 4, 0);
    scaling.say_progress(0, 4, 10);
    check_eq(scaling.model(kLinear).a, 0.0);
    scaling.resize(0, 4, 2, 0);
    scaling.resize(0, 2, 4, 0);
    scaling.say_progress(0, 4, 10);  // nothing was said with 2 nodes
    check_eq(scaling.measured(), 1);
    scaling = {};
    scaling.say_progress(0, 2, 100);
    scaling.resize(0, 2, 4, 0);
    scaling.say_progress(0, 4, 500);
    check_eq(scaling.model(kLinear).a, 1.0);
}

TEST(the_newest_word_of_two_sizes_counts) {
    Scaling scaling;
    scaling.say_progress(0, 2, 100);
    scaling.resize(0, 2, 4, 0);
    scaling.say_progress(0, 4, 100);  // it does not know yet
    check_eq(scaling.model(kLinear).a, 1.0);
    scaling.say_progress(10, 4, 40);
    check_eq(scaling.model(kLinear).a, 0.0);
    check_eq(scaling.measured(), 1);
}

TEST(words_on_both_sides_of_an_interruption_do_not_compare) {
    Scaling scaling;
    scaling.say_progress(0, 2, 100);
    scaling.resize(0, 2, 4, 0);
    scaling.interrupt();
    scaling.say_progress(500, 4, 50);
    check_eq(scaling.measured(), 0);
}

TEST(words_at_the_end_of_a_job_tell_nothing) {
    Scaling scaling;
    scaling.say_progress(0, 2, 3);
    scaling.resize(3, 2, 4, 0);
    scaling.say_progress(3, 4, 0);
    check_eq(scaling.measured(), 0);
    check_eq(scaling.model(kLinear).a, 0.0);
}
