import { resolve } from 'node:path';
import { isSea } from 'node:sea';

import { definePlugin, PackLoader } from 'svc/sdk';

import { Loader } from './loader.ts';

/** Beyond the longest time that a manifest may give a pack to finish its work. */
const leaveMs = 150_000;

export default definePlugin({
  activate(ctx) {
    const { ids, scope } = ctx;
    const loader = new Loader({
      origin: {
        program: ctx.threads.text('pack-worker.ts'),
        cacheDir: resolve(ctx.dataDir, '../../cache'),
        isBinary: isSea(),
      },
      random: () => Buffer.from(ids.token(6), 'base64url').readUIntBE(0, 6) / 2 ** 48,
    });
    ctx.services.provide(PackLoader, () => loader);
    scope.occupy(() => `${loader.size} processes of packs`, { begin: () => undefined, end: () => loader.leave(), endMs: leaveMs });
  },
});
