// Loaded into svc before its own program: on SIGUSR2, collects garbage and writes down how much memory is in use.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  const [, anonymous] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const { heapUsed, external } = process.memoryUsage();
  const file = process.env.CHECKS_MEMORY;
  writeFileSync(
    `${file}.part`,
    JSON.stringify({ anonymous: anonymous * 1_024, heapUsed, external }),
  );
  renameSync(`${file}.part`, file);
});
