/* Memory of the devices and page-locked memory of the host: mapped pages, and a list of them. */
#include "fake_cuda.h"
#include <stdio.h>
#include <sys/mman.h>

static struct block *blocks;
static size_t host_used, device_used[16];

struct block *block_of(const void *address) {
    for (struct block *each = blocks; each; each = each->next)
        if ((const char *)address >= each->start && (const char *)address < each->start + each->size)
            return each;
    return NULL;
}

enum memory memory_of(const void *address) {
    struct block *block = block_of(address);
    return block ? block->memory : PAGEABLE;
}

bool is_inside(const void *address, size_t size) {
    struct block *block = block_of(address);
    return !block || (const char *)address + size <= block->start + block->size;
}

static size_t *used_of(enum memory memory, int device) {
    return memory == DEVICE ? &device_used[device] : &host_used;
}

static void add(void *start, size_t size, enum memory memory) {
    struct block *block = calloc(1, sizeof *block);
    *block = (struct block){start, size, memory, current_device, 0, blocks};
    blocks = block;
    *used_of(memory, current_device) += size;
}

void count_users(const struct task *task, int by) {
    struct block *target = block_of(task->target), *source = block_of(task->source);
    if (target) target->users += by;
    if (source) source->users += by;
}

/* Forget a block; returns its size, or -1 if there is none that begins here. */
static int64_t forget(void *start, enum memory memory) {
    for (struct block **each = &blocks; *each; each = &(*each)->next) {
        struct block *block = *each;
        if (block->start != start || block->memory != memory) continue;
        if (block->users)
            fprintf(stderr, "fake CUDA: %p was released while a copy uses it\n", start);
        int64_t size = (int64_t)block->size;
        *used_of(memory, block->device) -= block->size;
        *each = block->next;
        free(block);
        return size;
    }
    return -1;
}

static void *pages(size_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    return mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, flags, -1, 0);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    ENTER();
    *total = settings.device_memory;
    *free_bytes = settings.device_memory - device_used[current_device];
    return leave(cudaSuccess);
}

cudaError_t cudaMalloc(void **found, size_t size) {
    ENTER();
    REQUIRE(device_used[current_device] + size <= settings.device_memory, cudaErrorMemoryAllocation);
    void *start = pages(size);
    REQUIRE(start != MAP_FAILED, cudaErrorMemoryAllocation);
    add(start, size, DEVICE);
    *found = start;
    return leave(cudaSuccess);
}

cudaError_t cudaFree(void *start) {
    ENTER();
    if (!start) return leave(cudaSuccess);
    wait_for_device(-1); /* as documented: cudaFree waits for the work before it */
    int64_t size = forget(start, DEVICE);
    REQUIRE(size >= 0, cudaErrorInvalidValue);
    munmap(start, size ? (size_t)size : 1);
    return leave(cudaSuccess);
}

cudaError_t cudaHostAlloc(void **found, size_t size, unsigned flags) {
    ENTER();
    REQUIRE(flags < 8, cudaErrorInvalidValue);
    REQUIRE(host_used + size <= settings.host_memory, cudaErrorMemoryAllocation);
    if (settings.host_alloc_waits) wait_for_device(-1);
    double mebibytes = (double)size / (1 << 20);
    int64_t end = now_ns() + 5000 + (int64_t)(settings.host_alloc_us_per_mib * 1e3 * mebibytes);
    void *start = pages(size);
    REQUIRE(start != MAP_FAILED, cudaErrorMemoryAllocation);
    madvise(start, size, MADV_POPULATE_WRITE);
    add(start, size, PINNED);
    *found = start;
    pthread_mutex_unlock(&state); /* other threads go on while the pages are locked */
    sleep_until(end);
    pthread_mutex_lock(&state);
    return leave(cudaSuccess);
}

cudaError_t cudaFreeHost(void *start) {
    ENTER();
    int64_t size = forget(start, PINNED);
    REQUIRE(size >= 0, cudaErrorInvalidValue);
    munmap(start, size ? (size_t)size : 1);
    return leave(cudaSuccess);
}

cudaError_t cudaHostRegister(void *start, size_t size, unsigned flags) {
    ENTER();
    REQUIRE(start && size && flags < 16, cudaErrorInvalidValue);
    REQUIRE(!block_of(start) && !block_of((char *)start + size - 1),
            cudaErrorHostMemoryAlreadyRegistered);
    REQUIRE(host_used + size <= settings.host_memory, cudaErrorMemoryAllocation);
    add(start, size, REGISTERED);
    return leave(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *start) {
    ENTER();
    return leave(forget(start, REGISTERED) < 0 ? cudaErrorHostMemoryNotRegistered : cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *found, const void *address) {
    ENTER();
    struct block *block = block_of(address);
    bool on_device = block && block->memory == DEVICE;
    memset(found, 0, sizeof *found);
    found->type = !block      ? cudaMemoryTypeUnregistered
                  : on_device ? cudaMemoryTypeDevice
                              : cudaMemoryTypeHost;
    found->device = block ? block->device : -2;
    found->devicePointer = block ? (void *)address : NULL;
    found->hostPointer = on_device ? NULL : (void *)address;
    return leave(cudaSuccess);
}
