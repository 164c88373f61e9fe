import { MetricsIngest } from 'svc/contracts/metricsdb';
import type { SampleRow } from 'svc/contracts/metricsdb';
import { BuildInfo, definePlugin, Health, messageOf } from 'svc/sdk';

import { errors } from './heartbeat/errors.ts';
import type { HeartbeatTables } from './heartbeat/heartbeat-store.ts';
import { heartbeatRoutes } from './heartbeat-routes.ts';
import { Heartbeats } from './heartbeats.ts';
import { OwnReport } from './own-report.ts';
import { pingRoutes } from './ping-routes.ts';
import { Reports } from './reports.ts';
import { cronErrors } from 'svc/cron';

const [tickMs, repeatMs] = [1_000, 30_000];

export default definePlugin({
  errors: [errors, cronErrors],
  async activate(ctx) {
    const { clock, ids, log, secrets, services, settings } = ctx;
    const build = services.use(BuildInfo);
    const ingest = services.maybe(MetricsIngest);
    const tables = ctx.db<HeartbeatTables>();
    const reports = new Reports({
      tables,
      clock,
      // A report is on disk by then; its samples are repeated in half a minute.
      write: (rows: readonly SampleRow[]) =>
        settled(async () => void (ingest.available && (await ingest.get().write(rows)))),
      end: (name) =>
        settled(
          async () =>
            void (
              ingest.available &&
              (await ingest.get().end(
                [
                  { name: '__name__', op: '=~', value: 'svc_heartbeat_.+' },
                  { name: 'heartbeat', op: '=', value: name },
                ],
                clock.now(),
              ))
            ),
        ),
    });
    await reports.load();
    const heartbeats = new Heartbeats({
      tables,
      secrets,
      clock,
      ids,
      reports,
      publicUrl: () => build.publicUrl,
    });
    ctx.http.routes([...heartbeatRoutes(heartbeats), ...pingRoutes(reports)]);

    const own = new OwnReport({
      clock,
      log,
      health: services.use(Health),
      fetch: (url, request) => ctx.fetch(url, request),
      address: () => settings.get<string>('heartbeats.own_address'),
      intervalMs: () => settings.get<number>('heartbeats.own_interval_s') * 1_000,
      reports: ctx.metrics.counter(
        'own_reports_total',
        'Reports to heartbeats.own_address, by result.',
        ['result'],
      ),
    });
    ctx.health.check('own heartbeat', () => own.status());
    return { reports, own };

    async function settled(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        log.debug({ cause: messageOf(error) }, 'failed to write heartbeat samples');
      }
    }
  },
  start({ scope }, { reports, own }) {
    scope.interval('own heartbeat', tickMs, () => own.tick());
    scope.interval('late heartbeats', tickMs, () => reports.tick());
    scope.interval('samples of heartbeats', repeatMs, () => reports.repeat());
  },
});
