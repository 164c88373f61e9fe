import { definePlugin, Health, Plugins } from 'svc/sdk';

import { errors } from './errors.ts';
import { healthRoute } from './health-route.ts';
import { pluginRoutes } from './plugin-routes.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    ctx.http.routes([
      ...pluginRoutes(ctx.services.use(Plugins), ctx.id),
      healthRoute(ctx.services.use(Health)),
    ]);
  },
});
