// As much of the driver as copies need, in memory of the host. Its stream is a thread that takes its time, so that whoever does not wait for a
// copy reads or overwrites what is still under way; and it refuses copies that are longer than a pinned buffer.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUEUE = 4096, LONGEST = 4 << 20 };
struct Event { unsigned long recorded, done; };
struct Op { void *to; const void *from; size_t bytes; int value; struct Event *event; unsigned long number; };
static struct Op ops[QUEUE];
static unsigned long begun, ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *stream(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (ended == begun) pthread_cond_wait(&changed, &lock);
    struct Op op = ops[ended % QUEUE];
    pthread_mutex_unlock(&lock);
    usleep(300);
    if (op.to && op.from) memcpy(op.to, op.from, op.bytes);
    if (op.to && !op.from) memset(op.to, op.value, op.bytes);
    pthread_mutex_lock(&lock);
    if (op.event) op.event->done = op.number;
    ended++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
}
static void start(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, stream, NULL);
}
static int push(struct Op op) {
  pthread_once(&once, start);
  pthread_mutex_lock(&lock);
  while (begun - ended == QUEUE) pthread_cond_wait(&changed, &lock);
  if (op.event) op.number = ++op.event->recorded;
  ops[begun++ % QUEUE] = op;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return 0;
}

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 12080; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Pretended GPU", size); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)8 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  *value = which == 75 ? 9 : which == 76 ? 0 : which == 16 ? 7 : 1;
  return 0;
}
int cuGetErrorString(int code, const char **text) { *text = "a pretended error"; return 0; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) { *context = &ops; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxDestroy_v2(void *context) { return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = &lock; return 0; }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuStreamSynchronize(void *stream) {
  pthread_mutex_lock(&lock);
  while (ended != begun) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return 0;
}
int cuMemGetInfo_v2(size_t *available, size_t *total) { *available = *total = (size_t)8 << 30; return 0; }
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) { *address = (unsigned long long)malloc(bytes); return 0; }
int cuMemFree_v2(unsigned long long address) { free((void *)address); return 0; }
int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) { *address = malloc(bytes); return 0; }
int cuMemHostGetDevicePointer_v2(unsigned long long *device, void *host, unsigned flags) { *device = (unsigned long long)host; return 0; }
int cuMemFreeHost(void *address) { free(address); return 0; }
int cuMemsetD8Async(unsigned long long at, unsigned char value, size_t bytes, void *stream) {
  return push((struct Op){.to = (void *)at, .bytes = bytes, .value = value});
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
  return bytes > LONGEST ? 1 : push((struct Op){.to = (void *)to, .from = from, .bytes = bytes});
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  return bytes > LONGEST ? 1 : push((struct Op){.to = to, .from = (void *)from, .bytes = bytes});
}
int cuEventCreate(void **event, unsigned flags) { *event = calloc(1, sizeof(struct Event)); return 0; }
int cuEventRecord(struct Event *event, void *stream) { return push((struct Op){.event = event}); }
int cuEventSynchronize(struct Event *event) {
  pthread_mutex_lock(&lock);
  while (event->done != event->recorded) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return 0;
}
int cuEventDestroy_v2(struct Event *event) { free(event); return 0; }
