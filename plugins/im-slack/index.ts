import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { slack } from './slack.ts';

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'slack',
      slack({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
