import { messageOf } from 'svc/sdk';

import {
  type ChildAnswer,
  type ChildCall,
  type DrillQuestion,
  openers,
  type Signal,
} from './differential-stores.ts';

const [signal, folder] = process.argv.slice(2) as [Signal, string];
const opened = openers[signal](folder);

/** Whatever comes before the store is open waits for it. */
async function answer({ id, method, input }: ChildCall): Promise<ChildAnswer> {
  try {
    const store = await opened;
    if (method === 'ask') {
      return { id, found: await store.ask(input as DrillQuestion) };
    }
    await (method === 'push'
      ? store.push(Buffer.from(input as Uint8Array))
      : store.tend(input as boolean));
    return { id };
  } catch (error) {
    return { id, error: messageOf(error) };
  }
}

process.on('message', (call: ChildCall) => void answer(call).then((told) => process.send!(told)));
