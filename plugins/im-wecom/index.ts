import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { wecom } from './wecom.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'wecom',
      wecom({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
