/* A wall clock for one process, in front of that of the machine.
 *
 * Loaded with LD_PRELOAD into one process, it answers every query for the wall clock with the machine's time plus the
 * offset in a mapped file, which can be changed while the process runs. Monotonic clocks (monotonic, boot time,
 * processor time) are unchanged. So is the kernel's own use of the wall clock: the times of files, and timers that were
 * set to an absolute wall-clock time.
 *
 * The file is an array of settings, and the number of the current one. A setting is written while it is unused, then
 * made current by one store, so readers never see half of it and never wait. Each answer leaves a trace in the setting
 * that it used: the number of queries and the last answer. Traces may race; they are not exact, but prove that the
 * process itself received the answer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FILE_OF_MINE "FENCEPOST_CLOCK"
#define NO_TRACE "FENCEPOST_CLOCK_PROBE" /* set in probe processes, which leave no trace */
#define MAGIC 0x31434b434f4c4346 /* "FCLOCKC1", little endian */
#define SETTINGS 64
#define SECOND 1000000000L

struct setting {
    int64_t offset_ns; /* at the anchor */
    int64_t rate_ppm;  /* by how much it then grows: nanoseconds in a millisecond */
    int64_t anchor_ns; /* a time of the monotonic clock */
    int64_t query_count;
    int64_t last_answer_ns;
    int64_t unused[3];
};

struct clock_file {
    uint64_t magic;
    uint64_t current;
    uint64_t unused[6];
    struct setting settings[SETTINGS];
};

static int (*machine)(clockid_t, struct timespec *);
static struct clock_file *file;
static int leaves_traces;

/* May run before the constructor: another library may query the time first. */
static int ask_machine(clockid_t clock, struct timespec *time) {
    if (machine == NULL)
        machine = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return machine(clock, time);
}

__attribute__((constructor)) static void map_file(void) {
    const char *path = getenv(FILE_OF_MINE);
    int before = errno;
    int open_file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    leaves_traces = getenv(NO_TRACE) == NULL;
    if (open_file >= 0) {
        void *mapped = mmap(NULL, sizeof(struct clock_file), PROT_READ | PROT_WRITE, MAP_SHARED, open_file, 0);
        close(open_file);
        if (mapped != MAP_FAILED && ((struct clock_file *)mapped)->magic == MAGIC)
            file = mapped;
    }
    errno = before;
}

static int64_t nanoseconds(const struct timespec *time) {
    return (int64_t)time->tv_sec * SECOND + time->tv_nsec;
}

static int64_t ahead(const struct setting *setting) {
    struct timespec now;
    if (setting->rate_ppm == 0)
        return setting->offset_ns;
    ask_machine(CLOCK_MONOTONIC, &now);
    return setting->offset_ns + (int64_t)((__int128)(nanoseconds(&now) - setting->anchor_ns) * setting->rate_ppm / 1000000);
}

static void shift(struct timespec *time) {
    struct setting *setting;
    int64_t answer;
    if (file == NULL)
        return;
    setting = &file->settings[__atomic_load_n(&file->current, __ATOMIC_ACQUIRE) % SETTINGS];
    answer = nanoseconds(time) + ahead(setting);
    if (leaves_traces) {
        __atomic_store_n(&setting->last_answer_ns, answer, __ATOMIC_RELAXED);
        __atomic_store_n(&setting->query_count, __atomic_load_n(&setting->query_count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
    }
    time->tv_sec = answer / SECOND;
    time->tv_nsec = answer % SECOND;
    if (time->tv_nsec < 0) {
        time->tv_nsec += SECOND;
        time->tv_sec -= 1;
    }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = ask_machine(clock, time);
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        shift(time);
    return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    if (zone != NULL)
        memset(zone, 0, sizeof(struct timezone));
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *where) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
        return (time_t)-1;
    if (where != NULL)
        *where = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *time, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}
