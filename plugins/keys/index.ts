import { definePlugin, Keys } from 'svc/sdk';

import { Rotation } from './rotation.ts';
import { keyRoutes } from './routes.ts';

export default definePlugin({
  activate(ctx) {
    const rotation = new Rotation(ctx.services.use(Keys), ctx.log);
    ctx.scope.defer('stop the rotation', () => rotation.stop());
    ctx.scope.task('go on with a rotation that was interrupted', () => rotation.resume());
    ctx.http.routes(keyRoutes(rotation));
  },
});
