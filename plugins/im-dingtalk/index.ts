import { ImPlatforms } from 'svc/contracts/imbridge';
import { imErrors } from 'svc/im';
import { definePlugin } from 'svc/sdk';

import { dingtalk } from './dingtalk.ts';
import { errors } from './errors.ts';

export default definePlugin({
  errors: [errors, imErrors],
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'dingtalk',
      dingtalk({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
