import { hostname } from 'node:os';

import { definePlugin } from 'svc/sdk';

import { LocalPolicy, Shipping, Specs } from '../edge-uplink/contract.ts';
import { type ProgramHandle, Programs } from '../programs/contract.ts';
import { makeGroup } from './group.ts';
import { type Logs, openLogs } from './open-logs.ts';
import type { LogSpec } from './spec.ts';
import { takeTurn } from './turn.ts';

const tickMs = 1_000;

export default definePlugin({
  activate(ctx) {
    const spec = ctx.services.use(Specs).of(ctx.id) as LogSpec;
    const groups = spec.files.map((group) => makeGroup(group, hostname()));
    const [policy, shipping] = [ctx.services.use(LocalPolicy), ctx.services.use(Shipping)];
    const shipped = ctx.metrics.counter('lines_total', 'Log lines that were left for the manager.');
    const behind = ctx.metrics.gauge('behind_bytes', 'Bytes of log files that are not read yet.');
    const { dataDir } = ctx;
    const startedAt = ctx.clock.now();
    let logs: Logs | undefined;
    let program: ProgramHandle | undefined;
    let giveBack: (() => Promise<void>) | undefined;

    const open = async (): Promise<void> => {
      const { id: from, clock, log } = ctx;
      logs = await openLogs({
        spec,
        groups,
        policy,
        shipping,
        folder: dataDir,
        from,
        host: hostname(),
        startedAt,
        clock,
        log,
        shipped: (lines) => shipped.add(lines),
      });
    };

    const programs = ctx.services.maybe(Programs);
    const readJournal = (): void => {
      const journal = logs?.journal;
      const journalctl = journal && programs.available ? programs.get().find('journalctl') : undefined;
      if (journal !== undefined && journalctl !== undefined && !ctx.scope.closed) {
        program = programs.get().start(ctx, 'journal', journalctl, { args: () => journal.begin(), output: (chunk) => journal.feed(chunk) });
      }
    };

    ctx.scope.defer('log files', async () => {
      await logs?.close();
      await giveBack?.();
    });
    ctx.scope.interval('read logs', tickMs, async (signal) => {
      giveBack ??= await takeTurn(dataDir, `${process.pid} ${performance.timeOrigin}`);
      if (giveBack !== undefined && logs === undefined) {
        await open();
        readJournal();
      }
      await logs?.tick(signal);
      behind.set(logs?.behind ?? 0);
    });
    programs.onChange((state) => state === 'up' && readJournal());
    ctx.health.check('logs', () => logs?.health(program?.cause) ?? { ok: true, detail: 'it waits for its turn' });
  },
});
