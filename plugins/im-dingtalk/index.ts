import { defineExtensionPoint, definePlugin } from 'svc/sdk';

import type { ImPlatform } from '../imbridge/contract.ts';
import { dingtalk } from './dingtalk.ts';

/** By its id: the folder of the room that opens it may be taken away. */
const Platforms = defineExtensionPoint<ImPlatform>('im.platform');

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(
      Platforms,
      'dingtalk',
      dingtalk({ fetch: (url, request) => ctx.fetch(url, request), clock: ctx.clock }),
    );
  },
});
