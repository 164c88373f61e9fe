import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { wecom } from './wecom.ts';

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'wecom',
      wecom({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
