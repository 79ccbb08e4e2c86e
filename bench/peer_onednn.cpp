// SPDX-License-Identifier: Apache-2.0
//
// oneDNN 2's layer normalisation, forward inference with scale and shift; it has no RMSNorm.
#include "peers.hpp"

#include <dlfcn.h>
#include <dnnl.hpp>

#include <memory>

namespace rownorm_bench {

namespace {

constexpr float eps = 1e-6F;

// The primitive and its tensors; only their addresses change from run to run.
struct LayerNorm {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    dnnl::layer_normalization_forward primitive;
    dnnl::memory x, y, w, b;

    explicit LayerNorm(const Shape &shape) {
        using Tag = dnnl::memory::format_tag;
        constexpr auto f32 = dnnl::memory::data_type::f32;
        const dnnl::memory::desc rows({shape.rows, shape.cols}, f32, Tag::ab), row({shape.cols}, f32, Tag::a);
        const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
        const dnnl::layer_normalization_forward::desc desc(dnnl::prop_kind::forward_inference, rows, eps, flags);
        primitive = dnnl::layer_normalization_forward({desc, engine});
        x = dnnl::memory(rows, engine, nullptr);
        y = dnnl::memory(rows, engine, nullptr);
        w = dnnl::memory(row, engine, nullptr);
        b = dnnl::memory(row, engine, nullptr);
    }

    void run(const rownorm_peer_arguments &a) {
        x.set_data_handle(const_cast<float *>(a.x));
        y.set_data_handle(a.y);
        w.set_data_handle(const_cast<float *>(a.w));
        b.set_data_handle(const_cast<float *>(a.b));
        primitive.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_SCALE, w}, {DNNL_ARG_SHIFT, b}});
        stream.wait();
    }
};

// oneDNN has no setting of its own; this reaches the OpenMP runtime that it brought, if it did.
void use_one_thread() {
    using SetThreads = void (*)(int);
    if (const auto set_threads = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
        set_threads(1);
}

} // namespace

PeerRun make_onednn(rownorm_peer_op op, const Shape &shape) {
    if (op != ROWNORM_PEER_LAYER)
        return {};
    use_one_thread();
    auto norm = std::make_shared<LayerNorm>(shape);
    return [norm](const rownorm_peer_arguments &arguments) { norm->run(arguments); };
}

} // namespace rownorm_bench
