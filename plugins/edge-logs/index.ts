import { hostname } from 'node:os';

import { LocalPolicy, Shipping, Specs, Uplink } from 'svc/contracts/edge-uplink';
import { Programs } from 'svc/contracts/programs';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { makeGroup } from './lines/group.ts';
import type { LogSpec } from './lines/spec.ts';
import { Reader } from './reader.ts';

const tickMs = 1_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { id: from, clock, log, dataDir: folder, metrics, scope, services } = ctx;
    const spec = services.use(Specs).of(from) as LogSpec;
    const shipped = metrics.counter('lines_total', 'Log lines that were left for the manager.');
    const behind = metrics.gauge('behind_bytes', 'Bytes of log files that are not read yet.');
    const uplink = services.maybe(Uplink);
    const programs = services.maybe(Programs);
    const reader = new Reader(ctx, programs, {
      spec,
      groups: spec.files.map((group) => makeGroup(group, hostname())),
      policy: services.use(LocalPolicy),
      shipping: services.use(Shipping),
      isHeard: () => uplink.available && uplink.get().online,
      folder,
      from,
      host: hostname(),
      startedAt: clock.now(),
      clock,
      log,
      shipped: (lines: number) => shipped.add(lines),
    });
    scope.defer('log files', () => reader.close());
    scope.interval('read logs', tickMs, async (signal) => {
      await reader.tick(signal);
      behind.set(reader.behind);
    });
    programs.onChange((state) => (state === 'up' ? reader.readJournal() : undefined));
    ctx.health.check('logs', () => reader.health());
  },
});
