import { loki as product, productTestRoute } from 'svc/connection';
import { type DeviceChanged, DeviceNames, DevicesNamed } from 'svc/contracts/device';
import { Examinations } from 'svc/contracts/doctor';
import { Directory, type PersonChanged } from 'svc/contracts/iam';
import { LogCare, LogIngest, LogQueries } from 'svc/contracts/logs';
import type { SessionEnded } from 'svc/contracts/session';
import {
  askingOf,
  DeviceScopes,
  driverOf,
  keepNamed,
  keepSettled,
  RemoteClient,
  remoteSettings,
} from 'svc/query';
import { definePlugin, type PluginContext, type ThreadHandle } from 'svc/sdk';
import { careOf, examinedAnswer, examinedStore } from 'svc/store';

import { declaredErrors } from './declared-errors.ts';
import type { LogDriver } from './drivers/driver.ts';
import { EmbeddedLogs } from './drivers/embedded.ts';
import { RemoteLogs } from './drivers/remote.ts';
import { logRoutes } from './log-routes.ts';
import { lokiRoutes } from './loki-routes.ts';
import { selfMetrics } from './self-metrics.ts';
import { threadKeys, threadSettings } from './settings.ts';
import { LogSkills } from './skills.ts';
import type { LogStoreStatus } from './store/store.ts';
import { tailRoute } from './tail-route.ts';
import { TailViewers } from './tail/viewers.ts';
import type { ThreadData } from './thread/contract.ts';

const personChanged: typeof PersonChanged = { kind: 'event', id: 'iam.person-changed' };
const deviceChanged: typeof DeviceChanged = { kind: 'event', id: 'device.changed' };
const sessionEnded: typeof SessionEnded = { kind: 'event', id: 'session.ended' };

const heapMb = 1_024;
const loki = {
  plugin: 'logs',
  name: 'the log store',
  product: 'Loki',
  addresses: 'logs.remote_url the base address of a Loki',
};

export default definePlugin({
  errors: declaredErrors,
  activate(ctx) {
    const { settings, scope, clock } = ctx;
    const data: ThreadData = { folder: ctx.dataDir, ...threadSettings(settings) };
    const thread = ctx.threads.start('store', 'logs-worker.ts', data, { heapMb });
    const client = new RemoteClient(
      (url, request) => ctx.fetch(url, request),
      loki,
      () => remoteSettings(settings, 'logs'),
    );
    const remote = new RemoteLogs({
      client,
      timeoutMs: () => threadSettings(settings).query.timeoutMs,
      thread,
      clock,
    });
    const embedded = new EmbeddedLogs(thread, clock);
    const driver = (): LogDriver => (driverOf(settings, 'logs') === 'remote' ? remote : embedded);
    keepSettled(ctx, thread, threadKeys, () => threadSettings(settings));
    const names = ctx.services.maybe(DeviceNames);
    keepNamed(
      ctx,
      thread,
      () => (names.available ? names.get().all() : []),
      (listener) => ctx.events.on(DevicesNamed, listener),
    );

    const asking = askingOf(ctx.services.maybe(DeviceScopes));
    const queries = queriesOf(driver, thread);
    ctx.services.provide(LogQueries, () => queries);
    new LogSkills(queries, asking, clock).all().forEach((skill) => ctx.skills.add(skill));
    ctx.services.provide(LogCare, () => careOf(thread));
    ctx.services.provide(LogIngest, () => ({
      push: (...pushed) => driver().push(...pushed),
      write: (rows) => driver().write(rows),
    }));
    const viewers = new TailViewers(thread, ctx.scope);
    const refusal = (): string | undefined =>
      driver() === remote
        ? 'live tails show lines that this service stores itself, but logs.driver is remote'
        : undefined;
    ctx.http.routes([
      ...logRoutes(driver, asking),
      ...lokiRoutes(driver, asking),
      connectionTest(ctx, driver),
      tailRoute({ thread, viewers, scope, clock, asking, refusal }),
    ]);
    endTails(ctx, viewers);
    ctx.health.check('the store of logs answers', () => driver().status());
    ctx.extend.contribute(Examinations, 'log store', {
      look: () => examined(driver(), thread, settings),
    });
    selfMetrics(ctx, thread);
  },
});

/** Examines the store: an embedded one from inside, an external one by whether it answers. */
async function examined(
  driver: LogDriver,
  thread: ThreadHandle,
  settings: PluginContext['settings'],
) {
  const { driver: name, ok, detail } = await driver.status();
  if (name === 'remote' || !ok) {
    return examinedAnswer({ ok, detail }, 'logs.remote_url');
  }
  const { blockBytes, activeStreams, largestSender, damage, trouble } =
    await thread.call<LogStoreStatus>('status');
  const { retention, limits } = threadSettings(settings);
  return examinedStore({
    damage,
    trouble,
    bounds: [
      {
        used: blockBytes,
        most: retention.maxBytes,
        what: 'bytes of lines',
        setting: 'logs.retention_bytes',
        beyond: 'the oldest lines go before their time',
      },
      {
        used: activeStreams,
        most: limits.activeStreams,
        what:
          largestSender === undefined
            ? 'streams'
            : `streams (${largestSender.active} of ${largestSender.sender})`,
        setting: 'logs.max_streams',
        beyond: 'lines of new streams are refused',
      },
    ],
  });
}

/**
 * Ends tails with the session that opened them, or with the account; the half-minute check of the
 * core would be late.
 */
function endTails({ events, services }: PluginContext, viewers: TailViewers): void {
  const directory = services.maybe(Directory);
  events.on(sessionEnded, ({ session_id: session }) =>
    viewers.endWhere((principal) => principal.session === session),
  );
  events.on(personChanged, ({ id }) => {
    if (directory.available) {
      const person = directory.get().live(id);
      const sees = JSON.stringify(person?.selectors);
      viewers.endWhere(
        ({ kind, id: own, selectors }) =>
          (kind === 'user' || kind === 'token') &&
          own === String(id) &&
          (!person || JSON.stringify(selectors) !== sees),
      );
    }
  });
  // What they see was settled when they began: their clients begin anew.
  events.on(deviceChanged, () => viewers.endWhere(({ selectors }) => selectors !== undefined));
}

/** Tests whether the configured store, or one that is being tried, answers. */
const connectionTest = ({ settings, clock, fetch }: PluginContext, driver: () => LogDriver) =>
  productTestRoute({
    path: '/api/v1/integrations/logstore/test',
    summary: 'Test the connection to the log store, with the saved or the given settings',
    action: 'logstore:test',
    product,
    setting: 'logs.remote_url',
    clock,
    fetch: (url, request) => fetch(url, request),
    set: () =>
      driverOf(settings, 'logs') === 'remote' ? remoteSettings(settings, 'logs') : undefined,
    own: () => driver().status(),
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
