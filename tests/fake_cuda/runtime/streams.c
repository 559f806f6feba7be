/* Streams: a queue and a thread each, with the order that the legacy default stream imposes.
 *
 * Work on the legacy default stream waits for all work queued before on blocking streams of its
 * device, and work on those waits for it. Streams made with cudaStreamNonBlocking ignore it.
 */
#include "fake_cuda.h"

struct CUstream_st *streams;
static struct CUstream_st *default_streams[16];

static void *run_tasks(void *argument) {
    struct CUstream_st *stream = argument;
    pthread_mutex_lock(&state);
    for (;;) {
        while (!stream->first && !stream->destroyed) pthread_cond_wait(&changed, &state);
        struct task *task = stream->first;
        if (!task) break;
        stream->first = task->next;
        if (!stream->first) stream->last = NULL;
        pthread_mutex_unlock(&state);
        if (task->run) task->run(task);
        pthread_mutex_lock(&state);
        if (task->finished) task->finished(task);
        count_users(task, -1);
        free(task);
        stream->finished++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&state);
    return NULL;
}

static struct CUstream_st *new_stream(int device, bool blocking, int priority) {
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    stream->device = device, stream->blocking = blocking, stream->priority = priority;
    stream->next = streams, streams = stream;
    pthread_create(&stream->thread, NULL, run_tasks, stream);
    return stream;
}

struct CUstream_st *default_stream(int device) {
    if (!default_streams[device]) default_streams[device] = new_stream(device, true, 0);
    return default_streams[device];
}

struct CUstream_st *stream_of(cudaStream_t handle) {
    /* CuPy is built for the legacy default stream; one per thread is treated the same. */
    if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return default_stream(current_device);
    for (struct CUstream_st *each = streams; each; each = each->next)
        if (each == handle && !each->destroyed) return each;
    return NULL;
}

static uint64_t append(struct CUstream_st *stream, struct task task) {
    struct task *added = malloc(sizeof task);
    *added = task, added->next = NULL, added->number = ++stream->queued;
    if (stream->last) stream->last->next = added;
    else stream->first = added;
    stream->last = added;
    count_users(added, 1);
    pthread_cond_broadcast(&changed);
    return added->number;
}

void wait_for(struct CUstream_st *stream, uint64_t number) {
    while (stream->finished < number) pthread_cond_wait(&changed, &state);
}

static void run_wait(struct task *task) {
    pthread_mutex_lock(&state);
    wait_for(task->awaited, task->awaited_number);
    pthread_mutex_unlock(&state);
}

void queue_wait(struct CUstream_st *stream, struct CUstream_st *awaited, uint64_t number) {
    if (awaited == stream || awaited->finished >= number) return;
    append(stream, (struct task){.run = run_wait, .awaited = awaited,
                                 .awaited_number = number});
}

static void order_with_default(struct CUstream_st *stream) {
    struct CUstream_st *ours = default_stream(stream->device);
    if (stream != ours) {
        if (stream->blocking) queue_wait(stream, ours, ours->queued);
        return;
    }
    for (struct CUstream_st *each = streams; each; each = each->next)
        if (each->blocking && each->device == stream->device) queue_wait(stream, each, each->queued);
}

uint64_t queue(struct CUstream_st *stream, struct task task) {
    if (capture(stream, task)) return 0;
    order_with_default(stream);
    return append(stream, task);
}

void catch_up(struct CUstream_st *stream) {
    order_with_default(stream);
    wait_for(stream, stream->queued);
}

void wait_for_device(int device) {
    for (struct CUstream_st *each = streams; each; each = each->next)
        if (device < 0 || each->device == device) wait_for(each, each->queued);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *found, unsigned flags, int priority) {
    ENTER();
    REQUIRE(flags <= cudaStreamNonBlocking, cudaErrorInvalidValue);
    *found = new_stream(current_device, flags != cudaStreamNonBlocking, priority);
    return leave(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *found, unsigned flags) {
    return cudaStreamCreateWithPriority(found, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *found) {
    return cudaStreamCreateWithPriority(found, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream && stream != default_stream(stream->device), cudaErrorInvalidResourceHandle);
    stream->destroyed = true; /* its thread ends after the work that is queued */
    pthread_cond_broadcast(&changed);
    return leave(cudaSuccess);
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    *flags = stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return leave(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    *priority = stream->priority;
    return leave(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    if (stream->capture) return leave(invalidate(stream));
    catch_up(stream);
    return leave(device_error());
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    return leave(stream->finished == stream->queued ? cudaSuccess : cudaErrorNotReady);
}

static void run_function(struct task *task) { task->function(task->argument); }

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *argument) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream && function, cudaErrorInvalidResourceHandle);
    queue(stream, (struct task){.run = run_function, .function = function, .argument = argument});
    return leave(cudaSuccess);
}

struct callback {
    cudaStreamCallback_t function;
    cudaStream_t stream;
    void *argument;
};

static void run_callback(void *argument) {
    struct callback *callback = argument;
    callback->function(callback->stream, cudaSuccess, callback->argument);
    free(callback);
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function,
                                  void *argument, unsigned flags) {
    (void)flags;
    struct callback *callback = malloc(sizeof *callback);
    *callback = (struct callback){function, handle, argument};
    return cudaLaunchHostFunc(handle, run_callback, callback);
}

static void run_spin(struct task *task) { sleep_until(now_ns() + task->duration); }

/* Keep a stream busy, in place of a kernel: there is no compiler for those here. */
int fake_cuda_spin(void *handle, long long nanoseconds) {
    cudaError_t error = enter("fake_cuda_spin");
    if (error) return leave(error);
    struct CUstream_st *stream = stream_of(handle);
    if (!stream) return leave(cudaErrorInvalidResourceHandle);
    queue(stream, (struct task){.run = run_spin, .duration = nanoseconds});
    return leave(cudaSuccess);
}
