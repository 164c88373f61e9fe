import { ImPlatforms } from 'svc/contracts/imbridge';
import { imErrors } from 'svc/im';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { slack } from './slack.ts';

export default definePlugin({
  errors: [errors, imErrors],
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'slack',
      slack({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
