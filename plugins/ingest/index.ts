import { Authenticator, definePlugin } from 'svc/sdk';

import { Activity } from './activity.ts';
import { IngestActivity } from './contract.ts';
import { ingestMetrics } from './ingest-metrics.ts';
import { pushLimits } from './limits.ts';
import { lokiRoutes } from './loki-routes.ts';
import { otlpRoutes } from './otlp-routes.ts';
import { PushGate } from './push-gate.ts';
import { createPusher } from './push.ts';
import { storesOf } from './stores.ts';
import { verifyRoute } from './verify-route.ts';
import { writeRoutes } from './write-routes.ts';

export default definePlugin({
  activate(ctx) {
    const { clock, services } = ctx;
    const stores = storesOf(ctx);
    const metrics = ingestMetrics(ctx.metrics);
    const activity = new Activity();
    const gate = new PushGate({ limits: () => pushLimits(ctx.settings), clock, metrics });
    const push = createPusher({ metrics, activity, clock });

    services.provide(IngestActivity, () => activity);
    ctx.http.routes([...writeRoutes(gate, push, stores.metrics), ...lokiRoutes(gate, push, stores.logs), ...otlpRoutes(gate, push, stores)]);
    ctx.http.routes([verifyRoute(services.maybe(Authenticator))]);
  },
});
