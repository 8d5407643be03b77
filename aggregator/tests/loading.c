// As much of the driver as loading needs: it takes any code, and starts no kernel.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OK, INVALID };
static int modules;

// How many modules are loaded: for the test.
int loaded_modules(void) { return modules; }

static int made(void **handle) { return (*handle = malloc(8)) ? OK : INVALID; }
static int gone(void *handle) { free(handle); return OK; }

int cuInit(unsigned flags) { return OK; }
int cuDriverGetVersion(int *version) { *version = 13000; return OK; }
int cuGetErrorString(int code, const char **text) { *text = "no kernel is started here"; return OK; }
int cuDeviceGetCount(int *count) { *count = 1; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return OK; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "a stand-in", length); return OK; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)1 << 32; return OK; }
// It is of architecture 9.0 and has four multiprocessors.
int cuDeviceGetAttribute(int *value, int what, int device) { *value = what == 75 ? 9 : what == 76 ? 0 : what == 16 ? 4 : 1; return OK; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) { return made(context); }
int cuCtxDestroy_v2(void *context) { return gone(context); }
int cuCtxSetCurrent(void *context) { return OK; }
int cuCtxSetLimit(int what, size_t value) { return OK; }
int cuStreamCreate(void **stream, unsigned flags) { return made(stream); }
int cuStreamDestroy_v2(void *stream) { return gone(stream); }
int cuStreamSynchronize(void *stream) { return OK; }
int cuStreamQuery(void *stream) { return OK; }
int cuEventCreate(void **event, unsigned flags) { return made(event); }
int cuEventDestroy_v2(void *event) { return gone(event); }
int cuEventRecord(void *event, void *stream) { return OK; }
int cuMemGetInfo_v2(size_t *free, size_t *all) { *free = *all = (size_t)1 << 32; return OK; }
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) { *address = 1ull << 40; return OK; }
int cuMemFree_v2(unsigned long long address) { return OK; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) { *memory = calloc(bytes, 1); return *memory ? OK : INVALID; }
int cuMemHostGetDevicePointer_v2(unsigned long long *address, void *memory, unsigned flags) { *address = (unsigned long long)memory; return OK; }
int cuMemFreeHost(void *memory) { return gone(memory); }
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) { return OK; }
int cuMemsetD8Async(unsigned long long at, unsigned char value, size_t bytes, void *stream) { return OK; }
int cuModuleLoadData(void **module, const void *code) { modules++; return made(module); }
int cuModuleUnload(void *module) { modules--; return gone(module); }
int cuModuleGetFunction(void **function, void *module, const char *name) { *function = module; return OK; }
int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes, void *module, const char *name) { *address = 4096; *bytes = 1 << 16; return OK; }
int cuFuncGetAttribute(int *value, int what, void *function) { *value = 32; return OK; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) { *blocks = 4; return OK; }
int cuLaunchKernel(void) { return INVALID; }
int cuLaunchCooperativeKernel(void) { return INVALID; }
