import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { Counter, Gauge, type Registry } from 'prom-client';

const openFiles = '/proc/self/fd';
const lookMs = 100;

/** Registers the metrics of the process, read at each scrape. Returns the undo. */
export function addProcessMetrics(registry: Registry): () => void {
  const registers = [registry];
  const read = (name: string, help: string, value: () => number | Promise<number>): void => {
    new Gauge({
      name: `svc_process_${name}`,
      help,
      registers,
      async collect() {
        this.set(await value());
      },
    });
  };
  read('resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  read('heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  read(
    'external_memory_bytes',
    'Buffers outside the JavaScript heap.',
    () => process.memoryUsage().external,
  );
  read('uptime_seconds', 'Age of the process.', () => process.uptime());
  new Counter({
    name: 'svc_process_cpu_seconds_total',
    help: 'CPU time spent, user and system.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  if (existsSync(openFiles)) {
    // The listing itself is one open file.
    read('open_fds', 'Open file descriptors.', async () => (await readdir(openFiles)).length - 1);
  }
  // Each look wakes an idle process up.
  const delay = monitorEventLoopDelay({ resolution: lookMs });
  delay.enable();
  read(
    'event_loop_delay_p99_seconds',
    'How late the event loop ran, 99th percentile since the last scrape.',
    () => {
      const seconds = Math.max(0, delay.percentile(99) / 1e9 - lookMs / 1e3);
      delay.reset();
      return seconds;
    },
  );
  return () => delay.disable();
}
