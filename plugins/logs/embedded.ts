import { type Clock, messageOf, type ThreadHandle } from 'svc/sdk';
import { memoryOf } from 'svc/store';

import type { LogDriver } from './driver.ts';
import type { LogStoreStatus } from './store/store.ts';
import type { AskInput, EndpointInput, NamesInput, PushInput } from './thread-contract.ts';

/** A little more than any query may take in the thread: its own deadline is the one that says why. */
const patienceMs = 5 * 60_000 + 10_000;
const statusMs = 5_000;

/** Asks the thread of this plugin. */
export function embeddedDriver(thread: ThreadHandle, clock: Clock): LogDriver {
  const ask = <R>(method: string, input: AskInput | EndpointInput, signal?: AbortSignal): Promise<R> =>
    thread.call<R>(method, input, { timeoutMs: patienceMs, ...(signal && { signal }) });
  const names = (input: NamesInput): Promise<string[]> => thread.call('names', input, { timeoutMs: patienceMs });

  return {
    endpoint: (input, signal) => ask('endpoint', input, signal),
    lines: (query, { start, end }, { signal, ...options } = {}) => ask('lines', { query, start, end, ...options }, signal),
    instant: (query, time, { signal, ...options } = {}) => ask('instant', { query, start: time, end: time, ...options }, signal),
    range: (query, { start, end, step }, { signal, ...options } = {}) => ask('range', { query, start, end, ...options, step }, signal),
    labels: ({ start, end }, options = {}) => names({ start, end, ...options }),
    labelValues: (label, { start, end }, options = {}) => names({ label, start, end, ...options }),
    push(format, body, { encoding, stamp, signal, given = false }) {
      const input: PushInput = { format, body, encoding, stamp };
      return thread.call('push', input, { timeoutMs: patienceMs, transfer: given ? memoryOf(body) : [], ...(signal && { signal }) });
    },
    write: (rows) => thread.call('write', rows),
    async status() {
      const began = clock.monotonic();
      try {
        const { damage, trouble } = await thread.call<LogStoreStatus>('status', undefined, { timeoutMs: statusMs });
        const detail = [...(trouble === undefined ? [] : [trouble]), ...damage].slice(0, 3).join('; ');
        return { driver: 'embedded', ok: detail === '', delayMs: clock.monotonic() - began, ...(detail !== '' && { detail }) };
      } catch (error) {
        return { driver: 'embedded', ok: false, detail: messageOf(error), delayMs: clock.monotonic() - began };
      }
    },
  };
}
