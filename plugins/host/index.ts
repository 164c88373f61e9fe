import { definePlugin, DropIns, Plugins } from 'svc/sdk';

import { dropInRoutes } from './drop-in-routes.ts';
import { pluginRoutes } from './plugin-routes.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes(pluginRoutes(ctx.services.use(Plugins), ctx.id));
    ctx.http.routes(dropInRoutes(ctx.services.use(DropIns)));
  },
});
