import { Banner, BuildInfo, Catalogue, definePlugin } from 'svc/sdk';

import { docRoutes } from './routes.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes(docRoutes(ctx.services.use(Catalogue), ctx.services.use(BuildInfo)));
    ctx.extend.contribute(Banner, 'api-docs', { line: (url) => `API      ${url}/api/docs` });
  },
});
