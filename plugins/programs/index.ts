import { resolve } from 'node:path';

import { Programs } from 'svc/contracts/programs';
import { definePlugin, defineService } from 'svc/sdk';

import { errors } from './errors.ts';
import { ProgramRunner, type Runner } from './runner.ts';

/** The same service, as its generations see each other. */
const Generations = defineService<Runner>(Programs.id);
const leaveMs = 30_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, ids, log, scope } = ctx;
    // Until commit this is the generation before, and once this one leaves, the generation after.
    const other = ctx.services.maybe(Generations);
    const runner = new ProgramRunner({
      folder: resolve(ctx.dataDir, '../../programs'),
      path: process.env['PATH'] ?? '',
      places: other.available ? other.get().places : new Map(),
      random: () => Buffer.from(ids.token(6), 'base64url').readUIntBE(0, 6) / 2 ** 48,
      clock,
      log,
    });
    ctx.services.provide(Programs, () => runner);
    scope.occupy(() => `${runner.size} programs`, {
      begin: () => undefined,
      end: () => runner.leave(other.available ? other.get() : undefined),
      endMs: leaveMs,
    });
    scope.task('end programs that an earlier run of svc has left', () => runner.sweep());
  },
});
