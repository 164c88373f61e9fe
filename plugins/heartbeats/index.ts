import { MetricsIngest } from 'svc/contracts/metricsdb';
import type { SampleRow } from 'svc/contracts/metricsdb';
import { BuildInfo, definePlugin, messageOf } from 'svc/sdk';

import { errors } from './heartbeat/errors.ts';
import type { HeartbeatTables } from './heartbeat/heartbeat-store.ts';
import { heartbeatRoutes } from './heartbeat-routes.ts';
import { Heartbeats } from './heartbeats.ts';
import { pingRoutes } from './ping-routes.ts';
import { cronErrors } from 'svc/cron';

const [tickMs, repeatMs] = [1_000, 30_000];

export default definePlugin({
  errors: [errors, cronErrors],
  async activate(ctx) {
    const { clock, ids, log, secrets, services } = ctx;
    const build = services.use(BuildInfo);
    const ingest = services.maybe(MetricsIngest);
    const heartbeats = new Heartbeats({
      tables: ctx.db<HeartbeatTables>(),
      secrets,
      clock,
      ids,
      publicUrl: () => build.publicUrl,
      // A report is on disk by then; its samples are repeated in half a minute.
      write: (rows: readonly SampleRow[]) =>
        settled(async () => void (ingest.available && (await ingest.get().write(rows)))),
      end: (name) =>
        settled(
          async () =>
            void (
              ingest.available &&
              (await ingest.get().end([{ name: 'heartbeat', op: '=', value: name }], clock.now()))
            ),
        ),
    });
    await heartbeats.load();
    ctx.http.routes([...heartbeatRoutes(heartbeats), ...pingRoutes(heartbeats)]);
    return heartbeats;

    async function settled(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        log.debug({ cause: messageOf(error) }, 'writing samples of heartbeats failed');
      }
    }
  },
  start({ scope }, heartbeats) {
    scope.interval('late heartbeats', tickMs, () => heartbeats.tick());
    scope.interval('samples of heartbeats', repeatMs, () => heartbeats.repeat());
  },
});
