import { definePlugin } from 'svc/sdk';

import { greetingRoutes } from './routes.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes(greetingRoutes(ctx.clock));
  },
});
