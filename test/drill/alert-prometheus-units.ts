import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { numbers } from '../plugins/alert/random.ts';

export interface Ends {
  after(end: () => unknown): void;
}

/** Time that a value stays: several evaluations, so that neither side can miss one. */
export const holdMs = 20_000;
export const units = 12;

/**
 * Starts an exporter of values that wander and stay for a while, counters that reset, units that
 * disappear for a while, and runs that are a series each.
 */
export async function exporter(t: Ends): Promise<string> {
  const random = numbers(7);
  const values = Array.from({ length: units }, () =>
    Array.from({ length: 1_000 }, () => random(80)),
  );
  const work = Array.from({ length: units }, () => ({ done: 0, failed: 0 }));
  const began = Date.now();
  let last = began;
  const server = createServer((_request, response) => {
    const now = Date.now();
    const lines = values.map((of, unit) => {
      // Units change one after another, so that evaluations are compared at all of their phases.
      const turn = Math.floor((now - began + (unit * holdMs) / units) / holdMs);
      const labels = `{unit="${unit}",zone="${unit % 3}"}`;
      const own = work[unit]!;
      const isFast = of[turn]! > 40;
      own.done += ((isFast ? 12 : 1) * (now - last)) / 1_000;
      own.failed += ((of[turn + 1]! > 45 ? 6 : 0.1) * (now - last)) / 1_000;
      if (turn % 5 === 4 && own.done > 50) {
        Object.assign(own, { done: 0, failed: 0 });
      }
      const isGone = turn % 4 === unit % 4 && unit < 4;
      return [
        isGone ? '' : `temperature${labels} ${of[turn]}\n`,
        `work_total${labels} ${own.done}\nerrors_total${labels} ${own.failed}\n`,
        `run_failed{unit="${unit}",run="${turn}"} ${of[turn + 2]! % 2}\n`,
      ].join('');
    });
    last = now;
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(lines.join(''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
