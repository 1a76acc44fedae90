/* Lets one of the write steps of a command fail.
 *
 *     supervise(ROOT, KIND, STEP, LOG)
 *
 * forks. The child becomes the command; the parent watches it, and all processes below it, until they are over.
 * A write step is a system call that changes a file under ROOT:
 * whoever makes it (Python, SQLite, numpy, git, a static program) and however (a mapped file is a step when it
 * is mapped or flushed). The kernel hands each to this program (seccomp's user notification), which counts it,
 * writes "NUMBER main|child CALL PATH" to LOG, and lets it happen, or not:
 *
 *     none           every step happens
 *     kill           step STEP does not, and every process of the command is killed
 *     crash          step STEP does not, and the process that made it is killed
 *     EIO, ENOSPC    step STEP fails with this error
 *     ENOSPC+, EROFS+   so does every later one that can fail so
 *
 * The parent hands SIGTERM on as SIGINT. A command that a signal ended has 128 and the signal as its code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* Where a call names its file, and whether a full disk can stop it. */
enum { FD0, PATH0, AT01, AT12, AT23, MAPPED };
struct call { int nr; const char *name; int where; int fills; };
static const struct call CALLS[] = {
    {SYS_write, "write", FD0, 1}, {SYS_pwrite64, "pwrite", FD0, 1}, {SYS_writev, "writev", FD0, 1},
    {SYS_pwritev, "pwritev", FD0, 1}, {SYS_pwritev2, "pwritev2", FD0, 1}, {SYS_sendfile, "sendfile", FD0, 1},
    {SYS_copy_file_range, "copy_file_range", AT23, 1}, {SYS_fallocate, "fallocate", FD0, 1},
    {SYS_ftruncate, "ftruncate", FD0, 1}, {SYS_truncate, "truncate", PATH0, 1},
    {SYS_fsync, "fsync", FD0, 1}, {SYS_fdatasync, "fdatasync", FD0, 1}, {SYS_sync_file_range, "sync_file_range", FD0, 1},
    {SYS_fchmod, "fchmod", FD0, 0}, {SYS_fchmodat, "fchmodat", AT01, 0}, {SYS_utimensat, "utimensat", AT01, 0},
    {SYS_openat, "open", AT01, 1}, {SYS_openat2, "openat2", AT01, 1}, {SYS_mkdirat, "mkdir", AT01, 1},
    {SYS_unlinkat, "unlink", AT01, 0}, {SYS_renameat2, "rename", AT23, 1}, {SYS_linkat, "link", AT23, 1},
    {SYS_symlinkat, "symlink", AT12, 1}, {SYS_mmap, "mmap", MAPPED, 1}, {SYS_msync, "msync", MAPPED, 1},
#ifdef SYS_open
    {SYS_open, "open", PATH0, 1}, {SYS_creat, "creat", PATH0, 1}, {SYS_mkdir, "mkdir", PATH0, 1},
    {SYS_rmdir, "rmdir", PATH0, 0}, {SYS_unlink, "unlink", PATH0, 0}, {SYS_chmod, "chmod", PATH0, 0},
    {SYS_rename, "rename", AT12, 1}, {SYS_link, "link", AT12, 1}, {SYS_symlink, "symlink", AT12, 1},
#endif
#ifdef SYS_renameat
    {SYS_renameat, "rename", AT23, 1},
#endif
};
#define COUNT ((int)(sizeof CALLS / sizeof *CALLS))

static pid_t first;

static void hand_on(int number) { (void)number; kill(first, SIGINT); }

static void die(const char *what) { perror(what); exit(125); }

/* A filter that reports the calls above; opening only for writing, mapping only shared and for writing. */
static int install(void) {
    static struct sock_filter code[3 * COUNT + 16];
    int n = 0;
#define ADD(...) code[n++] = (struct sock_filter)__VA_ARGS__
#define ARG(i) offsetof(struct seccomp_data, args[i])
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (int i = 0; i < COUNT; i++) {
        int nr = CALLS[i].nr;
        int flags = nr == SYS_openat ? 2 : -1;
#ifdef SYS_open
        if (nr == SYS_open) flags = 1;
#endif
        if (flags >= 0 || nr == SYS_mmap) continue;
        ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
        ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    }
#ifdef SYS_open
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 4));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(1)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#endif
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(2)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(2)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 0, 3));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(3)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog program = {(unsigned short)n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0) die("seccomp");
    return listener;
}

static void hand_over(int channel, int descriptor) {
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(channel, &message, 0) != 1) die("sendmsg");
}

static int take_over(int channel) {
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int descriptor = -1;
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    if (descriptor < 0) die("no filter");
    return descriptor;
}

static void link_of(char *out, size_t size, pid_t pid, const char *what, int number) {
    char name[64];
    if (number >= 0) snprintf(name, sizeof name, "/proc/%d/fd/%d", pid, number);
    else snprintf(name, sizeof name, "/proc/%d/%s", pid, what);
    ssize_t length = readlink(name, out, size - 1);
    out[length < 0 ? 0 : length] = 0;
}

/* The path that a call names by folder and text; empty when it cannot be read. */
static void named(char *out, size_t size, pid_t pid, int folder, unsigned long long address) {
    char text[4096] = "", name[32];
    snprintf(name, sizeof name, "/proc/%d/mem", pid);
    int memory = open(name, O_RDONLY | O_CLOEXEC);
    if (memory >= 0) {
        ssize_t length = pread(memory, text, sizeof text - 1, (off_t)address);
        if (length < 0) { /* the text ends before a page that is not there */
            size_t part = 4096 - address % 4096;
            length = pread(memory, text, part < sizeof text ? part : sizeof text - 1, (off_t)address);
        }
        text[length < 0 ? 0 : length] = 0;
        close(memory);
    }
    if (text[0] == '/') { snprintf(out, size, "%.4000s", text); return; }
    char base[4096];
    link_of(base, sizeof base, pid, "cwd", folder == AT_FDCWD ? -1 : folder);
    if (text[0]) snprintf(out, size, "%.2000s/%.2000s", base, text);
    else snprintf(out, size, "%.4000s", base);
}

static void path_of(char *out, size_t size, const struct call *call, const struct seccomp_notif *request) {
    const unsigned long long *a = (const unsigned long long *)request->data.args;
    pid_t pid = (pid_t)request->pid;
    out[0] = 0;
    switch (call->where) {
    case FD0: link_of(out, size, pid, NULL, (int)a[0]); break;
    case PATH0: named(out, size, pid, AT_FDCWD, a[0]); break;
    case AT01: named(out, size, pid, (int)a[0], a[1]); break;
    case AT12: /* rename(old, new), link(old, new), symlinkat(text, folder, new) */
        if (call->nr == SYS_symlinkat) named(out, size, pid, (int)a[1], a[2]);
        else named(out, size, pid, AT_FDCWD, a[1]);
        break;
    case AT23:
        if (call->nr == SYS_copy_file_range) link_of(out, size, pid, NULL, (int)a[2]);
        else named(out, size, pid, (int)a[2], a[3]);
        break;
    case MAPPED:
        if (call->nr == SYS_mmap && (int)a[4] >= 0) link_of(out, size, pid, NULL, (int)a[4]);
        break;
    }
}

/* Whether a full disk stops this call: what is there already needs no space. */
static int fills(const struct call *call, const char *path) {
    int creates = !strcmp(call->name, "open") || !strcmp(call->name, "mkdir");
    return call->fills && (!creates || access(path, F_OK) != 0);
}

static int is_thread_of(pid_t process, pid_t thread) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/task/%d", process, thread);
    return access(name, F_OK) == 0;
}

static void kill_below(void) {
    kill(-first, SIGKILL);
    kill(first, SIGKILL);
    char name[64], children[4096];
    snprintf(name, sizeof name, "/proc/self/task/%d/children", getpid());
    FILE *list = fopen(name, "r"); /* those that lost their parents are ours */
    if (!list) return;
    size_t length = fread(children, 1, sizeof children - 1, list);
    fclose(list);
    children[length] = 0;
    for (char *each = strtok(children, " "); each; each = strtok(NULL, " ")) kill(atoi(each), SIGKILL);
}

/* In the child -1, with the filter in place; in the parent the child's exit code, when all below it is over. */
int supervise(const char *root, const char *kind, long at, const char *steps_file) {
    long steps = 0;
    int killing = 0, stays = strchr(kind, '+') != NULL;
    int code = !strncmp(kind, "EIO", 3) ? EIO : !strncmp(kind, "ENOSPC", 6) ? ENOSPC : !strncmp(kind, "EROFS", 5) ? EROFS : 0;
    FILE *log = fopen(steps_file, "we");
    int channel[2];
    if (!log || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) die("start");
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    first = fork();
    if (first == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int listener = install();
        hand_over(channel[0], listener);
        close(listener);
        close(channel[0]);
        close(channel[1]);
        return -1;
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, hand_on);
    int listener = take_over(channel[1]), result = 0;
    struct seccomp_notif request;
    struct seccomp_notif_resp reply;
    for (;;) {
        int status;
        pid_t ended;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == first) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno == ECHILD) break;
        if (killing) kill_below();
        struct pollfd ready = {listener, POLLIN, 0};
        if (poll(&ready, 1, 2) <= 0) continue;
        if (!(ready.revents & POLLIN)) { usleep(1000); continue; }
        memset(&request, 0, sizeof request);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request)) continue;
        const struct call *call = CALLS;
        while (call->nr != request.data.nr) call++;
        char path[8192];
        path_of(path, sizeof path, call, &request);
        memset(&reply, 0, sizeof reply);
        reply.id = request.id;
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        if (!strncmp(path, root, strlen(root))) {
            steps++;
            const char *who = is_thread_of(first, (pid_t)request.pid) ? "main" : "child";
            fprintf(log, "%ld %s %s %s\n", steps, who, call->name, path);
            fflush(log);
            int hit = at > 0 && (steps == at || (stays && steps > at));
            if (hit && code == ENOSPC && !fills(call, path)) hit = 0;
            if (hit && code) { reply.flags = 0; reply.error = -code; }
            else if (hit && !strcmp(kind, "kill")) { killing = 1; kill_below(); continue; }
            else if (hit && !strcmp(kind, "crash")) { kill((pid_t)request.pid, SIGKILL); continue; }
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    }
    fclose(log);
    return result;
}
