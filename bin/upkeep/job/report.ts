import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from '../../../core/sdk/index.ts';

const timeoutMs = 10_000;
/** Pauses before a report is repeated. */
const pausesMs = [1_000, 5_000];

/** Reports to the address of a heartbeat; returns why that failed. A job never fails because of its report. */
export async function report(address: string, body?: Buffer): Promise<string | undefined> {
  let failure: string | undefined;
  for (const wait of [0, ...pausesMs]) {
    await pause(wait);
    try {
      const response = await fetch(address, {
        method: 'POST',
        signal: AbortSignal.timeout(timeoutMs),
        ...(body !== undefined && { body: new Uint8Array(body) }),
      });
      await response.body?.cancel();
      if (response.ok) {
        return undefined;
      }
      failure = `the heartbeat answers ${response.status}`;
      if (response.status < 500 && response.status !== 429) {
        return failure;
      }
    } catch (error) {
      failure = messageOf(error);
    }
  }
  return failure;
}
