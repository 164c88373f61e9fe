// A network of a few namespaces whose packets pass through here: they are lost and delayed as standard input says, which works
// where the kernel has no such queue. Arguments: a namespace for each host, "-" for that of the caller. Host N gets the device
// "svcwireN". Lines of input: two hosts, the percentage of packets lost between them, and their delay in milliseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { most_hosts = 8, most_waiting = 4096, most_bytes = 2048 };

struct packet {
  long due;
  int to;
  int length;
  char bytes[most_bytes];
};

static int hosts;
static int device[most_hosts];
static int loss[most_hosts][most_hosts];
static int delay[most_hosts][most_hosts];
static struct packet waiting[most_waiting];
static int count;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int enter(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int space = open(strcmp(name, "-") ? path : "/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) < 0) fail(name);
  return space;
}

static int open_device(int host) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  snprintf(request.ifr_name, IFNAMSIZ, "svcwire%d", host);
  int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 || ioctl(file, TUNSETIFF, &request) < 0) fail("tun");
  return file;
}

// The last byte of an IPv4 address is the number of its host, counted from 1.
static void take(int from) {
  struct packet packet;
  packet.length = (int)read(device[from], packet.bytes, most_bytes);
  if (packet.length < 20 || packet.bytes[0] >> 4 != 4) return;
  packet.to = (unsigned char)packet.bytes[19] - 1;
  if (packet.to < 0 || packet.to >= hosts || count == most_waiting) return;
  if (rand() % 100 < loss[from][packet.to]) return;
  packet.due = now() + delay[from][packet.to];
  waiting[count++] = packet;
}

// In the order of arrival, so that packets of the same delay do not overtake each other.
static int deliver(void) {
  long time = now();
  long next = 1000;
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (waiting[i].due <= time) {
      if (write(device[waiting[i].to], waiting[i].bytes, (size_t)waiting[i].length) < 0) continue;
    } else {
      if (waiting[i].due - time < next) next = waiting[i].due - time;
      waiting[kept++] = waiting[i];
    }
  }
  count = kept;
  return (int)next;
}

static void obey(void) {
  int a, b, lost, late;
  if (scanf("%d %d %d %d", &a, &b, &lost, &late) != 4) exit(0);
  if (a < 0 || b < 0 || a >= hosts || b >= hosts) exit(2);
  loss[a][b] = loss[b][a] = lost;
  delay[a][b] = delay[b][a] = late;
  printf("done\n");
}

int main(int argc, char **argv) {
  int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  for (hosts = 0; hosts + 1 < argc && hosts < most_hosts; hosts++) {
    int space = enter(argv[hosts + 1]);
    device[hosts] = open_device(hosts);
    close(space);
    if (setns(own, CLONE_NEWNET) < 0) fail("setns");
  }
  setvbuf(stdin, NULL, _IONBF, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("ready\n");
  for (;;) {
    struct pollfd polled[most_hosts + 1];
    for (int i = 0; i < hosts; i++) polled[i] = (struct pollfd){device[i], POLLIN, 0};
    polled[hosts] = (struct pollfd){0, POLLIN, 0};
    poll(polled, (nfds_t)hosts + 1, deliver());
    for (int i = 0; i < hosts; i++)
      if (polled[i].revents & POLLIN) take(i);
    if (polled[hosts].revents) obey();
  }
}
