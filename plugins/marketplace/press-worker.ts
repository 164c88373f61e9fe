import { serveThread } from 'svc/thread';

import { copyFolder, look, press, type PressOrder, removeFolder } from './press.ts';

serveThread(async () => ({
  methods: {
    press: (order: PressOrder) => press(order),
    look: (order: Parameters<typeof look>[0]) => look(order),
    copy: (order: { from: string; to: string }) => copyFolder(order),
    remove: (folder: string) => removeFolder(folder),
  },
  close: async () => undefined,
}));
