import { serveThread } from 'svc/thread';

import { copyFolder, removeFolder } from './press/pack-folder.ts';
import { look, press, type PressOrder } from './press/press.ts';

serveThread(async () => ({
  methods: {
    press: (order: PressOrder) => press(order),
    look: (order: Parameters<typeof look>[0]) => look(order),
    copy: (order: { from: string; to: string }) => copyFolder(order),
    remove: (folder: string) => removeFolder(folder),
  },
  close: async () => undefined,
}));
