import { type EngineOptions, investigate, type Snapshot } from 'svc/rca';
import { serveThread } from 'svc/thread';

/** The thread of this plugin: scores snapshots, which takes too long for the thread of requests. */
serveThread(async () => ({
  methods: {
    investigate: ({ snapshot, options }: { readonly snapshot: Snapshot; readonly options?: EngineOptions }) => investigate(snapshot, options),
  },
  close: async () => undefined,
}));
