import { definePlugin, Plugins } from 'svc/sdk';

import { errors } from './errors.ts';
import { pluginRoutes } from './plugin-routes.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    ctx.http.routes(pluginRoutes(ctx.services.use(Plugins), ctx.id));
  },
});
