/* Devices: their number, properties, peers, and the names of errors. */
#include "fake_cuda.h"
#include <stdio.h>

#define MOST_DEVICES 16

__thread int current_device;
static __thread bool peers[MOST_DEVICES][MOST_DEVICES];

bool is_device(int device) { return device >= 0 && device < settings.devices; }

struct named {
    cudaError_t error;
    const char *name, *text;
};
static const struct named errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
};

static const struct named *named(cudaError_t error) {
    for (size_t each = 0; each < sizeof errors / sizeof *errors; each++)
        if (errors[each].error == error) return &errors[each];
    return NULL;
}

const char *cudaGetErrorName(cudaError_t error) {
    const struct named *found = named(error);
    return found ? found->name : "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error) {
    const struct named *found = named(error);
    return found ? found->text : "unknown error";
}

cudaError_t cudaDriverGetVersion(int *version) {
    ENTER();
    *version = 13000;
    return leave(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    ENTER();
    *device = current_device;
    return leave(cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int *count) {
    ENTER();
    *count = settings.devices;
    return leave(settings.devices ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
    ENTER();
    REQUIRE(is_device(device), cudaErrorInvalidDevice);
    current_device = device;
    return leave(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void) {
    ENTER();
    for (struct CUstream_st *each = streams; each; each = each->next)
        if (each->capture) return leave(invalidate(each));
    wait_for_device(current_device);
    return leave(device_error());
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
    ENTER();
    REQUIRE(is_device(device) && length >= 13, cudaErrorInvalidValue);
    snprintf(text, (size_t)length, "0000:%02X:00.0", 0x3b + device);
    return leave(cudaSuccess);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    ENTER();
    unsigned bus = 0;
    REQUIRE(sscanf(text, "%*x:%x:", &bus) == 1, cudaErrorInvalidValue);
    *device = (int)bus - 0x3b;
    return leave(is_device(*device) ? cudaSuccess : cudaErrorInvalidDevice);
}

static int attribute(enum cudaDeviceAttr name) {
    switch ((int)name) {
    case cudaDevAttrComputeCapabilityMajor: return 9;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrMultiProcessorCount: return 132;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX: return 1024;
    case cudaDevAttrMaxGridDimX: return 2147483647;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrUnifiedAddressing: return 1;
    default: return 0;
    }
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr name, int device) {
    ENTER();
    REQUIRE(is_device(device), cudaErrorInvalidDevice);
    *value = attribute(name);
    return leave(cudaSuccess);
}

#undef cudaGetDeviceProperties
static cudaError_t properties(struct cudaDeviceProp *found, int device) {
    REQUIRE(is_device(device), cudaErrorInvalidDevice);
    memset(found, 0, sizeof *found);
    /* The first word makes gradtool label everything that it measures here. */
    snprintf(found->name, sizeof found->name, "SIMULATED device %d (host memory)", device);
    found->totalGlobalMem = settings.device_memory;
    found->major = 9;
    found->multiProcessorCount = 132;
    found->asyncEngineCount = 3;
    found->warpSize = 32;
    found->maxThreadsPerBlock = 1024;
    found->unifiedAddressing = 1;
    found->pciBusID = 0x3b + device;
    found->l2CacheSize = 50 << 20;
    return leave(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *found, int device) {
    ENTER();
    return properties(found, device);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *found, int device) {
    ENTER();
    return properties(found, device);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    ENTER();
    REQUIRE(is_device(device) && is_device(peer), cudaErrorInvalidDevice);
    *can = device != peer;
    return leave(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    ENTER();
    REQUIRE(is_device(peer) && peer != current_device, cudaErrorInvalidDevice);
    REQUIRE(!flags, cudaErrorInvalidValue);
    REQUIRE(!peers[current_device][peer], cudaErrorPeerAccessAlreadyEnabled);
    peers[current_device][peer] = true;
    return leave(cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    ENTER();
    REQUIRE(is_device(peer), cudaErrorInvalidDevice);
    REQUIRE(peers[current_device][peer], cudaErrorPeerAccessNotEnabled);
    peers[current_device][peer] = false;
    return leave(cudaSuccess);
}
