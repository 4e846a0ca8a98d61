/* Records every change a process makes to the files under DISK_DIR, in order, into DISK_LOG, and fails on demand.
 *
 * Preloaded into the process under test. Each change and its log record happen under one lock shared by all threads
 * and processes, so the log's order is the disk's order. Changes made through C stdio, io_uring or a writable mmap
 * are not seen. A power cut is made from the log afterwards; see recorder.py for the format.
 */
#undef _FORTIFY_SOURCE /* its inline wrappers would clash with the functions defined here */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "offsets are handed to the kernel in one register");

enum kind { FOUND, CREATE, MAKE_DIRECTORY, WRITE, TRUNCATE, SYNC, SYNC_DIRECTORY, RENAME, LINK, UNLINK, ACK };
enum fault { HEALTHY, NO_SPACE, IO_ERROR, SHORT_WRITE, KILL_BEFORE, KILL_AFTER };

struct header { char magic[8]; uint64_t end, counter, reserved; };
struct record {
    uint32_t kind;
    int32_t error;
    uint64_t number, inode;
    int64_t offset;
    uint32_t pid, path, target, data; /* the last three are the lengths of what follows */
};

struct operation {
    enum kind kind;
    const char *path, *target; /* relative to DISK_DIR */
    uint64_t inode;
    int64_t offset;
    const void *data;
    size_t length;
};

static char disk[PATH_MAX], log_path[PATH_MAX];
static size_t disk_length;
static enum fault fault = HEALTHY;
static uint64_t fault_first, fault_last;
static pthread_mutex_t in_process = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static struct header header;

static void lock_threads(void) { pthread_mutex_lock(&in_process); }
static void unlock_threads(void) { pthread_mutex_unlock(&in_process); }

static void give_up(const char *why) {
    dprintf(2, "recording disk: %s: %s\n", why, strerror(errno));
    abort();
}

__attribute__((constructor)) static void configure(void) {
    const char *names[] = {"enospc", "eio", "short", "kill", "kill-after"};
    const char *directory = getenv("DISK_DIR"), *log = getenv("DISK_LOG"), *wanted = getenv("DISK_FAIL");
    if (!directory || !log) return;
    if (!realpath(directory, disk)) give_up("DISK_DIR");
    snprintf(log_path, sizeof log_path, "%s", log);
    disk_length = strlen(disk);
    for (int i = 0; wanted && i < 5; i++)
        if (!strcmp(wanted, names[i])) fault = NO_SPACE + i;
    if (wanted && *wanted && fault == HEALTHY) errno = EINVAL, give_up("DISK_FAIL");
    const char *at = getenv("DISK_AT"), *lasting = getenv("DISK_FAIL_FOR");
    fault_first = at ? strtoull(at, NULL, 10) : 1;
    fault_last = lasting ? fault_first + strtoull(lasting, NULL, 10) - 1 : UINT64_MAX;
    pthread_atfork(lock_threads, unlock_threads, unlock_threads);
}

/* The log is opened anew each time: a program may close every descriptor it knows nothing of. A record lock belongs
 * to one process, so a forked child does not hold its parent's; closing the file releases it, and so does a kill. */
static void begin(void) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    lock_threads();
    log_file = syscall(SYS_openat, AT_FDCWD, log_path, O_RDWR | O_CLOEXEC, 0);
    if (log_file < 0) give_up("DISK_LOG");
    while (fcntl(log_file, F_SETLKW, &whole) < 0)
        if (errno != EINTR) give_up("locking the log");
    if (syscall(SYS_pread64, log_file, &header, sizeof header, 0L) != sizeof header) give_up("reading the log");
}

static void finish(void) {
    int kept = errno;
    syscall(SYS_close, log_file);
    log_file = -1;
    unlock_threads();
    errno = kept;
}

static void save_header(void) {
    if (syscall(SYS_pwrite64, log_file, &header, sizeof header, 0L) != sizeof header) give_up("writing the log");
}

static void put(const void *data, size_t length) {
    if (syscall(SYS_pwrite64, log_file, data, length, (long)header.end) != (long)length) give_up("writing the log");
    header.end += length;
}

/* The header moves last: a record torn by a kill lies past the end and the next one is written over it. */
static void append(const struct operation *done, uint64_t number, int error) {
    const char *target = done->target ? done->target : "";
    struct record record = {done->kind, error, number, done->inode, done->offset, getpid(),
                            strlen(done->path), strlen(target), error ? 0 : done->length};
    put(&record, sizeof record);
    put(done->path, record.path);
    put(target, record.target);
    put(done->data, record.data);
    save_header();
}

static int injected(enum kind kind) {
    if (fault == IO_ERROR) return EIO;
    if (fault == NO_SPACE && kind != UNLINK) return ENOSPC; /* giving room back needs none */
    return 0;
}

/* Counts the operation, lets the fault strike if it is due, asks the kernel, and writes down what became of it. */
static long carry_out(struct operation *wanted, long call, long a, long b, long c, long d, long e) {
    uint64_t number = ++header.counter;
    int due = number >= fault_first && number <= fault_last, error = due ? injected(wanted->kind) : 0;
    long result = -1;
    if (due && fault == KILL_BEFORE) {
        save_header();
        raise(SIGKILL);
    }
    if (due && fault == SHORT_WRITE && wanted->kind == WRITE && wanted->length > 1) c = wanted->length / 2;
    if (error) errno = error;
    else result = syscall(call, a, b, c, d, e);
    error = result < 0 ? errno : 0;
    if (!error && wanted->kind == WRITE) wanted->length = result;
    if (!error && wanted->kind == CREATE) {
        struct stat made;
        if (fstat(result, &made) == 0) wanted->inode = made.st_ino;
    }
    append(wanted, number, error);
    if (due && fault == KILL_AFTER) raise(SIGKILL);
    errno = error ? error : errno;
    return result;
}

/* ---- where a descriptor or a name lies ---- */

static const char *inside(const char *absolute) {
    if (!disk_length || strncmp(absolute, disk, disk_length)) return NULL;
    if (!absolute[disk_length]) return "";
    return absolute[disk_length] == '/' ? absolute + disk_length + 1 : NULL;
}

static int is_ack(const char *path) {
    const char *slash = strrchr(path, '/');
    return !strcmp(slash ? slash + 1 : path, "ACK");
}

struct place { char absolute[PATH_MAX + 16]; const char *path; struct stat status; };

/* The kernel is asked each time: it knows of duplicated and inherited descriptors and of renamed files. */
static int place_of(int fd, struct place *place) {
    char link[32];
    if (!disk_length) return 0;
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, place->absolute, PATH_MAX);
    place->absolute[length > 0 ? length : 0] = 0;
    place->path = length > 0 ? inside(place->absolute) : NULL;
    int found = place->path && fstat(fd, &place->status) == 0;
    char *mark = found && !place->status.st_nlink ? strstr(place->absolute, " (deleted)") : NULL;
    if (mark) *mark = 0;
    errno = kept;
    return found && (S_ISREG(place->status.st_mode) || S_ISDIR(place->status.st_mode));
}

/* The name itself is not followed: what is created, renamed or removed is the entry in its directory. */
static int locate(int directory, const char *path, struct place *place) {
    char joined[PATH_MAX], parent[PATH_MAX];
    if (!disk_length || !path || !*path) return 0;
    int kept = errno, length;
    if (*path == '/' || directory == AT_FDCWD) length = snprintf(joined, sizeof joined, "%s", path);
    else length = snprintf(joined, sizeof joined, "/proc/self/fd/%d/%s", directory, path);
    if (length >= PATH_MAX) return 0;
    while (length > 1 && joined[length - 1] == '/') joined[--length] = 0;
    char *slash = strrchr(joined, '/'), *name = slash ? slash + 1 : joined;
    if (slash) *slash = 0;
    const char *resolved = realpath(slash ? (*joined ? joined : "/") : ".", parent);
    errno = kept;
    if (!resolved) return 0;
    if (snprintf(place->absolute, sizeof place->absolute, "%s/%s", parent, name) >= PATH_MAX) return 0;
    place->path = inside(place->absolute);
    return place->path != NULL && *place->path;
}

static int exists(struct place *place) {
    int kept = errno, found = lstat(place->absolute, &place->status) == 0;
    errno = kept;
    return found;
}

/* ---- data ---- */

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset, int positioned) {
    struct place place;
    long call = positioned ? SYS_pwrite64 : SYS_write;
    if (!place_of(fd, &place) || !S_ISREG(place.status.st_mode)) return syscall(call, fd, data, length, offset);
    struct operation write = {.path = place.path, .inode = place.status.st_ino, .data = data, .length = length};
    ssize_t result;
    begin();
    if (is_ack(place.path)) {
        write.kind = ACK;
        result = syscall(call, fd, data, length, offset);
        append(&write, 0, result < 0 ? errno : 0);
    } else {
        struct stat now;
        write.kind = WRITE;
        write.offset = positioned ? offset : lseek(fd, 0, SEEK_CUR);
        if ((fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &now) == 0) write.offset = now.st_size;
        result = carry_out(&write, call, fd, (long)data, length, offset, 0);
    }
    finish();
    return result;
}

static ssize_t write_vector(int fd, const struct iovec *parts, int count, off_t offset, int positioned) {
    size_t length = 0, filled = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    char *joined = malloc(length ? length : 1);
    if (!joined) return -1;
    for (int i = 0; i < count; filled += parts[i++].iov_len)
        memcpy(joined + filled, parts[i].iov_base, parts[i].iov_len);
    ssize_t result = write_at(fd, joined, length, offset, positioned);
    free(joined);
    return result;
}

/* A change of size, or a sync. Allocating room never shrinks a file. */
static int change(int fd, enum kind kind, int64_t size, long call, long b, long c, long d) {
    struct place place;
    if (!place_of(fd, &place) || is_ack(place.path)) return syscall(call, fd, b, c, d);
    if (call == SYS_fallocate && b) return errno = EOPNOTSUPP, -1; /* holes and zeroed ranges are not modelled */
    begin();
    fstat(fd, &place.status);
    struct operation wanted = {.kind = kind, .path = place.path, .inode = place.status.st_ino, .offset = size};
    if (kind == SYNC && S_ISDIR(place.status.st_mode)) wanted.kind = SYNC_DIRECTORY;
    if (call == SYS_fallocate && place.status.st_size > size) wanted.offset = place.status.st_size;
    int result = carry_out(&wanted, call, fd, b, c, d, 0);
    finish();
    return result;
}

/* ---- names ---- */

static int open_at(int directory, const char *path, int flags, mode_t mode) {
    struct place place;
    if (!(flags & (O_CREAT | O_TRUNC)) || !locate(directory, path, &place) || is_ack(place.path))
        return syscall(SYS_openat, directory, path, flags, mode);
    begin();
    int result, found = exists(&place), cuts = found && (flags & O_TRUNC) && place.status.st_size > 0;
    struct operation made = {.kind = found ? TRUNCATE : CREATE, .path = place.path};
    if (found) made.inode = place.status.st_ino;
    if ((found && !S_ISREG(place.status.st_mode)) || (found && !cuts) || (!found && !(flags & O_CREAT))) {
        finish(); /* changes nothing; and opening a pipe may wait for ever */
        return syscall(SYS_openat, directory, path, flags, mode);
    }
    result = carry_out(&made, SYS_openat, directory, (long)path, flags, mode, 0);
    finish();
    return result;
}

static int make_directory(int directory, const char *path, mode_t mode) {
    struct place place;
    if (!locate(directory, path, &place)) return syscall(SYS_mkdirat, directory, path, mode);
    struct operation made = {.kind = MAKE_DIRECTORY, .path = place.path};
    int result;
    begin();
    if (exists(&place)) result = syscall(SYS_mkdirat, directory, path, mode);
    else result = carry_out(&made, SYS_mkdirat, directory, (long)path, mode, 0, 0);
    finish();
    return result;
}

static int remove_at(int directory, const char *path, int flags) {
    struct place place;
    if (!locate(directory, path, &place) || is_ack(place.path)) return syscall(SYS_unlinkat, directory, path, flags);
    begin();
    int found = exists(&place), result;
    struct operation gone = {.kind = UNLINK, .path = place.path, .inode = found ? place.status.st_ino : 0};
    if (found) result = carry_out(&gone, SYS_unlinkat, directory, (long)path, flags, 0, 0);
    else result = syscall(SYS_unlinkat, directory, path, flags);
    finish();
    return result;
}

/* The directory is a disk of its own: nothing is renamed or linked into it or out of it. */
static int move(enum kind kind, long call, int from, const char *path, int to, const char *target, unsigned flags) {
    struct place source, goal;
    int source_inside = locate(from, path, &source), goal_inside = locate(to, target, &goal);
    if (!source_inside && !goal_inside) return syscall(call, from, path, to, target, flags);
    if (source_inside != goal_inside) return errno = EXDEV, -1;
    if (flags & RENAME_EXCHANGE && kind == RENAME) return errno = EINVAL, -1;
    begin();
    int found = exists(&source), result;
    struct operation moved = {.kind = kind, .path = source.path, .target = goal.path};
    if (found) moved.inode = source.status.st_ino;
    if (found) result = carry_out(&moved, call, from, (long)path, to, (long)target, flags);
    else result = syscall(call, from, path, to, target, flags);
    finish();
    return result;
}

/* ---- what programs call ---- */

#define ALSO(name, known) extern __typeof__(known) name __attribute__((alias(#known)))
#define OPEN(name, parameters, directory)                                                  \
    int name parameters {                                                                  \
        va_list rest;                                                                      \
        va_start(rest, flags);                                                             \
        mode_t mode = va_arg(rest, mode_t); /* meaningless, and unused, unless it creates */ \
        va_end(rest);                                                                      \
        return open_at(directory, path, flags, mode);                                      \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int from, const char *path, int flags, ...), from)
ALSO(open64, open);
ALSO(openat64, openat);
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __openat_2(int from, const char *path, int flags) { return open_at(from, path, flags, 0); }
ALSO(__open64_2, __open_2);
ALSO(__openat64_2, __openat_2);
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
ALSO(creat64, creat);

ssize_t write(int fd, const void *data, size_t length) { return write_at(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return write_at(fd, data, length, at, 1); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_vector(fd, parts, count, 0, 0); }
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
    return flags ? (errno = EOPNOTSUPP, -1) : write_vector(fd, parts, count, at, at != -1);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return pwritev2(fd, parts, count, at, 0); }
ALSO(pwrite64, pwrite);
ALSO(pwritev64, pwritev);
ALSO(pwritev64v2, pwritev2);

/* Copies inside the kernel show no data here; told that they are impossible, programs copy by hand. */
ssize_t sendfile(int to, int from, off_t *at, size_t length) {
    struct place place;
    return place_of(to, &place) ? (errno = EINVAL, -1) : syscall(SYS_sendfile, to, from, at, length);
}
ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
    struct place place;
    if (place_of(to, &place)) return errno = EXDEV, -1;
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
}
ALSO(sendfile64, sendfile);

int ftruncate(int fd, off_t size) { return change(fd, TRUNCATE, size, SYS_ftruncate, size, 0, 0); }
int truncate(const char *path, off_t size) {
    int fd = open_at(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0), result = fd < 0 ? -1 : ftruncate(fd, size), kept = errno;
    if (fd >= 0) close(fd);
    return errno = kept, result;
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
    return change(fd, TRUNCATE, offset + length, SYS_fallocate, mode, offset, length);
}
int posix_fallocate(int fd, off_t offset, off_t length) { return fallocate(fd, 0, offset, length) ? errno : 0; }
ALSO(ftruncate64, ftruncate);
ALSO(truncate64, truncate);
ALSO(fallocate64, fallocate);
ALSO(posix_fallocate64, posix_fallocate);
int fsync(int fd) { return change(fd, SYNC, 0, SYS_fsync, 0, 0, 0); }
int fdatasync(int fd) { return change(fd, SYNC, 0, SYS_fdatasync, 0, 0, 0); }

int mkdir(const char *path, mode_t mode) { return make_directory(AT_FDCWD, path, mode); }
int mkdirat(int from, const char *path, mode_t mode) { return make_directory(from, path, mode); }
int unlink(const char *path) { return remove_at(AT_FDCWD, path, 0); }
int unlinkat(int from, const char *path, int flags) { return remove_at(from, path, flags); }
int rmdir(const char *path) { return remove_at(AT_FDCWD, path, AT_REMOVEDIR); }
int renameat2(int from, const char *path, int to, const char *target, unsigned flags) {
    return move(RENAME, SYS_renameat2, from, path, to, target, flags);
}
int renameat(int from, const char *path, int to, const char *target) { return renameat2(from, path, to, target, 0); }
int rename(const char *path, const char *target) { return renameat2(AT_FDCWD, path, AT_FDCWD, target, 0); }
int linkat(int from, const char *path, int to, const char *target, int flags) {
    return move(LINK, SYS_linkat, from, path, to, target, flags);
}
int link(const char *path, const char *target) { return linkat(AT_FDCWD, path, AT_FDCWD, target, 0); }
