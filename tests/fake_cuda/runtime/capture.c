/* Stream capture: tasks are collected in a graph, which can then be launched on a stream.
 *
 * A stream that waits for an event of a captured stream joins its capture. Tasks of all of them
 * are kept in the order in which they were issued, which is an order that their dependencies
 * allow. Calls that would wait, or that use pageable memory, invalidate a capture.
 */
#include "fake_cuda.h"

struct graph {
    struct task *first, *last;
    struct CUstream_st *origin;
    bool invalid;
};

bool capture(struct CUstream_st *stream, struct task task) {
    struct graph *graph = stream->capture;
    if (!graph) return false;
    struct task *added = malloc(sizeof task);
    *added = task, added->next = NULL;
    if (graph->last) graph->last->next = added;
    else graph->first = added;
    graph->last = added;
    return true;
}

cudaError_t invalidate(struct CUstream_st *stream) {
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t join_capture(struct CUstream_st *stream, struct graph *graph) {
    if (graph->origin->capture != graph) return cudaErrorStreamCaptureInvalidated; /* it ended */
    stream->capture = graph;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode) {
    ENTER();
    (void)mode;
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    REQUIRE(stream != default_stream(stream->device), cudaErrorStreamCaptureUnsupported);
    REQUIRE(!stream->capture, cudaErrorIllegalState);
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->origin = stream;
    return leave(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream, cudaErrorInvalidResourceHandle);
    *status = !stream->capture           ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return leave(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *found) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    REQUIRE(stream && stream->capture && stream->capture->origin == stream, cudaErrorIllegalState);
    struct graph *graph = stream->capture;
    for (struct CUstream_st *each = streams; each; each = each->next)
        if (each->capture == graph) each->capture = NULL;
    *found = graph->invalid ? NULL : (cudaGraph_t)graph;
    return leave(graph->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
}

#undef cudaGraphInstantiate
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *found, cudaGraph_t graph,
                                 unsigned long long flags) {
    ENTER();
    (void)flags;
    REQUIRE(graph, cudaErrorInvalidValue);
    *found = (cudaGraphExec_t)graph;
    return leave(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
    ENTER();
    struct CUstream_st *stream = stream_of(handle);
    struct graph *graph = (struct graph *)executable;
    REQUIRE(stream && graph, cudaErrorInvalidResourceHandle);
    for (struct task *each = graph->first; each; each = each->next) queue(stream, *each);
    return leave(cudaSuccess);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t handle) {
    ENTER();
    return leave(executable && stream_of(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* The tasks stay: an executable graph outlives the graph that it was made of. */
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    ENTER();
    return leave(graph ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    ENTER();
    return leave(executable ? cudaSuccess : cudaErrorInvalidValue);
}
