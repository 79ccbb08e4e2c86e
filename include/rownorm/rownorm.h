/* SPDX-License-Identifier: Apache-2.0
 *
 * rownorm: RMSNorm, partial RMSNorm, LayerNorm and L2Norm over rows of token batches on CPUs.
 *
 * A row is n consecutive elements x. Per row (sums run over the row):
 *
 *   RMSNorm            v = sum(x^2)/n + eps               t = x * (1/sqrt(v))             [1]
 *   partial RMSNorm    v = sum over the first k of x^2/k + eps, all n elements scaled     [1]
 *   LayerNorm          v = biased variance + eps          t = (x - mean) * (1/sqrt(v))    [2]
 *   L2Norm             d from sum(x^2) and eps, see rownorm_l2_eps;  t = x * (1/d)
 *
 *   y = t * w', or fma(t, w', b), or t + b, or t, with w' = w + weight_offset.
 *
 * The gain w and the bias b are optional, each on its own. With a residual, the row that is
 * normalised is s = x + residual, rounded to the residual's type.
 *
 * For one input row and one descriptor the bits of y, mean and rstd are the same on every CPU, for
 * every batch size, row position, number of threads, alignment, and in place or not. (Where a
 * result is NaN it is NaN everywhere; its sign and payload are unspecified.)
 *
 * How to use it: fill a rownorm_descriptor, make a plan once, execute it often. Or use the
 * one-line calls at the end of this file.
 *
 * Threads: a plan is immutable and may be used by any number of threads at once. All functions may
 * be called from any thread at any time, also from static constructors and, after fork, in the
 * child (which then runs serially).
 *
 * Errors: functions return a status; nothing is printed, thrown or aborted. Bad input is found
 * before anything is written. rownorm_last_error() says what was wrong.
 *
 * Floating-point state: the rounding mode, flush-to-zero, denormals-are-zero and trap masks of the
 * calling thread change no result, and are as before when a call returns. The sticky exception
 * flags are unspecified.
 *
 * [1] B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, NeurIPS 2019.
 * [2] J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, arXiv:1607.06450, 2016.
 */
#ifndef ROWNORM_ROWNORM_H
#define ROWNORM_ROWNORM_H

#include <stddef.h>
#include <stdint.h>

#define ROWNORM_VERSION_MAJOR 0
#define ROWNORM_VERSION_MINOR 1
#define ROWNORM_VERSION_PATCH 0
/** The version as one number: 10000 * major + 100 * minor + patch. */
#define ROWNORM_VERSION (10000 * ROWNORM_VERSION_MAJOR + 100 * ROWNORM_VERSION_MINOR + ROWNORM_VERSION_PATCH)

#if defined(__GNUC__)
#define ROWNORM_API __attribute__((visibility("default")))
#else
#define ROWNORM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Vocabulary ------------------------------------------------------------------------------ */

typedef uint32_t rownorm_status;
enum {
    ROWNORM_OK = 0,
    ROWNORM_INVALID_ARGUMENT = 1, /**< a value, pointer or stride breaks a documented rule */
    ROWNORM_UNSUPPORTED = 2,      /**< valid, but not here: an ISA that this machine cannot run */
    ROWNORM_OUT_OF_MEMORY = 3,
    ROWNORM_EXECUTOR_FAILED = 4 /**< the caller's executor failed or did not run every task */
};

typedef uint32_t rownorm_op;
enum { ROWNORM_RMS_NORM = 1, ROWNORM_LAYER_NORM = 2, ROWNORM_L2_NORM = 3 };

typedef uint32_t rownorm_type;
enum {
    ROWNORM_TYPE_AS_X = 0, /**< for residual, y and w: the type of x */
    ROWNORM_F32 = 1,
    ROWNORM_F16 = 2,  /**< IEEE 754 binary16 */
    ROWNORM_BF16 = 3, /**< the upper half of an f32 */
    ROWNORM_F64 = 4   /**< only together with f64 */
};

/** How L2Norm forms d from ss = sum(x^2) and eps. */
typedef uint32_t rownorm_l2_eps;
enum {
    ROWNORM_L2_EPS_MAX = 0,    /**< d = max(sqrt(ss), eps) */
    ROWNORM_L2_EPS_ADD = 1,    /**< d = sqrt(ss) + eps */
    ROWNORM_L2_EPS_INSIDE = 2, /**< d = sqrt(ss + eps) */
    ROWNORM_L2_EPS_CLAMP = 3   /**< d = sqrt(max(ss, eps)) */
};

/** What the normalised value t is rounded to before the gain. y is always rounded once more. */
typedef uint32_t rownorm_round;
enum {
    ROWNORM_ROUND_ONCE = 0, /**< not rounded before the gain: one rounding, to the type of y */
    ROWNORM_ROUND_TO_F16 = 1,
    ROWNORM_ROUND_TO_BF16 = 2
};

/* ---- Descriptor: what to compute -------------------------------------------------------------- */

/**
 * Fill with zeros (`rownorm_descriptor d = {0};`), then set what is needed; struct_size, op, x_type
 * and n are always needed. Reserved for later versions: gate, y_scale, group_size, scalar_weight,
 * partial_statistics.
 *
 * A struct_size below the first release's is an error; a larger one is accepted if all bytes that
 * this version does not know are zero.
 */
typedef struct rownorm_descriptor {
    uint32_t struct_size; /**< sizeof(rownorm_descriptor) */
    uint32_t flags;       /**< 0 */
    rownorm_op op;
    rownorm_type x_type;
    rownorm_type residual_type; /**< used when io.residual is set */
    rownorm_type y_type;
    rownorm_type weight_type; /**< of w and of b */
    rownorm_round round_before_weight;
    rownorm_l2_eps l2_eps; /**< for ROWNORM_L2_NORM, otherwise 0 */
    uint32_t max_threads;  /**< 0: the default number; 1: serial */
    int64_t n;             /**< elements per row, >= 1 */
    int64_t k;             /**< partial RMSNorm: the statistic is of the first k elements; 0: all n */
    double p;              /**< the same as a share, 0 < p <= 1: k is the smallest integer >= n*p*(1 - 2^-40);
                                0: not given. Both k and p given is an error. */
    double eps;            /**< >= 0 and finite; f32 arithmetic uses (float)eps */
    double weight_offset;  /**< finite; 1 for the Gemma family, otherwise 0 */
    const char *isa;       /**< run exactly this ISA, or fail with ROWNORM_UNSUPPORTED; NULL: choose */
    const char *max_isa;   /**< choose none above this one; NULL: no cap. Both strings are read during the call. */
} rownorm_descriptor;

/* ---- Plan: how to compute it ------------------------------------------------------------------ */

/** Immutable after creation; shared freely between threads. */
typedef struct rownorm_plan rownorm_plan;

/** Makes a plan with malloc. `*plan` is NULL on failure. Free it with rownorm_plan_destroy(). */
ROWNORM_API rownorm_status rownorm_plan_create(rownorm_plan **plan, const rownorm_descriptor *descriptor);

/** Frees a plan from rownorm_plan_create(); NULL is ignored. No call may be using it. */
ROWNORM_API void rownorm_plan_destroy(rownorm_plan *plan);

/** Bytes that rownorm_plan_init() needs. */
ROWNORM_API size_t rownorm_plan_size(void);

/**
 * Makes a plan in the caller's memory, aligned to 16 bytes, of `memory_bytes` >= rownorm_plan_size().
 * `*plan` points into that memory, which the caller frees when no call is using it; there is nothing
 * else to release. Allocates nothing.
 */
ROWNORM_API rownorm_status rownorm_plan_init(rownorm_plan **plan, void *memory, size_t memory_bytes,
                                             const rownorm_descriptor *descriptor);

/** The name of the ISA whose kernels the plan runs ("avx2", ...). */
ROWNORM_API const char *rownorm_plan_isa(const rownorm_plan *plan);

/* ---- Io: what to compute it on ---------------------------------------------------------------- */

/**
 * Rows in memory: row (i0, i1, i2) begins i0*stride_bytes[0] + i1*stride_bytes[1] + i2*stride_bytes[2]
 * bytes after `data`, and its n elements follow one another. Pointers and strides are multiples of
 * the element's size, no more is asked. Strides are >= 0; a stride of 0 uses one row for a whole
 * dimension and is for inputs only.
 */
typedef struct rownorm_input {
    const void *data;
    int64_t stride_bytes[3];
} rownorm_input;

typedef struct rownorm_output {
    void *data;
    int64_t stride_bytes[3];
} rownorm_output;

/**
 * The batch: extent[0] x extent[1] x extent[2] rows, numbered with the last index fastest; unused
 * dimensions are 1. Every extent is >= 0; with no rows nothing is read or written, and the pointers
 * may be NULL.
 *
 * Aliasing: y may be x or residual, residual_out may be residual or x (same address, strides and
 * element size, and as for all of these the same row). Two outputs never share a byte, and no output
 * shares one with w, b or another row of an input. Rows that interleave without sharing a byte, such
 * as slices of one QKV buffer, are fine. Memory stays the caller's; none is kept after the call, and
 * no byte outside the rows is read or written.
 */
typedef struct rownorm_io {
    uint32_t struct_size; /**< sizeof(rownorm_io); rules as for rownorm_descriptor */
    uint32_t flags;       /**< 0 */
    int64_t extent[3];
    rownorm_input x;
    rownorm_input residual;      /**< optional (data NULL): s = x + residual is normalised */
    rownorm_input w;             /**< optional gain, n elements; strides are 0 unless rows have gains of their own */
    rownorm_input b;             /**< optional bias, likewise */
    rownorm_output residual_out; /**< optional, with a residual only: s, in the residual's type */
    rownorm_output y;
    void *mean; /**< optional, LayerNorm only: one f32 (f64 for f64) a row, dense in row order */
    void *rstd; /**< optional: likewise, the factor 1/sqrt(v) or 1/d */
} rownorm_io;

/**
 * An io for `rows` dense rows (the row after next begins 2*n elements on): extents and the strides of x,
 * residual, residual_out and y are set from the descriptor; all pointers are NULL, to be set by the
 * caller. Inline, so that it fits the caller's version of the structs.
 */
static inline rownorm_io rownorm_dense_io(const rownorm_descriptor *descriptor, int64_t rows);

/** Runs the plan on oneTBB threads of the library's own, or on the calling thread if the work is
 *  small, max_threads is 1, or no threads can be had. (A thread that oneTBB has started and that finds no
 *  memory ends the process: oneTBB's doing. Where memory may run out, use max_threads 1 or the two below.) */
ROWNORM_API rownorm_status rownorm_execute(const rownorm_plan *plan, const rownorm_io *io);

/**
 * Runs part `part` of `parts` (0 <= part < parts) on the calling thread: a contiguous share of the
 * rows, possibly empty. The parts may run in any order or at once; all parts together are one
 * rownorm_execute(). Starts no thread, takes no lock, allocates nothing.
 */
ROWNORM_API rownorm_status rownorm_execute_part(const rownorm_plan *plan, const rownorm_io *io, int64_t part,
                                                int64_t parts);

/** One task of an executor: may be called on any thread, once for each task index. */
typedef void (*rownorm_task_fn)(void *task_context, size_t task);

/**
 * The caller's executor: calls task(task_context, i) once for each i in [0, tasks), in any order, at
 * once or one after another, and returns 0 when all have returned; anything else is a failure.
 */
typedef int (*rownorm_parallel_for_fn)(void *executor_context, size_t tasks, rownorm_task_fn task, void *task_context);

/**
 * Runs the plan on the caller's executor, which is called at most twice, on the calling thread. No
 * task waits for another. A task that is run twice repeats its work only if it does not run in place;
 * the library runs each index once and ignores repeats. ROWNORM_EXECUTOR_FAILED if the executor
 * fails or returns before every task ran; the outputs are then unspecified. It must not throw: an exception
 * that leaves it ends the process by std::terminate().
 */
ROWNORM_API rownorm_status rownorm_execute_on(const rownorm_plan *plan, const rownorm_io *io,
                                              rownorm_parallel_for_fn parallel_for, void *executor_context);

/* ---- One-line calls --------------------------------------------------------------------------- */

/*
 * Dense rows (rows x n elements each), w and b of n elements, default threads; they allocate nothing
 * in a serial run. w and b may be NULL. y may equal x (or, with a residual, residual only through
 * rownorm_execute). f16 and bf16 elements are passed as their bits.
 *
 *   rms_norm:      y = x * 1/sqrt(mean(x^2) + eps) * w
 *   add_rms_norm:  residual += x;  y = rms_norm(residual)
 *   layer_norm:    y = (x - mean) * 1/sqrt(var + eps) * w + b
 */
ROWNORM_API rownorm_status rownorm_rms_norm_f32(float *y, const float *x, const float *w, int64_t rows, int64_t n,
                                                float eps);
ROWNORM_API rownorm_status rownorm_rms_norm_f16(uint16_t *y, const uint16_t *x, const uint16_t *w, int64_t rows,
                                                int64_t n, float eps);
ROWNORM_API rownorm_status rownorm_rms_norm_bf16(uint16_t *y, const uint16_t *x, const uint16_t *w, int64_t rows,
                                                 int64_t n, float eps);

ROWNORM_API rownorm_status rownorm_add_rms_norm_f32(float *y, float *residual, const float *x, const float *w,
                                                    int64_t rows, int64_t n, float eps);
ROWNORM_API rownorm_status rownorm_add_rms_norm_f16(uint16_t *y, uint16_t *residual, const uint16_t *x,
                                                    const uint16_t *w, int64_t rows, int64_t n, float eps);
ROWNORM_API rownorm_status rownorm_add_rms_norm_bf16(uint16_t *y, uint16_t *residual, const uint16_t *x,
                                                     const uint16_t *w, int64_t rows, int64_t n, float eps);

ROWNORM_API rownorm_status rownorm_layer_norm_f32(float *y, const float *x, const float *w, const float *b,
                                                  int64_t rows, int64_t n, float eps);
ROWNORM_API rownorm_status rownorm_layer_norm_f16(uint16_t *y, const uint16_t *x, const uint16_t *w, const uint16_t *b,
                                                  int64_t rows, int64_t n, float eps);
ROWNORM_API rownorm_status rownorm_layer_norm_bf16(uint16_t *y, const uint16_t *x, const uint16_t *w, const uint16_t *b,
                                                   int64_t rows, int64_t n, float eps);

/* ---- ISAs, threads, errors, version ----------------------------------------------------------- */

/*
 * ISA names, lowest first: "sse2", "avx2", "avx512" (F, CD, BW, DQ, VL), "avx512bf16" (those and AVX512_BF16) on
 * x86-64; "neon" on AArch64.
 * The environment variable ROWNORM_MAX_ISA caps the choice for the whole process; it is read once. A
 * known name above the machine is no error; an unknown one makes every plan and one-line call fail.
 *
 * How rows are fetched and stored, which changes no bits, follows the sizes of the machine's data caches and its CPU.
 * ROWNORM_MACHINE, read once, replaces any of that, for a virtual machine that misreports it and for measuring:
 * "l1=32K,l2=1M,l3=32M,turns=1". With turns=1, as for AMD's CPUs, reads and stores around the caches take turns, with
 * turns=0 they do not. What is not understood in it is left out.
 */

/** The ISA that plans run by default, or NULL if ROWNORM_MAX_ISA is not a known name. */
ROWNORM_API const char *rownorm_isa(void);

/** How many ISAs of this library the machine can run (caps do not count). */
ROWNORM_API size_t rownorm_isa_count(void);

/** Their names, the best one (index 0) first; NULL from rownorm_isa_count() on. */
ROWNORM_API const char *rownorm_isa_name(size_t index);

/** The names of all ISAs that this library was built with, the best one first; NULL past the last. */
ROWNORM_API const char *rownorm_isa_built_name(size_t index);

/** Why this machine cannot run an ISA (a static string such as "the CPU lacks avx512f"); NULL if it can. */
ROWNORM_API const char *rownorm_isa_obstacle(const char *isa);

/**
 * Threads that rownorm_execute() uses when max_threads is 0; at first ROWNORM_NUM_THREADS from the
 * environment, else what the affinity mask and the cgroup's CPU quota allow. 0 goes back to that.
 */
ROWNORM_API void rownorm_set_num_threads(uint32_t threads);
ROWNORM_API uint32_t rownorm_num_threads(void);

/** What the last failed call on this thread found: the argument, its value and the rule. Valid until
 *  the thread's next failing call; "" if none failed yet. */
ROWNORM_API const char *rownorm_last_error(void);

/** "ROWNORM_OK" and so on; "unknown status" for other values. */
ROWNORM_API const char *rownorm_status_name(rownorm_status status);

/** ROWNORM_VERSION of the library that is running. */
ROWNORM_API uint32_t rownorm_version(void);

/* ---- Inline ----------------------------------------------------------------------------------- */

static inline int64_t rownorm_detail_row_bytes(const rownorm_descriptor *d, rownorm_type type) {
    const rownorm_type t = type == ROWNORM_TYPE_AS_X ? d->x_type : type;
    return d->n * (t == ROWNORM_F64 ? 8 : (t == ROWNORM_F32 ? 4 : 2));
}

static inline rownorm_io rownorm_dense_io(const rownorm_descriptor *descriptor, int64_t rows) {
#ifdef __cplusplus
    rownorm_io io = {};
    io.struct_size = uint32_t(sizeof io);
#else
    rownorm_io io = {0};
    io.struct_size = (uint32_t)sizeof io;
#endif
    io.extent[0] = io.extent[1] = 1;
    io.extent[2] = rows;
    io.x.stride_bytes[2] = rownorm_detail_row_bytes(descriptor, descriptor->x_type);
    io.y.stride_bytes[2] = rownorm_detail_row_bytes(descriptor, descriptor->y_type);
    io.residual.stride_bytes[2] = rownorm_detail_row_bytes(descriptor, descriptor->residual_type);
    io.residual_out.stride_bytes[2] = io.residual.stride_bytes[2];
    return io;
}

#ifdef __cplusplus
}
#endif

#endif
