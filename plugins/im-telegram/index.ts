import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { telegram } from './telegram.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'telegram',
      telegram({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
