import { definePlugin, messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import { LogIngest, LogQueries } from './contract.ts';
import type { LogDriver } from './driver.ts';
import { embeddedDriver } from './embedded.ts';
import { logRoutes, testRoutes } from './log-routes.ts';
import { lokiRoutes } from './loki-routes.ts';
import { remoteDriver } from './remote/remote.ts';
import { selfMetrics } from './self-metrics.ts';
import { driverOf, remoteSettings, threadKeys, threadSettings } from './settings.ts';
import { tailRoute } from './tail-route.ts';
import type { ThreadData } from './thread-contract.ts';

const heapMb = 1_024;

export default definePlugin({
  activate(ctx) {
    const { settings, scope, clock } = ctx;
    const data: ThreadData = { folder: ctx.dataDir, ...threadSettings(settings) };
    const thread = ctx.threads.start('store', 'logs-worker.ts', data, { heapMb });
    const embedded = embeddedDriver(thread, clock);
    const remote = remoteDriver({
      fetch: (url, request) => ctx.fetch(url, request),
      settings: () => remoteSettings(settings),
      timeoutMs: () => threadSettings(settings).query.timeoutMs,
      thread,
      clock,
    });
    const driver = (): LogDriver => (driverOf(settings) === 'remote' ? remote : embedded);
    keepSettled(ctx, thread);

    ctx.services.provide(LogQueries, () => queriesOf(driver, thread));
    ctx.services.provide(LogIngest, () => ({ push: (...pushed) => driver().push(...pushed), write: (rows) => driver().write(rows) }));
    const refusal = (): string | undefined => (driver() === remote ? 'live tails show what this service keeps itself: logs.driver is remote' : undefined);
    ctx.http.routes([...logRoutes(driver), ...lokiRoutes(driver), ...testRoutes(driver), tailRoute({ thread, scope, clock, refusal })]);
    ctx.health.check('the store of logs answers', () => driver().status());
    selfMetrics(ctx, thread);
  },
});

/** Asks whichever driver is set at the moment of the question. */
const queriesOf = (driver: () => LogDriver, thread: ThreadHandle): LogQueries => ({
  lines: (...asked) => driver().lines(...asked),
  instant: (...asked) => driver().instant(...asked),
  range: (...asked) => driver().range(...asked),
  labels: (...asked) => driver().labels(...asked),
  labelValues: (...asked) => driver().labelValues(...asked),
  check: (query) => thread.call('check', query),
  status: () => driver().status(),
});

/** Changed settings reach the thread at once, and a thread that was started anew. */
function keepSettled({ settings, scope, log }: PluginContext, thread: ThreadHandle): void {
  const settle = (): Promise<void> =>
    thread
      .call<void>('settle', threadSettings(settings))
      .catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'could not apply changed settings to the log store; change one again or restart'));
  for (const key of threadKeys) {
    scope.defer(`stop watching ${key}`, settings.watch<unknown>(key, settle));
  }
  scope.defer(
    'stop hearing of starts',
    thread.onNotice(({ kind }) => void (kind === 'open' && settle())),
  );
}
