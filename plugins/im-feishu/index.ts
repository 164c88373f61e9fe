import { ImPlatforms } from 'svc/contracts/imbridge';
import { definePlugin } from 'svc/sdk';

import { feishu } from './feishu.ts';

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(
      ImPlatforms,
      'feishu',
      feishu({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
