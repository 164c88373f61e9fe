import { BuildInfo, definePlugin, route } from 'svc/sdk';
import { Type } from 'typebox';

const ManagerVersion = Type.Object({
  manager_version: Type.String({
    pattern: '^v\\d+\\.\\d+\\.\\d+',
    description: 'vX.Y.Z; edges compare their own version with it',
  }),
});

export default definePlugin({
  activate(ctx) {
    const build = ctx.services.use(BuildInfo);
    const version = route({
      method: 'GET',
      path: '/api/v1/version',
      access: 'any',
      devices: 'none',
      summary: 'Get the version of the manager',
      response: ManagerVersion,
      handle: () => ({ manager_version: `v${build.version}` }),
    });
    ctx.http.routes([version]);
  },
});
