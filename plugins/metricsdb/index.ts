import { productTestRoute, prometheus } from 'svc/connection';
import { AlertingRules } from 'svc/contracts/alert';
import { DeviceNames, DevicesNamed } from 'svc/contracts/device';
import { Examinations } from 'svc/contracts/doctor';
import {
  type InstantAnswer,
  MetricsCare,
  MetricsIngest,
  MetricsQueries,
  type QueryOptions,
  type ScratchSeries,
} from 'svc/contracts/metricsdb';
import { type ForeignPrograms, Programs } from 'svc/contracts/programs';
import { LaunchSources } from 'svc/contracts/setting';
import { askingOf, DeviceScopes, keepNamed, seenBy } from 'svc/query';
import {
  Authenticator,
  Board,
  BuildInfo,
  type Clock,
  definePlugin,
  type Handle,
  messageOf,
  type PluginContext,
  type ThreadHandle,
} from 'svc/sdk';
import { careOf, examinedAnswer, examinedStore } from 'svc/store';

import { alertingRoutes } from './alerting-routes.ts';
import { declaredErrors } from './declared-errors.ts';
import type { Driver, DriverName } from './drivers/driver.ts';
import { EmbeddedDriver } from './drivers/embedded.ts';
import { ProcessDriver } from './drivers/process.ts';
import { configured } from './drivers/remote-client.ts';
import { RemoteDriver, type RemoteParts } from './drivers/remote.ts';
import { LaunchedFile, type Launched, MetricsSettings, watchedKeys } from './drivers/settings.ts';
import { type Supply, Switchboard } from './drivers/switchboard.ts';
import { writeTest } from './drivers/write-test.ts';
import { Dropping } from './drop/dropping.ts';
import { dropRoutes } from './drop-routes.ts';
import { exemplarSkill } from './exemplar-skill.ts';
import { authProbe, metricsdbRoutes } from './metricsdb-routes.ts';
import { prometheusRoutes } from './prometheus-routes.ts';
import { selfMetrics } from './self-metrics.ts';
import { MetricSkills } from './skills.ts';
import type { SeriesBound } from './store/intake/series-bounds.ts';
import type { ThreadData, ThreadStats } from './thread/contract.ts';

const heapMb = 1_024;
const settleMs = 60_000;

export default definePlugin({
  errors: declaredErrors,
  activate(ctx) {
    const { clock, scope } = ctx;
    const settings = new MetricsSettings(ctx.settings, ctx.services.use(Board));
    const launched = new LaunchedFile(ctx.dataDir);
    settings.launched = launched.read();
    Object.entries(settings.launches).forEach(([key, source]) =>
      ctx.extend.contribute(LaunchSources, key, source),
    );

    const data: ThreadData = { folder: ctx.dataDir, ...settings.thread(settings.driver) };
    const thread = ctx.threads.start('metrics', 'metrics-worker.ts', data, { heapMb });
    const parts: RemoteParts = {
      thread,
      clock,
      build: ctx.services.use(BuildInfo),
      fetch: ctx.fetch,
      log: ctx.log,
      own: settings,
    };
    const programs = ctx.services.maybe(Programs);
    const board = new Switchboard(supplyOf(ctx, programs, parts, launched));
    scope.defer('close the metrics store', () => board.close());
    keepSettled(ctx, programs, thread, board);
    const names = ctx.services.maybe(DeviceNames);
    keepNamed(
      ctx,
      thread,
      () => (names.available ? names.get().all() : []),
      (listener) => ctx.events.on(DevicesNamed, listener),
    );

    const driver = (): Driver => board.driver;
    const scopes = ctx.services.maybe(DeviceScopes);
    const asking = askingOf(scopes);
    const queries = queriesOf(driver, thread, clock);
    ctx.services.provide(MetricsQueries, () => queries);
    new MetricSkills(queries, asking, clock).all().forEach((skill) => ctx.skills.add(skill));
    ctx.skills.add(exemplarSkill(driver, asking, clock));
    ctx.services.provide(MetricsCare, () => careOf(thread, () => driver().name === 'embedded'));
    ctx.services.provide(MetricsIngest, () => ({
      push: (...pushed) => driver().push(...pushed),
      write: (rows) => driver().write(rows),
      end: (matchers, time) => driver().end(matchers, time),
    }));
    const dropping = new Dropping({ thread, driver, clock, scope });
    ctx.http.routes([
      ...dropRoutes(dropping),
      ...metricsdbRoutes(board, asking),
      ...prometheusRoutes(driver, asking),
      ...alertingRoutes({
        alerting: ctx.services.maybe(AlertingRules),
        driver,
        asking,
        seenBy: seenBy(scopes),
        now: () => clock.now(),
      }),
      connectionTest(driver, settings, parts),
      authProbe(ctx.services.maybe(Authenticator)),
    ]);
    ctx.health.check('the metrics store', () => driver().health());
    ctx.extend.contribute(Examinations, 'metrics store', {
      look: () => examined(driver(), thread, settings),
    });
    selfMetrics(ctx, thread, driver);
  },
});

/** Subjects of the limits of series, and the settings that say how many there may be. */
const wordingOf: Readonly<
  Record<
    SeriesBound['limit'],
    (sender: string, metric: string) => { readonly what: string; readonly setting: string }
  >
> = {
  all: () => ({ what: 'series', setting: 'metricsdb.max_series' }),
  account: (account) => ({
    what: `series of all senders of ${account}`,
    setting: 'metricsdb.sender_share',
  }),
  sender: (sender) => ({ what: `series of ${sender}`, setting: 'metricsdb.sender_share' }),
  metric: (sender, metric) => ({
    what: `series of ${metric} from ${sender}`,
    setting: 'metricsdb.metric_share',
  }),
};

/** Examines the store: an embedded one from inside, an external one by whether it answers. */
async function examined(driver: Driver, thread: ThreadHandle, settings: MetricsSettings) {
  const probed = await driver.probe();
  const { store } = await thread.call<ThreadStats>('stats');
  const bounds = settings.thread(driver.name).store;
  if (!probed.ok || store === undefined || bounds === undefined) {
    return examinedAnswer(probed, driver.name === 'remote' ? 'metricsdb.url' : 'metricsdb.driver');
  }
  return examinedStore({
    damage: store.damage,
    bounds: [
      {
        used: store.blockBytes,
        most: bounds.maxBytes,
        what: 'bytes of samples',
        setting: 'metricsdb.max_bytes',
        beyond: 'the oldest samples go before their time',
      },
      ...store.seriesBounds.map(({ limit, sender, metric, used, max }) => ({
        used,
        most: max,
        ...wordingOf[limit](sender, metric),
        beyond: 'samples of new series are refused',
      })),
    ],
  });
}

/**
 * Returns how drivers are made, and how the thread and the launched file follow a change of driver.
 */
function supplyOf(
  owner: PluginContext,
  programs: Handle<ForeignPrograms>,
  parts: RemoteParts,
  file: LaunchedFile,
): Supply {
  const { thread, clock, build, own: settings } = parts;
  return {
    make(name: DriverName): Driver {
      switch (name) {
        case 'embedded':
          return new EmbeddedDriver({ thread, settings, clock, build });
        case 'process':
          return new ProcessDriver(
            { ...parts, owner, programs: programs.available ? programs.get() : undefined },
            settings.process(),
          );
        case 'remote':
          return new RemoteDriver(parts, configured(settings.remote()));
      }
    },
    wanted() {
      const name = settings.driver;
      return {
        name,
        recipe: JSON.stringify([
          name,
          name === 'remote' && settings.remote(),
          name === 'process' && [programs.available, settings.process()],
        ]),
      };
    },
    settle: (name) => thread.call('settle', settings.thread(name), { timeoutMs: settleMs }),
    reopen: (name) =>
      thread.call('settle', { ...settings.thread(name), anew: true }, { timeoutMs: settleMs }),
    remember(launched: Launched) {
      settings.assertOpenTo(launched);
      const before = settings.launched;
      const keep = (next: Launched): void => {
        settings.launched = next;
        file.write(next);
      };
      keep({ ...before, ...launched });
      return () => keep(before);
    },
  };
}

/**
 * Passes changed settings on immediately, also to a restarted thread, which knows only its initial
 * ones; a program is started once something can run it.
 */
function keepSettled(
  { settings, log }: PluginContext,
  programs: Handle<ForeignPrograms>,
  thread: ThreadHandle,
  board: Switchboard,
): void {
  const settle = (): Promise<void> =>
    board
      .settle()
      .catch((error: unknown) =>
        log.warn(
          { event: 'metricsdb.settings_not_applied', cause: messageOf(error) },
          'failed to apply changed settings to the metrics store; change a setting again, or restart svc',
        ),
      );
  watchedKeys.forEach((key) => settings.watch<unknown>(key, settle));
  programs.onChange(() => void settle());
  thread.onNotice(({ kind }) => void (kind === 'open' && settle()));
}

/** Asks the driver that is in force at the moment of the query. */
const queriesOf = (driver: () => Driver, thread: ThreadHandle, clock: Clock): MetricsQueries => ({
  instant: (...asked) => driver().instant(...asked),
  instants: (...asked) => driver().instants(...asked),
  range: (...asked) => driver().range(...asked),
  series: (...asked) => driver().series(...asked),
  check: (query) => thread.call('check', query),
  scratch: (options) => openScratch(thread, options),
  async status() {
    const { driver: name, ok, delayMs, detail } = await statusOf(driver(), clock);
    return { driver: name, ok, delayMs, ...(detail !== undefined && { detail }) };
  },
});

/** Tests whether the active store, or a server that is being tried, answers. */
const connectionTest = (
  driver: () => Driver,
  settings: MetricsSettings,
  { fetch, clock, thread }: RemoteParts,
) =>
  productTestRoute({
    path: '/api/v1/integrations/metricsdb/test',
    summary: 'Test the connection to the metrics store, with the saved or the given settings',
    action: 'integration:test',
    product: prometheus,
    setting: 'metricsdb.url',
    fetch,
    clock,
    set() {
      const { tls, ...rest } = settings.remote();
      return driver().name === 'remote' ? { ...rest, ...tls } : undefined;
    },
    writes: writeTest({ fetch, thread, clock }),
    own: () => statusOf(driver(), clock),
  });

async function statusOf(asked: Driver, clock: Clock) {
  const began = clock.monotonic();
  const probed = await asked.probe();
  return { driver: asked.name, ...probed, delayMs: clock.monotonic() - began };
}

/** A store in the thread's memory, from the side of the plugin that asked for it. */
async function openScratch(
  thread: ThreadHandle,
  { asker }: Pick<QueryOptions, 'asker'> = {},
): Promise<ScratchSeries> {
  const id = await thread.call<number>('scratchOpen', { asker });
  return {
    write: (rows) => thread.call('scratchWrite', { id, rows }),
    instant: (query, time, options = {}) =>
      thread.call<InstantAnswer>('scratchInstant', { id, query, time }, options),
    close: () => thread.call('scratchClose', { id }),
  };
}
