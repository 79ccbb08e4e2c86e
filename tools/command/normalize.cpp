// SPDX-License-Identifier: Apache-2.0
#include "normalize.hpp"

#include "containers.hpp"
#include "job_inputs.hpp"
#include "long_rows.hpp"
#include "report.hpp"
#include "stream.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace command {

namespace {

/// One file that is written.
struct output {
    output(const std::string &path, bool force, const array_info &info, const row_layout &rows)
        : to(path, force), writer(to, info, rows) {}

    target to;
    row_writer writer;
};

array_info output_info(const array_info &like, rownorm_type type) {
    array_info info = like;
    if (type != like.of.type)
        info.of = element_for(type);
    count_elements(info);
    return info;
}

class normalize_job {
public:
    explicit normalize_job(const normalize_options &options)
        : options_(options), in_(open_inputs(options)), shape_(in_.shape),
          threads_(options.threads != 0 ? options.threads : std::max(rownorm_num_threads(), 1u)) {}

    void run() {
        const auto begin = std::chrono::steady_clock::now();
        prepare();
        open_outputs();
        write_outputs();
        finish();
        seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (options_.json || !options_.quiet)
            say_result(options_.json ? json() : summary());
    }

private:
    /// Everything that can be refused before an output is touched.
    void prepare() {
        if (in_.empty())
            return;
        const std::size_t left = options_.memory_bytes - std::min(options_.memory_bytes, in_.vector_bytes());
        const std::int64_t slab = std::max(in_.x_rows.inner, in_.residual ? in_.residual_rows.inner : 1);
        plan_ = plan_blocks(shape_, in_.residual.has_value(), options_.verify, slab, left, threads_);
        if (plan_.long_rows && shape_.rows_per_unit > 1)
            fail("{}: Fortran and C order found for input and residual; {} do not fit the memory (see --memory)",
                 in_.residual->name(), bytes_text(std::uint64_t(shape_.elements_per_unit()) * type_bytes(shape_.x)));
        for (const array_input *in : {&in_.x, in_.residual ? &*in_.residual : nullptr})
            if (in != nullptr && (plan_.long_rows || is_tiled(in == &in_.x ? in_.x_rows : in_.residual_rows)))
                require_access(*in);
        for (const auto *in : {&in_.weight, &in_.bias})
            if (*in && plan_.long_rows)
                require_access((*in)->array());
        std::vector<std::byte> weight, bias;
        if (in_.weight && !plan_.long_rows)
            weight = in_.weight->read_all(shape_.x == ROWNORM_F64);
        if (in_.bias && !plan_.long_rows)
            bias = in_.bias->read_all(shape_.x == ROWNORM_F64);
        // One block is shared by the library's threads; of many, each is one thread's.
        norm_.emplace(options_, shape_, plan_.blocks == 1 ? threads_ : 1, std::move(weight), std::move(bias));
    }

    /// Whether blocks are put together from runs here and there.
    bool is_tiled(const row_layout &rows) const { return !plan_.long_rows && plan_.rows_per_block < rows.inner; }

    void require_access(const array_input &in) const {
        if (in.from->random_access())
            return;
        fail("{}: not a file; expected one for {} that do not fit the memory (see --memory)", in.name(),
             plan_.long_rows ? fmt::format("rows of {}", bytes_text(std::uint64_t(shape_.n) * type_bytes(shape_.x)))
                             : "columns");
    }

    void open_outputs() {
        y_.emplace(options_.output, options_.force, output_info(in_.x.info, shape_.y), in_.x_rows);
        if (options_.residual_out)
            sum_.emplace(*options_.residual_out, options_.force, in_.residual->info, in_.residual_rows);
        for (auto *out : {&y_, &sum_}) {
            if (!*out || in_.empty() || (*out)->to.random_access())
                continue;
            const row_layout &rows = (*out)->writer.layout();
            if (is_tiled(rows) || (plan_.long_rows && !rows.dense()))
                fail("{}: not a file; expected one for columns that do not fit the memory (see --memory)",
                     (*out)->to.name());
        }
    }

    void write_outputs() {
        y_->writer.write_header();
        if (sum_)
            sum_->writer.write_header();
        row_reader x(in_.x, in_.x_rows);
        std::optional<row_reader> residual;
        if (in_.residual)
            residual.emplace(*in_.residual, in_.residual_rows);
        if (!in_.empty())
            run_rows(x, residual ? &*residual : nullptr);
        finish_reading(in_.x);
        if (in_.residual)
            finish_reading(*in_.residual);
    }

    void run_rows(row_reader &x, row_reader *residual) {
        const row_ends ends{&x, residual, &y_->writer, sum_ ? &sum_->writer : nullptr};
        const examiner examine(options_, shape_, *norm_);
        progress shown(std::uint64_t(y_->writer.info().bytes), !options_.quiet);
        if (plan_.long_rows)
            found_ = normalize_long_rows(options_, shape_,
                                         {ends, in_.weight ? &*in_.weight : nullptr, in_.bias ? &*in_.bias : nullptr},
                                         examine, shown);
        else
            found_ = stream_rows(plan_, shape_, ends, {*norm_, examine, shown, threads_});
        bound_ulp_ = examine.judge().bound_ulp();
        if (found_.verified.beyond > 0)
            fail("{}: {} of {} elements are beyond the error bound, the first in {}; not written", y_->to.name(),
                 grouped(std::uint64_t(found_.verified.beyond)), grouped(std::uint64_t(found_.verified.checked)),
                 found_.verified.first_beyond);
    }

    /// Both files are complete before either gets its name.
    void finish() {
        for (auto *out : {&y_, &sum_})
            if (*out)
                (*out)->to.finish((*out)->writer.file_bytes(), options_.fsync);
        for (auto *out : {&y_, &sum_})
            if (*out)
                (*out)->to.commit(options_.fsync);
    }

    /// On stdout, unless that is where the data goes.
    void say_result(const std::string &text) const {
        const bool data_on_stdout = y_->to.is_standard_output() || (sum_ && sum_->to.is_standard_output());
        if (!data_on_stdout)
            print(text + "\n");
        else if (options_.json)
            print_error(text + "\n");
        else
            say_error(text);
    }

    /// Bytes of data that were read and written.
    std::int64_t moved_bytes() const {
        return in_.x.info.bytes + (in_.residual ? in_.residual->info.bytes : 0) + y_->writer.info().bytes +
               (sum_ ? sum_->writer.info().bytes : 0);
    }
    double gigabytes_per_second() const { return double(moved_bytes()) / seconds_ * 1e-9; }

    std::string summary() const {
        const std::string line = fmt::format(
            "{}: {} rows of {} {} in {:.3g} s, {:.3g} GB/s ({}, {} thread{})", y_->to.name(),
            grouped(std::uint64_t(shape_.rows)), shape_.n, type_name(shape_.y), seconds_, gigabytes_per_second(),
            norm_ ? norm_->isa() : "nothing to do", threads_, threads_ == 1 ? "" : "s");
        return options_.verify ? fmt::format("{}; verified, largest error {:.3g} ulp, bound {:.4g}", line,
                                             found_.verified.largest_ulp, bound_ulp_)
                               : line;
    }

    std::string json() const {
        nlohmann::ordered_json j;
        j["input"] = in_.x.name();
        j["output"] = y_->to.name();
        if (sum_)
            j["residual_output"] = sum_->to.name();
        j["op"] = options_.op == ROWNORM_RMS_NORM ? "rms" : options_.op == ROWNORM_L2_NORM ? "l2" : "layer";
        j["isa"] = norm_ ? nlohmann::ordered_json(norm_->isa()) : nullptr;
        j["threads"] = threads_;
        j["rows"] = shape_.rows;
        j["n"] = shape_.n;
        j["input_type"] = type_name(shape_.x);
        j["output_type"] = type_name(shape_.y);
        j["seconds"] = seconds_;
        j["bytes"] = moved_bytes();
        j["gigabytes_per_second"] = gigabytes_per_second();
        j["nan_rows"] = found_.nan_rows;
        j["infinity_rows"] = found_.infinity_rows;
        if (options_.verify) {
            j["largest_error_ulp"] = found_.verified.largest_ulp;
            j["bound_ulp"] = bound_ulp_;
        }
        return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    const normalize_options &options_;
    job_inputs in_;
    const job_shape shape_;
    const std::uint32_t threads_;
    block_plan plan_;
    std::optional<normalizer> norm_;
    std::optional<output> y_, sum_;
    findings found_;
    double bound_ulp_ = 0;
    double seconds_ = 0;
};

void require_npy(const std::string &path) {
    if (npz_name(path) || safetensors_name(path))
        fail_usage("{}: only .npy files are written", printable(path));
}

/// What can be refused from the options alone.
void check_options(const normalize_options &o) {
    if (o.residual_out && !o.residual)
        fail_usage("--residual-out needs --residual");
    if (o.weight_offset != 0 && !o.weight)
        fail_usage("--weight-offset needs --weight, to which it is added");
    if (o.partial != 0 && o.partial_count != 0)
        fail_usage("--partial and --partial-count exclude each other");
    if (o.op != ROWNORM_RMS_NORM && (o.partial != 0 || o.partial_count != 0))
        fail_usage("--partial and --partial-count are for --op rms");
    if (o.op != ROWNORM_L2_NORM && o.l2_eps != ROWNORM_L2_EPS_MAX)
        fail_usage("--l2-eps is for --op l2");
    int from_stdin = o.input == "-";
    for (const auto *path : {&o.weight, &o.bias, &o.residual})
        from_stdin += *path == "-";
    if (from_stdin > 1)
        fail_usage("only one input can be read from standard input (-)");
    require_npy(o.output);
    if (o.residual_out)
        require_npy(*o.residual_out);
    if (o.residual_out && same_target(o.output, *o.residual_out))
        fail_usage("-o and --residual-out both name {}; expected two files", printable(o.output));
}

} // namespace

void normalize(const normalize_options &options) {
    check_options(options);
    normalize_job(options).run();
}

} // namespace command
