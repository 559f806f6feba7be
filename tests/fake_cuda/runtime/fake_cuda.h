/* State of the fake CUDA runtime, shared by its files.
 *
 * One lock, `state`, guards all of it: the lists of blocks, streams and events, every queue and
 * every counter. One condition, `changed`, is broadcast when a stream finishes a task. The work
 * itself (copying, sleeping, calling the host) is done without the lock.
 *
 * Streams and events are never freed, so that a stale handle is recognized as such.
 */
#pragma once
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern pthread_mutex_t state;
extern pthread_cond_t changed;

/* settings.c: the environment, the clock, faults */
struct settings {
    double gbps, pageable_gbps, device_gbps; /* rates of copies, 10^9 bytes per second */
    double latency_us;                       /* of each copy */
    double host_alloc_us_per_mib;            /* of page-locking */
    bool host_alloc_waits;                   /* cudaHostAlloc waits for the device */
    int devices;
    size_t device_memory, host_memory; /* bytes of each device; bytes that can be page-locked */
    long corrupt_every;                /* every so many copies one byte arrives wrong; 0: never */
};
extern struct settings settings;

int64_t now_ns(void);
void sleep_until(int64_t end);

/* Begin a call of the API: read the settings once, count the call, apply the faults.
 * Takes the lock. Returns an error that the call must return at once, after `leave`. */
cudaError_t enter(const char *function);

/* Drop the lock, remember the error of this thread, return it. */
cudaError_t leave(cudaError_t error);

/* The lost device's error, or cudaSuccess. */
cudaError_t device_error(void);

#define ENTER()                                          \
    do {                                                 \
        cudaError_t entered_ = enter(__func__);          \
        if (entered_ != cudaSuccess) return leave(entered_); \
    } while (0)
#define REQUIRE(condition, error)             \
    do {                                      \
        if (!(condition)) return leave(error); \
    } while (0)

/* devices.c */
extern __thread int current_device;
bool is_device(int device);

/* memory.c */
enum memory { PAGEABLE, PINNED, REGISTERED, DEVICE };
struct block {
    char *start;
    size_t size;
    enum memory memory;
    int device;
    long users; /* copies under way that read or write it */
    struct block *next;
};
struct block *block_of(const void *address); /* NULL for pageable memory */
enum memory memory_of(const void *address);
bool is_inside(const void *address, size_t size); /* pageable memory has no known bounds */
struct task;
void count_users(const struct task *task, int by); /* of the memory that a task works on */

/* streams.c */
struct task {
    void (*run)(struct task *task);
    void (*finished)(struct task *task); /* under the lock, after `run`; may be NULL */
    uint64_t number;                     /* its place in the queue, from 1 */
    char *target;
    const char *source;
    size_t size;
    int engine, value;
    double gbps;
    struct CUstream_st *awaited; /* wait until this stream has finished `awaited_number` tasks */
    uint64_t awaited_number;
    struct CUevent_st *event;
    cudaHostFn_t function;
    void *argument;
    int64_t duration;
    struct task *next;
};
struct graph; /* capture.c */
struct CUstream_st {
    int device;
    bool blocking; /* ordered with the legacy default stream */
    int priority;
    bool destroyed;
    uint64_t queued, finished; /* tasks */
    struct task *first, *last;
    struct graph *capture; /* collects its tasks instead of running them; NULL usually */
    pthread_t thread;
    struct CUstream_st *next;
};
extern struct CUstream_st *streams;
struct CUstream_st *stream_of(cudaStream_t handle); /* NULL if unknown; the default one for 0 */
struct CUstream_st *default_stream(int device);
uint64_t queue(struct CUstream_st *stream, struct task task); /* its number; 0: captured */
void queue_wait(struct CUstream_st *stream, struct CUstream_st *awaited, uint64_t number);
void wait_for(struct CUstream_st *stream, uint64_t number);
void catch_up(struct CUstream_st *stream); /* wait for its work, and for what that waits for */
void wait_for_device(int device);          /* -1: all devices */

/* events.c */
struct CUevent_st {
    unsigned flags;
    bool destroyed, recorded;
    struct CUstream_st *stream; /* reached when this stream has finished `number` tasks */
    uint64_t number;
    int64_t at; /* time when it was reached, in nanoseconds */
    struct graph *captured;
    struct CUevent_st *next;
};

/* capture.c */
bool capture(struct CUstream_st *stream, struct task task); /* true: it was collected */
cudaError_t invalidate(struct CUstream_st *stream); /* an illegal call while it is captured */
cudaError_t join_capture(struct CUstream_st *stream, struct graph *graph);
