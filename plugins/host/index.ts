import { definePlugin, Plugins } from 'svc/sdk';

import { pluginRoutes } from './plugin-routes.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes(pluginRoutes(ctx.services.use(Plugins), ctx.id));
  },
});
