import { serveThread, transferred } from 'svc/thread';

import { shapeOf } from './result-shape.ts';

serveThread(async () => ({
  methods: {
    shape(value: unknown) {
      const shape = shapeOf(value);
      return transferred(shape, [shape.text.kept]);
    },
  },
  close: async () => undefined,
}));
