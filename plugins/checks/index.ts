import { Maintenance } from 'svc/contracts/alert';
import { DeviceDirectory } from 'svc/contracts/device';
import { EdgeConnected, EdgeFleet, EdgeOffline } from 'svc/contracts/edge';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { Programs } from 'svc/contracts/programs';
import { TopologyGraph } from 'svc/contracts/topology';
import { definePlugin, type Metrics, Outgoing, type Scope } from 'svc/sdk';

import { installedChromium } from './rounds/installed-chromium.ts';
import { checkRoutes } from './check-routes.ts';
import type { Check } from './check/check.ts';
import type { CheckTables } from './check/check-store.ts';
import { Checks } from './checks.ts';
import { errors } from './check/errors.ts';
import { proposalRoutes } from './discovery/proposal-routes.ts';
import { Proposals } from './discovery/proposals.ts';
import { budgetRows, objectiveRows } from './objectives/objective-series.ts';
import { objectiveRoutes } from './objectives/objective-routes.ts';
import { Objectives } from './objectives/objectives.ts';
import { Places } from './rounds/places.ts';
import { SampleSink } from './rounds/sample-sink.ts';
import { Watch } from './rounds/watch.ts';
import { Grounds } from './standing/grounds.ts';
import { maintainedBy } from './uptime/maintenance.ts';

const [tickMs, rowsMs, verdictsMs, uptimeMs, budgetsMs] = [250, 1_000, 30_000, 60_000, 300_000];
const [lookMs, weighMs] = [30_000, 10_000];

export default definePlugin({
  errors,
  async activate(ctx) {
    const { clock, ids, log, metrics, scope, services, secrets } = ctx;
    const outgoing = services.use(Outgoing);
    const tables = ctx.db<CheckTables>();
    const programs = services.maybe(Programs);
    const pause = pauseIn(scope);
    const chromium = installedChromium(ctx, programs, pause);
    const places = new Places({
      fleet: services.maybe(EdgeFleet),
      devices: services.maybe(DeviceDirectory),
      programs,
      owner: ctx,
      chromium,
      addressOf: (host) => outgoing.addressOf(host),
      clock,
      ids,
    });
    const isMaintained = maintainedBy(services.maybe(Maintenance));
    const counts = (check: Check): boolean =>
      !check.paused && ['up', 'down'].includes(check.state) && !isMaintained(check);
    const sink = new SampleSink({ ingest: services.maybe(MetricsIngest), clock, log });
    const grounds = new Grounds({
      fleet: services.maybe(EdgeFleet),
      topology: services.maybe(TopologyGraph),
      sitesOf: (texts) => places.sitesOf(texts),
      checks: () => watch.list(),
    });
    const watch: Watch = new Watch({
      tables,
      clock,
      log,
      places,
      pause,
      signal: scope.signal,
      ...roundMetrics(metrics),
      write: (rows) => sink.write(rows),
      end: (name) => sink.end('svc_check_.+|svc_objective_up|probe_.+', 'check', name),
      isMaintained,
      causesOf: (some) => grounds.causesOf(some),
      rowsBeside: (some, time) =>
        objectives.known.flatMap((objective) => objectiveRows(objective, some, counts, time)),
    });
    const objectives = new Objectives({
      tables,
      clock,
      checks: () => watch.list(),
      flush: () => watch.flushUptime(),
      end: (name) => sink.end('svc_objective_.+', 'objective', name),
    });
    const checks = new Checks({ tables, secrets, clock, watch, places, pause });
    await checks.load();
    await objectives.load();
    const proposals = new Proposals({
      fleet: services.maybe(EdgeFleet),
      tables,
      clock,
      log,
      checks: () => watch.list(),
      definitionOf: (draft) => checks.definitionOf(draft),
      create: (call, draft) => checks.create(call, draft),
      signal: scope.signal,
    });
    ctx.events.on(EdgeConnected, () => {
      proposals.lookAround();
      void watch.weigh();
    });
    ctx.events.on(EdgeOffline, () => void watch.weigh());
    ctx.http.routes([
      ...checkRoutes(checks),
      ...objectiveRoutes(objectives),
      ...proposalRoutes(proposals),
    ]);
    return { watch, objectives, proposals, chromium };
  },
  start({ scope, clock }, { watch, objectives, proposals, chromium }) {
    chromium.tidy();
    scope.defer('uptime of checks', () => watch.flushUptime());
    scope.interval('due checks', tickMs, () => watch.tick());
    scope.interval('addresses that agents find', lookMs, () => proposals.lookAround());
    scope.interval('causes of failing checks', weighMs, () => watch.weigh());
    scope.interval('verdicts of checks', verdictsMs, () => watch.repeatVerdicts());
    scope.interval('budgets of objectives', budgetsMs, async () => {
      const budgets = await objectives.budgets(objectives.known);
      watch.keep(
        objectives.known.flatMap((objective, index) =>
          budgetRows(objective, budgets[index]!, clock.now()),
        ),
      );
    });
    scope.interval('samples of checks', rowsMs, () => watch.flushRows());
    scope.interval('uptime of checks', uptimeMs, () => watch.flushUptime());
  },
});

const roundMetrics = (metrics: Metrics) => ({
  delays: metrics.histogram(
    'round_delay_seconds',
    'Time by which rounds of checks began late.',
    [0.1, 0.25, 0.5, 1, 2.5, 5],
  ),
  leftOut: metrics.counter(
    'rounds_skipped_total',
    'Rounds of checks that were due while the last one, or as many as run at once, were under way.',
  ),
});

/** Returns a pause that ends with the plugin, or with its signal. */
const pauseIn =
  (scope: Scope) =>
  (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      scope.timeout('pause of a check', ms, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
      void (signal.aborted && stop());
    });
