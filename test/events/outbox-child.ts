/** Delivers until it is told to die in the middle of a try: `outbox-child.ts <data folder>`. */
import { randomUUID } from 'node:crypto';

import { Outboxes } from '../../core/events/index.ts';
import { openIn, silent } from '../storage/folder.ts';

const storage = await openIn(process.argv[2]!);
const outboxes = new Outboxes({
  tables: storage.core(),
  clock: { now: Date.now, monotonic: () => performance.now() },
  ids: { uuid: () => randomUUID(), token: () => randomUUID() },
  log: silent,
  redact: (text) => text,
});
const outbox = outboxes.forPlugin(
  'mail',
  (_label, undo) => undo,
  (_label, work) => work(),
);
outbox.deliver<{ n: number; deadly?: boolean }>('send', async ({ payload }) => {
  process.stdout.write(`${payload.n}\n`);
  if (payload.deadly === true) {
    process.kill(process.pid, 'SIGKILL');
  }
  await new Promise(() => undefined);
});
if (process.argv[3] === 'enqueue') {
  for (const n of [1, 2, 3]) {
    await outbox.enqueue(undefined as never, 'send', { n, deadly: n === 2 });
  }
  process.stdout.write('acknowledged\n');
}
await outboxes.start();
setInterval(() => undefined, 1_000);
