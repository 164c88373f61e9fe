import { EdgePushes, IngestActivity } from 'svc/contracts/ingest';
import { Authenticator, definePlugin } from 'svc/sdk';

import { Activity } from './activity.ts';
import { errors } from './errors.ts';
import { IngestMetrics } from './ingest-metrics.ts';
import { pushLimits } from './limits.ts';
import { lokiRoutes } from './loki-routes.ts';
import { otlpRoutes } from './otlp-routes.ts';
import { PushGate } from './push-gate.ts';
import { createPusher } from './push.ts';
import { storesOf } from './stores.ts';
import { TunnelPushes } from './tunnel-pushes.ts';
import { verifyRoute } from './verify-route.ts';
import { writeRoutes } from './write-routes.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, services } = ctx;
    const stores = storesOf(ctx);
    const metrics = new IngestMetrics(ctx.metrics);
    const activity = new Activity();
    const gate = new PushGate({ limits: () => pushLimits(ctx.settings), clock, metrics });
    const push = createPusher({ metrics, activity, clock });

    const routes = [
      ...writeRoutes(gate, push, stores.metrics),
      ...lokiRoutes(gate, push, stores.logs),
      ...otlpRoutes(gate, push, stores),
    ];
    services.provide(IngestActivity, () => activity);
    services.provide(EdgePushes, () => new TunnelPushes(routes));
    ctx.http.routes([...routes, verifyRoute(services.maybe(Authenticator))]);
  },
});
