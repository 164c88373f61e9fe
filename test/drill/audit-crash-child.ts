import { writeSync } from 'node:fs';

import { as, auditHouse, post } from '../plugins/audit/house.ts';

const house = await auditHouse({ after() {} }, { dataDir: process.argv[2]! });
const writers = 8;

/**
 * Makes one call after another, reporting each answered one to the parent, until the process is
 * killed.
 */
async function call(writer: number): Promise<never> {
  for (let turn = 0; ; turn++) {
    const requestId = `${process.pid}-${writer}-${turn}`;
    const kind = (writer + turn) % 4;
    const init = {
      headers: { ...as(kind === 3 ? 'vera' : 'anna').headers, 'x-request-id': requestId },
    };
    const { status } =
      kind === 2
        ? await post(house, 'sign-in', { email: 'anna@example.org', password: 'wrong' }, init)
        : await post(house, kind === 1 ? 'torn' : 'entries', { text: requestId }, init);
    writeSync(1, `${requestId} ${status}\n`);
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => call(writer)));
