import { MetricsIngest } from 'svc/contracts/metricsdb';
import type { SampleRow } from 'svc/contracts/metricsdb';
import { BuildInfo, definePlugin, messageOf } from 'svc/sdk';

import { errors } from './heartbeat/errors.ts';
import type { HeartbeatTables } from './heartbeat/heartbeat-store.ts';
import { heartbeatRoutes } from './heartbeat-routes.ts';
import { Heartbeats } from './heartbeats.ts';
import { pingRoutes } from './ping-routes.ts';
import { Reports } from './reports.ts';
import { cronErrors } from 'svc/cron';

const [tickMs, repeatMs] = [1_000, 30_000];

export default definePlugin({
  errors: [errors, cronErrors],
  async activate(ctx) {
    const { clock, ids, log, secrets, services } = ctx;
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
    return reports;

    async function settled(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        log.debug({ cause: messageOf(error) }, 'failed to write heartbeat samples');
      }
    }
  },
  start({ scope }, reports) {
    scope.interval('late heartbeats', tickMs, () => reports.tick());
    scope.interval('samples of heartbeats', repeatMs, () => reports.repeat());
  },
});
