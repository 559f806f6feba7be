/* Settings from the environment, the clock, and the faults to inject.
 *
 *   FAKE_CUDA_GBPS=55             page-locked copies, 10^9 bytes per second and direction
 *   FAKE_CUDA_PAGEABLE_GBPS=10    pageable copies
 *   FAKE_CUDA_DEVICE_GBPS=1000    copies within a device
 *   FAKE_CUDA_LATENCY_US=2        of each copy
 *   FAKE_CUDA_HOST_ALLOC_US=100   microseconds per MiB of cudaHostAlloc
 *   FAKE_CUDA_HOST_ALLOC_WAITS=0  1: cudaHostAlloc waits for the device, as it may
 *   FAKE_CUDA_DEVICES=1           number of devices
 *   FAKE_CUDA_MEMORY=8589934592   bytes of each device
 *   FAKE_CUDA_HOST_MEMORY=...     bytes that can be page-locked
 *   FAKE_CUDA_CORRUPT=0           n: one byte of every nth copy arrives wrong
 *   FAKE_CUDA_FAULTS=             faults, separated by commas:
 *       cudaMemcpyAsync@300=719   the 300th call fails with error 719
 *       cudaHostAlloc@3+=2        the third call and all later ones fail with error 2
 *       cudaMemcpyAsync@1.5s=719  the first call after 1.5 seconds fails
 *
 * As on a real device, an error that corrupts the context (a failed launch, an illegal address,
 * an uncorrectable memory error) is returned by every call that follows.
 */
#include "fake_cuda.h"
#include <stdio.h>
#include <time.h>

pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
struct settings settings;

static cudaError_t lost = cudaSuccess;
static __thread cudaError_t last_error = cudaSuccess;

struct fault {
    char function[64];
    long call;      /* counts down to the call that fails */
    double seconds; /* or the time since the first call; negative if it is by count */
    bool lasting;
    cudaError_t error;
};
static struct fault faults[16];
static int fault_count;
static int64_t started; /* time of the first call */

static double number(const char *name, double otherwise) {
    char key[64];
    snprintf(key, sizeof key, "FAKE_CUDA_%s", name);
    const char *text = getenv(key);
    return text && *text ? atof(text) : otherwise;
}

static void read_faults(const char *text) {
    while (text && *text && fault_count < (int)(sizeof faults / sizeof *faults)) {
        struct fault fault = {.seconds = -1};
        int error = 0;
        if (sscanf(text, "%63[^@]@%ld+=%d", fault.function, &fault.call, &error) == 3)
            fault.lasting = true;
        else if (sscanf(text, "%63[^@]@%lfs=%d", fault.function, &fault.seconds, &error) == 3)
            fault.call = 1;
        else if (fault.seconds = -1,
                 sscanf(text, "%63[^@]@%ld=%d", fault.function, &fault.call, &error) != 3) {
            fprintf(stderr, "FAKE_CUDA_FAULTS: cannot read %s\n", text);
            abort();
        }
        fault.error = (cudaError_t)error;
        faults[fault_count++] = fault;
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
}

static void read_settings(void) {
    started = now_ns();
    settings = (struct settings){
        .gbps = number("GBPS", 55),
        .pageable_gbps = number("PAGEABLE_GBPS", 10),
        .device_gbps = number("DEVICE_GBPS", 1000),
        .latency_us = number("LATENCY_US", 2),
        .host_alloc_us_per_mib = number("HOST_ALLOC_US", 100),
        .host_alloc_waits = number("HOST_ALLOC_WAITS", 0) != 0,
        .devices = (int)number("DEVICES", 1),
        .device_memory = (size_t)number("MEMORY", 8.0 * (1ll << 30)),
        .host_memory = (size_t)number("HOST_MEMORY", 8.0 * (1ll << 30)),
        .corrupt_every = (long)number("CORRUPT", 0),
    };
    read_faults(getenv("FAKE_CUDA_FAULTS"));
}

int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* nanosleep wakes some 50 microseconds late: the last part of the time is spent spinning. */
void sleep_until(int64_t end) {
    const int64_t late = 60000;
    int64_t left;
    while ((left = end - now_ns()) > 0) {
        if (left <= late) continue;
        struct timespec time = {(left - late) / 1000000000, (left - late) % 1000000000};
        nanosleep(&time, NULL);
    }
}

static bool corrupts_context(cudaError_t error) {
    switch ((int)error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown: return true;
    default: return false;
    }
}

static cudaError_t fault_of(const char *function) {
    double passed = (double)(now_ns() - started) / 1e9;
    for (int each = 0; each < fault_count; each++) {
        struct fault *fault = &faults[each];
        if (strcmp(fault->function, function) || passed < fault->seconds) continue;
        fault->call--;
        if (fault->call == 0 || (fault->lasting && fault->call < 0)) return fault->error;
    }
    return cudaSuccess;
}

cudaError_t enter(const char *function) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
    pthread_mutex_lock(&state);
    if (lost) return lost;
    cudaError_t error = fault_of(function);
    if (corrupts_context(error)) lost = error;
    return error;
}

cudaError_t leave(cudaError_t error) {
    pthread_mutex_unlock(&state);
    if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
    return error;
}

cudaError_t device_error(void) { return lost; }

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }
