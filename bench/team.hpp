// SPDX-License-Identifier: Apache-2.0
//
// A few threads that each take one share of a job, again and again, with little cost between jobs.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace rownorm_bench {

class Team {
public:
    explicit Team(unsigned threads) : start_(threads), end_(threads) {
        for (unsigned member = 1; member < threads; member++)
            members_.emplace_back([this, member] { serve(member); });
    }

    ~Team() {
        job_ = nullptr;
        if (!members_.empty())
            start_.arrive_and_wait();
    }

    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;

    // Runs job(0), job(1), ... at once, the first on the calling thread; returns when all have.
    void run(const std::function<void(unsigned)> &job) {
        if (members_.empty())
            return job(0);
        job_ = &job;
        start_.arrive_and_wait();
        job(0);
        end_.arrive_and_wait();
    }

private:
    void serve(unsigned member) {
        for (;;) {
            start_.arrive_and_wait();
            if (job_ == nullptr)
                return;
            (*job_)(member);
            end_.arrive_and_wait();
        }
    }

    const std::function<void(unsigned)> *job_ = nullptr;
    std::barrier<> start_, end_;
    std::vector<std::jthread> members_; // last: joined first
};

} // namespace rownorm_bench
