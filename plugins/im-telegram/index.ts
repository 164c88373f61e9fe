import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { telegram } from './telegram.ts';

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'telegram',
      telegram({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
