/* Copies: memcpy by a stream's thread at a given rate, one at a time in each direction.
 *
 * Copies of page-locked memory are asynchronous. A pageable copy to the device of up to 64 KiB is
 * staged and returns at once; every other pageable copy waits for its stream and is done when the
 * call returns. That is what the documentation of the runtime's "API synchronization behavior"
 * says.
 */
#include "fake_cuda.h"

#define STAGED_AT_MOST 65536

enum engine { TO_DEVICE, TO_HOST, WITHIN, ENGINES };
static pthread_mutex_t engines[ENGINES] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long copies_done;

static void move(char *target, const char *source, size_t size, int engine, double gbps) {
    pthread_mutex_lock(&engines[engine]);
    double transfer = gbps > 0 ? (double)size / gbps : 0; /* bytes per ns are 10^9 bytes per s */
    int64_t end = now_ns() + (int64_t)(settings.latency_us * 1e3 + transfer);
    memcpy(target, source, size);
    copies_done++;
    if (settings.corrupt_every && size && copies_done % settings.corrupt_every == 0)
        target[size / 2] ^= 1;
    sleep_until(end);
    pthread_mutex_unlock(&engines[engine]);
}

static void run_copy(struct task *task) {
    move(task->target, task->source, task->size, task->engine, task->gbps);
}

static void free_staged(struct task *task) {
    free((void *)task->source);
    task->source = NULL;
}

static enum engine engine_of(enum memory target, enum memory source) {
    if (source != DEVICE) return TO_DEVICE;
    return target == DEVICE ? WITHIN : TO_HOST;
}

static bool fits(enum cudaMemcpyKind kind, enum memory target, enum memory source) {
    bool to = target == DEVICE, from = source == DEVICE;
    switch (kind) {
    case cudaMemcpyHostToHost: return !to && !from;
    case cudaMemcpyHostToDevice: return to && !from;
    case cudaMemcpyDeviceToHost: return !to && from;
    case cudaMemcpyDeviceToDevice: return to && from;
    default: return true;
    }
}

static void copy_staged(struct CUstream_st *stream, void *target, const void *source, size_t size) {
    char *staged = malloc(size);
    memcpy(staged, source, size);
    queue(stream, (struct task){.run = run_copy, .finished = free_staged, .target = target,
                                .source = staged, .size = size, .engine = TO_DEVICE,
                                .gbps = settings.pageable_gbps});
}

static void copy_waiting(struct CUstream_st *stream, void *target, const void *source, size_t size,
                         enum engine engine) {
    catch_up(stream);
    pthread_mutex_unlock(&state);
    move(target, source, size, engine, settings.pageable_gbps);
    pthread_mutex_lock(&state);
}

/* Under the lock. */
static cudaError_t copy(void *target, const void *source, size_t size, enum cudaMemcpyKind kind,
                        struct CUstream_st *stream) {
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!is_inside(target, size) || !is_inside(source, size)) return cudaErrorInvalidValue;
    enum memory to = memory_of(target), from = memory_of(source);
    if (!fits(kind, to, from)) return cudaErrorInvalidValue;
    if (!size) return cudaSuccess;
    if (to == PAGEABLE || from == PAGEABLE) {
        if (stream->capture) return invalidate(stream);
        if (from == PAGEABLE && to == DEVICE && size <= STAGED_AT_MOST)
            copy_staged(stream, target, source, size);
        else copy_waiting(stream, target, source, size, engine_of(to, from));
        return cudaSuccess;
    }
    enum engine engine = engine_of(to, from);
    queue(stream, (struct task){.run = run_copy, .target = target, .source = source, .size = size,
                                .engine = engine,
                                .gbps = engine == WITHIN ? settings.device_gbps : settings.gbps});
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    return leave(copy(target, source, size, kind, stream));
}

cudaError_t cudaMemcpy(void *target, const void *source, size_t size, enum cudaMemcpyKind kind) {
    ENTER();
    struct CUstream_st *stream = default_stream(current_device);
    cudaError_t error = copy(target, source, size, kind, stream);
    if (error) return leave(error);
    bool staged = memory_of(source) == PAGEABLE && size <= STAGED_AT_MOST;
    bool within = memory_of(source) == DEVICE && memory_of(target) == DEVICE;
    if (!staged && !within) catch_up(stream);
    return leave(device_error());
}

cudaError_t cudaMemcpyPeerAsync(void *target, int target_device, const void *source,
                                int source_device, size_t size, cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    REQUIRE(is_device(target_device) && is_device(source_device), cudaErrorInvalidDevice);
    struct block *to = block_of(target), *from = block_of(source);
    REQUIRE(to && to->device == target_device, cudaErrorInvalidValue);
    REQUIRE(from && from->device == source_device, cudaErrorInvalidValue);
    return leave(copy(target, source, size, cudaMemcpyDeviceToDevice, stream));
}

cudaError_t cudaMemcpyPeer(void *target, int target_device, const void *source, int source_device,
                           size_t size) {
    /* As documented, it is in order with all work of both devices. */
    cudaError_t error = cudaMemcpyPeerAsync(target, target_device, source, source_device, size, NULL);
    return error ? error : cudaStreamSynchronize(NULL);
}

static void run_fill(struct task *task) { memset(task->target, task->value, task->size); }

cudaError_t cudaMemsetAsync(void *target, int value, size_t size, cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    REQUIRE(memory_of(target) != PAGEABLE && is_inside(target, size), cudaErrorInvalidValue);
    queue(stream, (struct task){.run = run_fill, .target = target, .size = size, .value = value});
    return leave(cudaSuccess);
}

cudaError_t cudaMemset(void *target, int value, size_t size) {
    return cudaMemsetAsync(target, value, size, NULL);
}
