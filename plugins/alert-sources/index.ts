import { OthersAlerts } from 'svc/contracts/alert';
import { BuildInfo, definePlugin, isSvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { Intake } from './intake.ts';
import { hookRoutes, sourceRoutes } from './source-routes.ts';
import type { SourceTables } from './source-store.ts';
import { Sources } from './sources.ts';

const upkeepMs = 60_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, ids, log, secrets, services } = ctx;
    const alerts = services.maybe(OthersAlerts);
    const build = services.use(BuildInfo);
    const sources = new Sources({
      tables: ctx.db<SourceTables>(),
      secrets,
      clock,
      ids,
      alerts,
      publicUrl: () => build.publicUrl,
    });
    const taken = ctx.metrics.counter(
      'alerts_total',
      'Alerts received from other systems, by result.',
      ['source', 'result'],
    );
    const intake = new Intake({ sources, alerts, clock, log, taken });
    ctx.http.routes([...sourceRoutes(sources), ...hookRoutes(intake, sources)]);
    return { sources };
  },
  async start(ctx, { sources }) {
    const { log, scope } = ctx;
    const upkeep = (): Promise<void> =>
      sources.upkeep().catch((error: unknown) => {
        if (!isSvcError(error)) {
          throw error;
        }
        log.warn(
          { event: 'alert-source.upkeep', cause: error.message },
          'failed to resolve alerts that were not re-sent; retrying in a minute',
        );
      });
    scope.interval('resolve alerts that were not re-sent', upkeepMs, upkeep);
    await upkeep();
  },
});
