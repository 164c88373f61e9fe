import { DeviceDirectory } from 'svc/contracts/device';
import { EdgeFleet } from 'svc/contracts/edge';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { Programs } from 'svc/contracts/programs';
import { definePlugin, messageOf, Outgoing } from 'svc/sdk';

import { checkRoutes } from './check-routes.ts';
import type { CheckTables } from './check/check-store.ts';
import { Checks } from './checks.ts';
import { errors } from './check/errors.ts';
import { Places } from './rounds/places.ts';
import { Watch } from './rounds/watch.ts';

const [tickMs, rowsMs, verdictsMs, uptimeMs] = [250, 1_000, 30_000, 60_000];

export default definePlugin({
  errors,
  async activate(ctx) {
    const { clock, ids, log, metrics, scope, services, secrets } = ctx;
    const outgoing = services.use(Outgoing);
    const ingest = services.maybe(MetricsIngest);
    const tables = ctx.db<CheckTables>();
    const places = new Places({
      fleet: services.maybe(EdgeFleet),
      devices: services.maybe(DeviceDirectory),
      programs: services.maybe(Programs),
      owner: ctx,
      addressOf: (host) => outgoing.addressOf(host),
      clock,
      ids,
    });
    const pause = (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const stop = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', stop, { once: true });
        scope.timeout('pause of a check', ms, () => {
          signal.removeEventListener('abort', stop);
          resolve();
        });
        void (signal.aborted && stop());
      });
    const watch = new Watch({
      tables,
      clock,
      log,
      places,
      pause,
      signal: scope.signal,
      delays: metrics.histogram(
        'round_delay_seconds',
        'Time by which rounds of checks began late.',
        [0.1, 0.25, 0.5, 1, 2.5, 5],
      ),
      leftOut: metrics.counter(
        'rounds_skipped_total',
        'Rounds of checks that were due while the last one, or as many as run at once, were under way.',
      ),
      write: async (rows) => void (ingest.available && (await ingest.get().write(rows))),
      end: async (name) => {
        try {
          await (ingest.available &&
            ingest.get().end(
              [
                { name: '__name__', op: '=~', value: 'svc_check_.+|probe_.+' },
                { name: 'check', op: '=', value: name },
              ],
              clock.now(),
            ));
        } catch (error) {
          // They end by themselves, five minutes after the last sample.
          log.debug({ check: name, cause: messageOf(error) }, 'failed to end check series');
        }
      },
    });
    const checks = new Checks({ tables, secrets, clock, watch, places, pause });
    await checks.load();
    ctx.http.routes(checkRoutes(checks));
    return watch;
  },
  start({ scope }, watch) {
    scope.defer('uptime of checks', () => watch.flushUptime());
    scope.interval('due checks', tickMs, () => watch.tick());
    scope.interval('verdicts of checks', verdictsMs, () => watch.repeatVerdicts());
    scope.interval('samples of checks', rowsMs, () => watch.flushRows());
    scope.interval('uptime of checks', uptimeMs, () => watch.flushUptime());
  },
});
