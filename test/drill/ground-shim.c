/*
 * Preloaded into svc: file calls under one folder fail, or take their time, as a shared page says. The drill
 * `ground` writes that page while svc serves, so the ground turns bad and good again below the same process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE, READ, SYNC, MAKE, OPEN, DELAY_MS, CASES };

static volatile int32_t *page;
static const char *folder;
static size_t folder_length;

__attribute__((constructor)) static void take_up(void) {
  const char *control = getenv("GROUND_PAGE");
  folder = getenv("GROUND_FOLDER");
  if (control == NULL || folder == NULL) return;
  folder_length = strlen(folder);
  int descriptor = ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(control, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  void *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, descriptor, 0);
  page = mapped == MAP_FAILED ? NULL : mapped;
}

static int lies_under(const char *path) {
  return path != NULL && strncmp(path, folder, folder_length) == 0;
}

static int is_under(int descriptor) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return lies_under(path);
}

static void take_time(void) {
  struct timespec pause = {page[DELAY_MS] / 1000, (page[DELAY_MS] % 1000) * 1000000L};
  nanosleep(&pause, NULL);
}

/* What the call fails with, or 0. */
static int fault_of(int kind, int descriptor) {
  if (page == NULL || (page[kind] == 0 && (page[DELAY_MS] == 0 || kind == READ))) return 0;
  int kept = errno;
  int fault = is_under(descriptor) ? page[kind] : -1;
  if (fault == 0) take_time();
  errno = kept;
  return fault > 0 ? fault : 0;
}

static int fault_at(int kind, const char *path) {
  return page != NULL && page[kind] != 0 && lies_under(path) ? page[kind] : 0;
}

#define FAIL_ON(fault) do { int found = (fault); if (found != 0) { errno = found; return -1; } } while (0)

#define BY_DESCRIPTOR(kind, result, name, parameters, arguments) \
  result name parameters { \
    static result (*next) parameters; \
    if (next == NULL) next = (result (*) parameters)dlsym(RTLD_NEXT, #name); \
    FAIL_ON(fault_of(kind, descriptor)); \
    return next arguments; \
  }

BY_DESCRIPTOR(WRITE, ssize_t, write, (int descriptor, const void *bytes, size_t count), (descriptor, bytes, count))
BY_DESCRIPTOR(WRITE, ssize_t, pwrite, (int descriptor, const void *bytes, size_t count, off_t at), (descriptor, bytes, count, at))
BY_DESCRIPTOR(WRITE, ssize_t, pwrite64, (int descriptor, const void *bytes, size_t count, off64_t at), (descriptor, bytes, count, at))
BY_DESCRIPTOR(WRITE, ssize_t, writev, (int descriptor, const struct iovec *parts, int count), (descriptor, parts, count))
BY_DESCRIPTOR(WRITE, ssize_t, pwritev, (int descriptor, const struct iovec *parts, int count, off_t at), (descriptor, parts, count, at))
BY_DESCRIPTOR(WRITE, ssize_t, pwritev64, (int descriptor, const struct iovec *parts, int count, off64_t at), (descriptor, parts, count, at))
BY_DESCRIPTOR(WRITE, int, fallocate, (int descriptor, int mode, off_t at, off_t length), (descriptor, mode, at, length))
BY_DESCRIPTOR(WRITE, int, fallocate64, (int descriptor, int mode, off64_t at, off64_t length), (descriptor, mode, at, length))
BY_DESCRIPTOR(READ, ssize_t, read, (int descriptor, void *bytes, size_t count), (descriptor, bytes, count))
BY_DESCRIPTOR(READ, ssize_t, pread, (int descriptor, void *bytes, size_t count, off_t at), (descriptor, bytes, count, at))
BY_DESCRIPTOR(READ, ssize_t, pread64, (int descriptor, void *bytes, size_t count, off64_t at), (descriptor, bytes, count, at))
BY_DESCRIPTOR(READ, ssize_t, preadv, (int descriptor, const struct iovec *parts, int count, off_t at), (descriptor, parts, count, at))
BY_DESCRIPTOR(READ, ssize_t, preadv64, (int descriptor, const struct iovec *parts, int count, off64_t at), (descriptor, parts, count, at))
BY_DESCRIPTOR(SYNC, int, fsync, (int descriptor), (descriptor))
BY_DESCRIPTOR(SYNC, int, fdatasync, (int descriptor), (descriptor))

#define BY_PATH(name, parameters, arguments) \
  int name parameters { \
    static int (*next) parameters; \
    if (next == NULL) next = (int (*) parameters)dlsym(RTLD_NEXT, #name); \
    FAIL_ON(fault_at(MAKE, path)); \
    return next arguments; \
  }

BY_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
BY_PATH(rename, (const char *path, const char *to), (path, to))

static int open_fault(const char *path, int flags) {
  int writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  int fault = fault_at(OPEN, path);
  return fault != 0 || !writes ? fault : fault_at(MAKE, path);
}

#define OPENING(name) \
  int name(const char *path, int flags, ...) { \
    static int (*next)(const char *, int, ...); \
    if (next == NULL) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    FAIL_ON(open_fault(path, flags)); \
    return next(path, flags, mode); \
  }

OPENING(open)
OPENING(open64)
