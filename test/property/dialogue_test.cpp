// SPDX-License-Identifier: MIT
// Whatever an application says and a scheduler does, whoever dies in between and whenever: the two
// agree in the end on what the job has, nothing stays in flight for ever, and the journal's checker
// finds nothing impossible (Theatre).
#include <algorithm>
#include <cstdio>
#include <random>

#include "common/hostlist.hpp"
#include "unit/theatre.hpp"

using namespace elastic;
using namespace elastic::testing;
using controller::AgreementEvent;
using controller::AgreementState;

namespace {

// At random: an application that mostly does what it should, a scheduler, and what befalls them.
class Walk {
  public:
    explicit Walk(std::uint64_t seed) : random_(seed) { theatre_.open(); }

    void go(int steps) {
        for (int i = 0; i < steps; ++i) {
            theatre_.now += 1;
            const int chance = below(16);
            if (chance < 5)
                application();
            else if (chance < 9)
                scheduler();
            else if (chance == 9)
                fault();
            else
                for (int turns = below(8); turns >= 0; --turns) turn();
        }
    }

    // Whatever happened, this works then.
    void end() {
        theatre_.now += 1000;  // what was asked for in vain is forgiven
        theatre_.kill();
        theatre_.start();
        until([&] { return client().connected() && theatre_.job().participation.connection; });
        if (is(AgreementState::offered) || is(AgreementState::accepted)) withdraw();
        until([&] { return !finish_what_is_in_flight() && they_agree(); });
        until([&] {
            if (is(AgreementState::queued)) return true;
            (void)finish_what_is_in_flight();
            (void)client().request(1, 1, 1000);
            return false;
        });
        until([&] { return client().cancel(0) == ELASTIC_OK; });
        until([&] { return !theatre_.agreement(); });
        resize();
    }

  private:
    libelastic::Client& client() { return *theatre_.client; }
    int below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
    bool is(AgreementState state) { return theatre_.agreement_is(state); }

    void turn() {
        theatre_.step();
        for (const auto& event : std::exchange(theatre_.events, {}))
            if (event.op != 0) last_ = event;
    }
    template <class Holds>
    void until(Holds holds) {
        while (!holds()) turn();
    }

    // ---- the application

    void application() {
        if (below(3) != 0)
            go_on();
        else
            say_anything();
    }
    // What libelastic(3) says that it does next.
    void go_on() {
        const bool is_offer =
            last_.type == ELASTIC_EVENT_OFFER_SHRINK || last_.type == ELASTIC_EVENT_OFFER_EXPAND;
        if (last_.type == ELASTIC_EVENT_OFFER_EXPAND && below(3) == 0)
            (void)client().accept_size(last_.op, 1 + below(last_.nodes));
        else if (is_offer)
            (void)client().accept(last_.op);
        else
            (void)client().done(last_.op);
    }
    // Whether it makes sense or not.
    void say_anything() {
        switch (below(7)) {
            case 0:
                (void)client().decline(last_.op, "no");
                break;
            case 1:
                (void)client().request(1 + below(3), 1, 1000);
                break;
            case 2:
                (void)client().release(1 + below(3), nullptr);
                break;
            case 3:
                (void)client().cancel(below(2) ? last_.op : 0);
                break;
            case 4:
                (void)client().accept(last_.op);
                (void)client().done(last_.op);
                break;
            case 5:
                (void)client().accept_size(last_.op, 1 + below(3));
                break;
            default:
                theatre_.open_another();
        }
    }

    // ---- the scheduler

    std::vector<std::string> held() { return *expand_hostlist(theatre_.job().node_list); }
    std::vector<std::string> idle() {
        std::vector<std::string> names = *expand_hostlist("n[1-15]");
        const auto used = held();
        std::erase_if(
            names, [&](const auto& name) { return std::ranges::find(used, name) != used.end(); });
        return names;
    }

    void scheduler() {
        if (const auto* agreement = theatre_.agreement())
            move(*agreement);
        else if (below(8) == 0)
            fail_node();
        else if (below(2))
            offer();
        theatre_.controller->step();
    }

    void offer() {
        controller::Job& job = theatre_.job();
        const int wanted = 1 + below(3);
        if (below(2) && job.nodes > wanted)
            offer_shrink(wanted);
        else if (job.nodes + wanted <= job.annotation.max)
            theatre_.offer_expand(wanted);
    }
    OpId offer_shrink(int nodes) {
        controller::Job& job = theatre_.job();
        const auto leaving = last_hosts(held(), job.batch_host, nodes);
        return theatre_.controller->negotiation
            .offer_shrink(job, compress_hostlist(leaving), nodes, 0, "", theatre_.now)
            .op;
    }
    void fail_node() {
        if (theatre_.job().nodes == 1) return;
        const auto failed = compress_hostlist(last_hosts(held(), theatre_.job().batch_host, 1));
        theatre_.change(failed, without_hosts(theatre_.job().node_list, failed),
                        theatre_.job().nodes - 1);
    }

    void move(const controller::Agreement& agreement) {
        const bool may_be_applied = agreement.kind == ResizeKind::expand
                                        ? is(AgreementState::accepted) || is(AgreementState::queued)
                                        : is(AgreementState::released);
        const int chance = below(16);
        if (chance < 12) {
            if (may_be_applied) apply(agreement);
        } else if (chance == 12) {
            pass_deadlines();
        } else if (chance == 13 && is(AgreementState::queued)) {
            theatre_.end(agreement.op, AgreementEvent::deny, "no");
        } else if (chance == 14 && (is(AgreementState::offered) || is(AgreementState::accepted))) {
            theatre_.end(agreement.op, AgreementEvent::cancel, "no");
        }
    }

    // Beyond its largest size a job is not granted anything.
    void apply(const controller::Agreement& agreement) {
        std::vector<std::string> nodes = held(), changed;
        if (agreement.kind == ResizeKind::shrink) {
            changed = *expand_hostlist(agreement.node_list);
            nodes = *expand_hostlist(without_hosts(theatre_.job().node_list, agreement.node_list));
        } else {
            changed = idle();
            changed.resize(static_cast<std::size_t>(agreement.nodes));
            nodes.insert(nodes.end(), changed.begin(), changed.end());
        }
        if (std::ssize(nodes) > theatre_.job().annotation.max)
            return theatre_.end(agreement.op, AgreementEvent::deny, "too many");
        theatre_.apply(compress_hostlist(changed), compress_hostlist(nodes),
                       static_cast<int>(nodes.size()));
    }

    void pass_deadlines() {
        theatre_.now += 60;
        theatre_.controller->negotiation.check_deadlines(theatre_.now);
    }

    // ---- faults

    void fault() {
        switch (below(5)) {
            case 0:  // it takes and saves all, and tells nobody any more
                theatre_.controller->mute = true;
                break;
            case 1:
                theatre_.stop();
                break;
            case 2:
                theatre_.kill();
                break;
            case 3:
                theatre_.controller->server.close(theatre_.job().participation.connection);
                return;
            default:
                if (below(4) != 0) return;
                theatre_.kill();
                theatre_.lose_state();
        }
        if (theatre_.controller) return;
        for (int turns = below(3); turns > 0; --turns) turn();
        theatre_.start();
    }

    // ---- the end

    // The application knows of it by now, whichever process that is. It may have said before that
    // the nodes are empty.
    void withdraw() {
        const OpId op = theatre_.agreement()->op;
        const auto is_over = [&] {
            return !theatre_.agreement() || theatre_.agreement()->op != op ||
                   is(AgreementState::released);
        };
        until([&] { return is_over() || client().cancel(op) == ELASTIC_OK; });
        until(is_over);
    }
    bool they_agree() {
        const auto names = [](const std::string& list) {
            return compress_hostlist(*expand_hostlist(list));
        };
        return client().view().nodes == theatre_.job().nodes &&
               names(client().view().node_list) == names(theatre_.job().node_list);
    }
    // False if there is nothing.
    bool finish_what_is_in_flight() {
        const controller::Agreement* agreement = theatre_.agreement();
        if (!agreement) return false;
        if (is(AgreementState::released))
            apply(*agreement);
        else if (is(AgreementState::applied))
            pass_deadlines();
        else
            theatre_.end(agreement->op, AgreementEvent::cancel, "it is over");
        return true;
    }
    void resize() {
        const bool grows = theatre_.job().nodes < theatre_.job().annotation.max;
        const OpId op = grows ? theatre_.offer_expand(1) : offer_shrink(1);
        until([&] { return last_.op == op; });
        check_eq(client().accept(op), ELASTIC_OK);
        if (!grows) check_eq(client().done(op), ELASTIC_OK);
        until([&] { return is(grows ? AgreementState::accepted : AgreementState::released); });
        apply(*theatre_.agreement());
        until([&] { return they_agree(); });
        if (grows) check_eq(client().done(op), ELASTIC_OK);
        until([&] { return !theatre_.agreement(); });
    }

    std::mt19937_64 random_;
    Theatre theatre_;
    libelastic::Event last_;  // about an operation, that the application was told
};

}  // namespace

TEST(an_application_and_a_controller_agree_in_the_end) {
    const std::uint64_t first = elastic::testing::seed();
    for (std::uint64_t seed = first; seed < first + 10; ++seed) {
        fmt::print("seed {}\n", seed);
        std::fflush(stdout);  // or nobody sees it if this one does not end
        Walk walk(seed);
        walk.go(300);
        walk.end();
    }
}
