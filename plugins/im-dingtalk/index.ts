import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { dingtalk } from './dingtalk.ts';

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'dingtalk',
      dingtalk({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
