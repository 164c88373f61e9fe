import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const everyMs = 5;
/** Shorter ones are of no interest. */
const leastMs = 8;
const file = process.env['DRILL_STALLS'];

/** Times that a thread ran and that it waited for a processor, in nanoseconds. */
const times = (): number[] =>
  readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);

/**
 * Loaded into the server before anything else: writes down how long its request thread went without
 * a turn, and how long of that it ran, as `<end> <ms> <ran ms>`. Waiting for a processor, which a
 * busy machine causes, is subtracted from the first; the second does not know it.
 */
if (isMainThread && file !== undefined) {
  let at = performance.now();
  let [ran = 0, waited = 0] = times();
  setInterval(() => {
    const now = performance.now();
    if (now - at > everyMs + leastMs) {
      const [since = 0, sinceWaited = 0] = times();
      const stalledMs = now - at - everyMs - (sinceWaited - waited) / 1e6;
      if (stalledMs > leastMs) {
        appendFileSync(
          file,
          `${Date.now()} ${stalledMs.toFixed(1)} ${((since - ran) / 1e6).toFixed(1)}\n`,
        );
      }
    }
    at = performance.now();
    [ran = 0, waited = 0] = times();
  }, everyMs).unref();
}
