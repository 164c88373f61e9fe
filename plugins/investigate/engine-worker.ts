import {
  type Assertion,
  type Calibration,
  checkAssertion,
  investigate,
  type Snapshot,
} from 'svc/rca';
import { serveThread } from 'svc/thread';

/** The thread of this plugin: scores snapshots and computes claims again, which takes too long for the thread of requests. `raw`: confidence before what people have said of others. */
serveThread(async () => ({
  methods: {
    investigate({
      snapshot,
      calibration,
    }: {
      readonly snapshot: Snapshot;
      readonly calibration?: Calibration;
    }) {
      const plain = investigate(snapshot);
      return {
        findings: calibration === undefined ? plain : investigate(snapshot, { calibration }),
        raw: plain.confidence.value,
      };
    },
    check: ({
      snapshot,
      assertions,
    }: {
      readonly snapshot: Snapshot;
      readonly assertions: readonly Assertion[];
    }) => assertions.map((assertion) => checkAssertion(snapshot, assertion)),
  },
  close: async () => undefined,
}));
