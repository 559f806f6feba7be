/* Events: a place in a stream's queue, and the time when the stream reached it. */
#include "fake_cuda.h"

static struct CUevent_st *events;

static struct CUevent_st *event_of(cudaEvent_t handle) {
    for (struct CUevent_st *each = events; each; each = each->next)
        if (each == handle && !each->destroyed) return each;
    return NULL;
}

static bool is_reached(const struct CUevent_st *event) {
    return !event->recorded || event->stream->finished >= event->number;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *found, unsigned flags) {
    ENTER();
    REQUIRE(flags < 8, cudaErrorInvalidValue);
    struct CUevent_st *event = calloc(1, sizeof *event);
    event->flags = flags, event->next = events, events = event;
    *found = event;
    return leave(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *found) {
    return cudaEventCreateWithFlags(found, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    ENTER();
    struct CUevent_st *event = event_of(handle);
    REQUIRE(event, cudaErrorInvalidResourceHandle);
    event->destroyed = true;
    return leave(cudaSuccess);
}

/* A later record of the same event replaces this one, whose time then counts for nothing. */
static void reached(struct task *task) {
    if (task->event->number == task->number) task->event->at = now_ns();
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
    ENTER();
    struct CUevent_st *event = event_of(handle);
    struct CUstream_st *stream = stream_of(stream_handle);
    REQUIRE(event && stream, cudaErrorInvalidResourceHandle);
    event->captured = stream->capture;
    if (stream->capture) return leave(cudaSuccess);
    event->recorded = true, event->stream = stream;
    event->number = queue(stream, (struct task){.finished = reached, .event = event});
    return leave(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
    ENTER();
    struct CUevent_st *event = event_of(handle);
    REQUIRE(event, cudaErrorInvalidResourceHandle);
    return leave(is_reached(event) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
    ENTER();
    struct CUevent_st *event = event_of(handle);
    REQUIRE(event, cudaErrorInvalidResourceHandle);
    if (event->recorded) wait_for(event->stream, event->number);
    return leave(device_error());
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t first, cudaEvent_t second) {
    ENTER();
    struct CUevent_st *start = event_of(first), *end = event_of(second);
    REQUIRE(start && end && start->recorded && end->recorded, cudaErrorInvalidResourceHandle);
    REQUIRE(!((start->flags | end->flags) & cudaEventDisableTiming), cudaErrorInvalidResourceHandle);
    REQUIRE(is_reached(start) && is_reached(end), cudaErrorNotReady);
    *milliseconds = (float)((double)(end->at - start->at) / 1e6);
    return leave(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    struct CUevent_st *event = event_of(event_handle);
    REQUIRE(stream && event && flags < 2, cudaErrorInvalidResourceHandle);
    if (event->captured) return leave(join_capture(stream, event->captured));
    if (event->recorded) queue_wait(stream, event->stream, event->number);
    return leave(cudaSuccess);
}
