import { productTestRoute, tempo as product } from 'svc/connection';
import { Examinations } from 'svc/contracts/doctor';
import { TraceCare, TraceIngest, TraceQueries } from 'svc/contracts/traces';
import {
  askingOf,
  DeviceScopes,
  driverOf,
  keepSettled,
  RemoteClient,
  remoteSettings,
} from 'svc/query';
import { definePlugin, type PluginContext, type ThreadHandle } from 'svc/sdk';
import { careOf, examinedAnswer, examinedStore } from 'svc/store';

import { declaredErrors } from './declared-errors.ts';
import type { TraceDriver } from './drivers/driver.ts';
import { EmbeddedTraces } from './drivers/embedded.ts';
import { RemoteTraces } from './drivers/remote.ts';
import { selfMetrics } from './self-metrics.ts';
import { pushAddress, searchRangeMs, threadKeys, threadSettings } from './settings.ts';
import { TraceSkills } from './skills.ts';
import { relaySpanMetrics } from './span-metrics-relay.ts';
import { tempoRoutes } from './tempo-routes.ts';
import { Reader } from './tempo/question.ts';
import type { StoreStatus, TracesData } from './thread/contract.ts';
import { traceRoutes } from './trace-routes.ts';

const heapMb = 1_024;
const tempo = {
  plugin: 'traces',
  name: 'the trace store',
  product: 'Tempo',
  addresses:
    'traces.remote_url the base address of a Tempo, and traces.remote_push_url where it takes OTLP',
};

export default definePlugin({
  errors: declaredErrors,
  activate(ctx) {
    const { settings, clock } = ctx;
    const data: TracesData = { folder: ctx.dataDir, ...threadSettings(settings) };
    const thread = ctx.threads.start('traces', 'traces-worker.ts', data, { heapMb });
    const client = new RemoteClient(
      (url, request) => ctx.fetch(url, request),
      tempo,
      () => remoteSettings(settings, 'traces'),
    );
    const timeoutMs = (): number => threadSettings(settings).query.timeoutMs;
    const remote = new RemoteTraces({
      client,
      pushAddress: () => pushAddress(settings),
      timeoutMs,
      thread,
      clock,
    });
    const embedded = new EmbeddedTraces(thread, clock);
    const driver = (): TraceDriver =>
      driverOf(settings, 'traces') === 'remote' ? remote : embedded;
    keepSettled(ctx, thread, threadKeys, () => threadSettings(settings));
    relaySpanMetrics(ctx, thread);

    const asking = askingOf(ctx.services.maybe(DeviceScopes));
    const queries = queriesOf(driver, thread);
    ctx.services.provide(TraceQueries, () => queries);
    new TraceSkills({ queries, asking, clock, driver })
      .all()
      .forEach((skill) => ctx.skills.add(skill));
    ctx.services.provide(TraceCare, () => careOf(thread));
    ctx.services.provide(TraceIngest, () => ({ push: (...pushed) => driver().push(...pushed) }));
    const reader = new Reader(
      () => clock.now(),
      () => searchRangeMs(settings),
    );
    ctx.http.routes([
      ...traceRoutes(driver, reader, asking),
      ...tempoRoutes(driver, reader, asking),
      connectionTest(ctx, driver),
    ]);
    ctx.health.check('the store of traces answers', () => driver().status());
    ctx.extend.contribute(Examinations, 'trace store', {
      look: () => examined(driver(), thread, settings),
    });
    selfMetrics(ctx, thread);
  },
});

/** Examines the store: an embedded one from inside, an external one by whether it answers. */
async function examined(
  driver: TraceDriver,
  thread: ThreadHandle,
  settings: PluginContext['settings'],
) {
  const { driver: name, ok, detail } = await driver.status();
  if (name === 'remote' || !ok) {
    return examinedAnswer({ ok, detail }, 'traces.remote_url');
  }
  const { blockBytes, damage, trouble } = await thread.call<StoreStatus>('status');
  const most = threadSettings(settings).limits.maxBytes;
  const beyond = 'the oldest traces go before their time';
  return examinedStore({
    damage,
    trouble,
    bounds: [
      { used: blockBytes, most, what: 'bytes of spans', setting: 'traces.retention_bytes', beyond },
    ],
  });
}

/** Tests whether the configured store, or one that is being tried, answers. */
const connectionTest = ({ settings, clock, fetch }: PluginContext, driver: () => TraceDriver) =>
  productTestRoute({
    path: '/api/v1/integrations/tracestore/test',
    summary: 'Test the connection to the trace store, with the saved or the given settings',
    action: 'tracestore:test',
    product,
    setting: 'traces.remote_url',
    clock,
    fetch: (url, request) => fetch(url, request),
    set: () =>
      driverOf(settings, 'traces') === 'remote' ? remoteSettings(settings, 'traces') : undefined,
    own: () => driver().status(),
  });

/** Asks whichever driver is set at the moment of the question. */
const queriesOf = (driver: () => TraceDriver, thread: ThreadHandle): TraceQueries => ({
  search: (...asked) => driver().search(...asked),
  async trace(traceId, options) {
    const found = await driver().trace(traceId, 'v1', options);
    return (
      found && {
        resourceSpans: (JSON.parse(Buffer.from(found).toString('utf8')) as { batches: unknown })
          .batches,
      }
    );
  },
  tagValues: (...asked) => driver().tagValues(...asked),
  metrics: (...asked) => driver().metrics(...asked),
  check: (query) => thread.call('check', { query }),
  async status() {
    const { driver: name, ok, detail, delayMs } = await driver().status();
    return { driver: name, ok, delayMs, ...(detail !== undefined && { detail }) };
  },
});
