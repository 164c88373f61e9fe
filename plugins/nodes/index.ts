import { NodeControl } from 'svc/contracts/nodes';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { nodeRoutes } from './node-routes.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const control = ctx.services.maybe(NodeControl);
    ctx.http.routes(
      nodeRoutes(() => {
        if (!control.available) {
          throw errors.no_postgres();
        }
        return control.get();
      }),
    );
  },
});
