import { Authenticator, Board, BuildInfo, definePlugin, messageOf } from 'svc/sdk';

import { authProbe } from './auth-probe.ts';
import { MetricsIngest, MetricsQueries } from './contract.ts';
import type { Driver, DriverName } from './drivers/driver.ts';
import { embeddedDriver } from './drivers/embedded.ts';
import { processDriver } from './drivers/process.ts';
import { configured, remoteDriver } from './drivers/remote.ts';
import { Switchboard } from './drivers/switchboard.ts';
import { integrationRoutes } from './integration-routes.ts';
import { readLaunched, writeLaunched } from './launched-file.ts';
import { metricsdbRoutes } from './metricsdb-routes.ts';
import { prometheusRoutes } from './prometheus-routes.ts';
import { openScratch } from './scratch.ts';
import { selfMetrics } from './self-metrics.ts';
import { type Launched, MetricsSettings, type RemoteSettings, watchedKeys } from './settings.ts';
import type { ThreadData } from './thread-contract.ts';

const heapMb = 1_024;
const settleMs = 60_000;

export default definePlugin({
  activate(ctx) {
    const { clock, log, scope } = ctx;
    const folder = ctx.dataDir;
    const build = ctx.services.use(BuildInfo);
    const settings = new MetricsSettings(ctx.settings, ctx.services.use(Board));
    settings.launched = readLaunched(folder);

    const data: ThreadData = { folder, ...settings.thread(settings.driver) };
    const thread = ctx.threads.start('metrics', 'metrics-worker.ts', data, { heapMb });
    const remoteParts = { thread, clock, build, fetch: ctx.fetch, own: settings };

    function make(name: DriverName): Driver {
      switch (name) {
        case 'embedded':
          return embeddedDriver({ thread, settings, clock, build });
        case 'process':
          return processDriver({ ...remoteParts, programs: ctx.processes, folder }, settings.process());
        case 'remote':
          return remoteDriver(remoteParts, configured(settings.remote()));
      }
    }

    const board = new Switchboard({
      make,
      wanted() {
        const name = settings.driver;
        return { name, recipe: JSON.stringify([name, name === 'remote' && settings.remote(), name === 'process' && settings.process()]) };
      },
      settle: (name) => thread.call('settle', settings.thread(name), { timeoutMs: settleMs }),
      reopen: (name) => thread.call('settle', { ...settings.thread(name), anew: true }, { timeoutMs: settleMs }),
      remember(launched: Launched) {
        settings.assertOpenTo(launched);
        const before = settings.launched;
        const keep = (next: Launched): void => {
          settings.launched = next;
          writeLaunched(folder, next);
        };
        keep({ ...before, ...launched });
        return () => keep(before);
      },
    });
    scope.defer('close the metrics store', () => board.close());

    const settle = (): Promise<void> =>
      board.settle().catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'changed settings have not reached the metrics store'));
    watchedKeys.forEach((key) => ctx.settings.watch<unknown>(key, settle));
    // A thread that starts again knows only what it was first given.
    thread.onNotice(({ kind }) => void (kind === 'open' && settle()));

    const driver = (): Driver => board.driver;
    ctx.services.provide(MetricsQueries, () => ({
      instant: (...asked) => driver().instant(...asked),
      instants: (...asked) => driver().instants(...asked),
      range: (...asked) => driver().range(...asked),
      series: (...asked) => driver().series(...asked),
      check: (query) => thread.call('check', query),
      scratch: () => openScratch(thread),
      async status() {
        const began = clock.monotonic();
        const { name, probe } = driver();
        const { ok, detail } = await probe();
        return { driver: name, ok, delayMs: clock.monotonic() - began, ...(detail !== undefined && { detail }) };
      },
    }));
    ctx.services.provide(MetricsIngest, () => ({
      push: (...pushed) => driver().push(...pushed),
      write: (rows) => driver().write(rows),
      end: (matchers, time) => driver().end(matchers, time),
    }));

    const trial = (url: string): Driver => {
      const tls = { ca: '', cert: '', key: '', insecure: false };
      const stranger: RemoteSettings = { url: url.replace(/\/+$/, ''), token: '', user: '', password: '', tenant: '', tls };
      return remoteDriver(remoteParts, configured(stranger));
    };
    ctx.http.routes([
      ...metricsdbRoutes(board),
      ...prometheusRoutes(driver),
      ...integrationRoutes({ driver, trial, clock }),
      authProbe(ctx.services.maybe(Authenticator)),
    ]);
    ctx.health.check('the metrics store', () => driver().health());
    selfMetrics(ctx, thread, driver);
  },
});
