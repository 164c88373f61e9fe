import { driverOf, keepSettled, RemoteClient, remoteSettings } from 'svc/query';
import { definePlugin, type ThreadHandle } from 'svc/sdk';

import { LogIngest, LogQueries } from './contract.ts';
import type { LogDriver } from './driver.ts';
import { EmbeddedLogs } from './embedded-logs.ts';
import { logRoutes, testRoutes } from './log-routes.ts';
import { lokiRoutes } from './loki-routes.ts';
import { RemoteLogs } from './remote/remote-logs.ts';
import { selfMetrics } from './self-metrics.ts';
import { threadKeys, threadSettings } from './settings.ts';
import { tailRoute } from './tail-route.ts';
import type { ThreadData } from './thread-contract.ts';

const heapMb = 1_024;
const loki = { plugin: 'logs', name: 'the log store', product: 'Loki', addresses: 'logs.remote_url the base address of a Loki' };

export default definePlugin({
  activate(ctx) {
    const { settings, scope, clock } = ctx;
    const data: ThreadData = { folder: ctx.dataDir, ...threadSettings(settings) };
    const thread = ctx.threads.start('store', 'logs-worker.ts', data, { heapMb });
    const client = new RemoteClient(
      (url, request) => ctx.fetch(url, request),
      loki,
      () => remoteSettings(settings, 'logs'),
    );
    const remote = new RemoteLogs({ client, timeoutMs: () => threadSettings(settings).query.timeoutMs, thread, clock });
    const embedded = new EmbeddedLogs(thread, clock);
    const driver = (): LogDriver => (driverOf(settings, 'logs') === 'remote' ? remote : embedded);
    keepSettled(ctx, thread, threadKeys, () => threadSettings(settings));

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
  patterns: (...asked) => driver().patterns(...asked),
  labels: (...asked) => driver().labels(...asked),
  labelValues: (...asked) => driver().labelValues(...asked),
  check: (query) => thread.call('check', query),
  status: () => driver().status(),
});
