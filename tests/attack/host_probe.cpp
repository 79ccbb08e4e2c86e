// SPDX-License-Identifier: Apache-2.0
//
// rownorm_attack_probe COMMAND: hosts that are hard on a library, each in a process of its own. Prints one line that
// ends in "right" and exits 0 if all is as promised.
//
//   signals        a timer's handler interrupts calls thousands of times and calls the library itself
//   stack          every op, ISA and way to run on threads with 64 KiB of stack
//   address-space  the first large call when the address space is used up (RLIMIT_AS)
//   float-state    loading the library has left the floating-point state as the kernel sets it
#include "batch.hpp"

#include "../fp_state.hpp"

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

namespace {

using attack::Batch;

// ---- signals ---------------------------------------------------------------------------------------

Batch *in_handler;
volatile sig_atomic_t interrupts = 0, wrong_in_handler = 0;

// A slow handler may still run on one thread when the next signal comes to another: they would share the batch.
std::atomic_flag handler_is_busy;

extern "C" void on_timer(int) {
    if (handler_is_busy.test_and_set())
        return;
    interrupts = interrupts + 1;
    // Starts no thread, takes no lock, allocates nothing: so it may be called here.
    if (!in_handler->run_part())
        wrong_in_handler = wrong_in_handler + 1;
    handler_is_busy.clear();
}

bool signals(std::string &note) {
    // Of different magnitudes, so that what one leaves behind would show in the other.
    Batch mine(300, 700), handlers(5, 128, ROWNORM_RMS_NORM, nullptr, 0.001F);
    in_handler = &handlers;
    struct sigaction action = {};
    action.sa_handler = on_timer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often = {{0, 100}, {0, 100}}, never = {};
    setitimer(ITIMER_REAL, &often, nullptr);
    bool right = true;
    int calls = 0;
    for (; right && (interrupts < 2000 || calls < 300); ++calls)
        right = calls % 2 == 0 ? mine.run() : mine.run_part();
    setitimer(ITIMER_REAL, &never, nullptr);
    note = std::to_string(interrupts) + " signals in " + std::to_string(calls) + " calls";
    return right && wrong_in_handler == 0;
}

// ---- a small stack ---------------------------------------------------------------------------------

void *call_function(void *function) {
    (*static_cast<std::function<void()> *>(function))();
    return nullptr;
}

bool on_small_stack(std::function<void()> function) {
    pthread_attr_t attributes;
    pthread_t thread;
    const std::size_t bytes = 64 << 10;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, bytes) != 0 ||
        pthread_create(&thread, &attributes, call_function, &function) != 0)
        return false;
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return true;
}

bool stack(std::string &note) {
    bool right = true;
    int calls = 0;
    for (std::size_t i = 0; const char *isa = rownorm_isa_name(i); ++i)
        for (const rownorm_op op : {ROWNORM_RMS_NORM, ROWNORM_LAYER_NORM, ROWNORM_L2_NORM})
            for (const std::int64_t n : {5, 128, 4096}) {
                Batch batch(600, n, op, isa);
                right = on_small_stack([&] { right = batch.run() && batch.run_part() && batch.is_refused(); }) && right;
                ++calls;
            }
    note = std::to_string(calls) + " threads";
    return right && calls > 0;
}

// ---- no memory -------------------------------------------------------------------------------------

/// Takes what address space is left in pieces of a MiB, so that neither a stack nor an arena can be mapped.
bool use_up_address_space() {
    const rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    rlimit tight = limit;
    std::FILE *const statm = std::fopen("/proc/self/statm", "r");
    long pages = 0;
    const bool read = statm != nullptr && std::fscanf(statm, "%ld", &pages) == 1;
    if (statm != nullptr)
        std::fclose(statm);
    tight.rlim_cur = static_cast<rlim_t>(pages) * 4096 + (256 << 10);
    return read && setrlimit(RLIMIT_AS, &tight) == 0 &&
           mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

bool address_space(std::string &note) {
    Batch batch(2000, 1024);
    if (!use_up_address_space()) {
        note = "the limit has no effect";
        return false;
    }
    const bool right = batch.run() && batch.run() && batch.run_part();
    note = "large calls under RLIMIT_AS";
    return right;
}

bool float_state(std::string &note) {
    const std::uint64_t at_start = rownorm_test::fp_read();
    note = "state " + std::to_string(at_start);
    return at_start == rownorm_test::fp_default && rownorm_isa() != nullptr && rownorm_test::fp_read() == at_start;
}

} // namespace

int main(int count, char **arguments) {
    const std::string command = count == 2 ? arguments[1] : "";
    std::string note;
    bool right = false;
    if (command == "signals")
        right = signals(note);
    else if (command == "stack")
        right = stack(note);
    else if (command == "address-space")
        right = address_space(note);
    else if (command == "float-state")
        right = float_state(note);
    else
        note = "usage: rownorm_attack_probe signals|stack|address-space|float-state:";
    std::printf("%s: %s\n", note.c_str(), right ? "right" : "wrong");
    return right ? 0 : 1;
}
