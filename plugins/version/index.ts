import { BuildInfo, definePlugin } from 'svc/sdk';

import { versionRoute } from './routes.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes([versionRoute(ctx.services.use(BuildInfo))]);
  },
});
