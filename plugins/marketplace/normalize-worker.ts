import { serveThread } from 'svc/thread';

import { copyFolder, hashOf, listOf, ownFolder, removeFolder } from './normalize/pack-folder.ts';
import { arrive, look, normalizePack, type NormalizeOrder } from './normalize/normalize-pack.ts';

serveThread(async () => ({
  methods: {
    normalize: (order: NormalizeOrder) => normalizePack(order),
    arrive: (order: Parameters<typeof arrive>[0]) => arrive(order),
    look: (order: Parameters<typeof look>[0]) => look(order),
    copy: (order: { from: string; to: string }) => copyFolder(order),
    hash: (folder: string) => hashOf(listOf(ownFolder(folder))),
    remove: (folder: string) => removeFolder(folder),
  },
  close: async () => undefined,
}));
