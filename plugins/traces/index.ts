import { definePlugin, messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

import { TraceIngest, TraceQueries } from './contract.ts';
import type { TraceDriver } from './driver.ts';
import { embeddedDriver } from './embedded.ts';
import { remoteDriver } from './remote/remote.ts';
import { selfMetrics } from './self-metrics.ts';
import { driverOf, remoteSettings, searchRangeMs, threadKeys, threadSettings } from './settings.ts';
import { relaySpanMetrics } from './span-metrics-relay.ts';
import { Reader } from './tempo/question.ts';
import { tempoRoutes } from './tempo-routes.ts';
import { testRoutes, traceRoutes } from './trace-routes.ts';
import type { TracesData } from './thread-contract.ts';

const heapMb = 1_024;

export default definePlugin({
  activate(ctx) {
    const { settings, clock } = ctx;
    const data: TracesData = { folder: ctx.dataDir, ...threadSettings(settings) };
    const thread = ctx.threads.start('traces', 'traces-worker.ts', data, { heapMb });
    const embedded = embeddedDriver(thread, clock);
    const remote = remoteDriver({
      fetch: (url, request) => ctx.fetch(url, request),
      settings: () => remoteSettings(settings),
      timeoutMs: () => threadSettings(settings).query.timeoutMs,
      thread,
      clock,
    });
    const driver = (): TraceDriver => (driverOf(settings) === 'remote' ? remote : embedded);
    keepSettled(ctx, thread);
    relaySpanMetrics(ctx, thread);

    ctx.services.provide(TraceQueries, () => queriesOf(driver, thread));
    ctx.services.provide(TraceIngest, () => ({ push: (...pushed) => driver().push(...pushed) }));
    const reader = new Reader(
      () => clock.now(),
      () => searchRangeMs(settings),
    );
    ctx.http.routes([...traceRoutes(driver, reader), ...tempoRoutes(driver, reader), ...testRoutes(driver)]);
    ctx.health.check('the store of traces answers', () => driver().status());
    selfMetrics(ctx, thread);
  },
});

/** Asks whichever driver is set at the moment of the question. */
const queriesOf = (driver: () => TraceDriver, thread: ThreadHandle): TraceQueries => ({
  search: (...asked) => driver().search(...asked),
  async trace(traceId, options) {
    const found = await driver().trace(traceId, 'v1', options);
    return found && { resourceSpans: (JSON.parse(Buffer.from(found).toString('utf8')) as { batches: unknown }).batches };
  },
  tagValues: (...asked) => driver().tagValues(...asked),
  metrics: (...asked) => driver().metrics(...asked),
  check: (query) => thread.call('check', { query }),
  async status() {
    const { driver: name, ok, detail, delayMs } = await driver().status();
    return { driver: name, ok, delayMs, ...(detail !== undefined && { detail }) };
  },
});

/** Changed settings reach the thread at once, and a thread that was started anew. */
function keepSettled({ settings, scope, log }: PluginContext, thread: ThreadHandle): void {
  const settle = (): Promise<void> =>
    thread
      .call<void>('settle', threadSettings(settings))
      .catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'could not apply changed settings to the trace store; change one again or restart'));
  for (const key of threadKeys) {
    scope.defer(`stop watching ${key}`, settings.watch<unknown>(key, settle));
  }
  scope.defer(
    'stop hearing of starts',
    thread.onNotice(({ kind }) => void (kind === 'open' && settle())),
  );
}
