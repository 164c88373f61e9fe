import { type Command, clientOptions, openClient } from 'svc/cli';

import { type CheckAnswer, checkText } from './check-text.ts';

const roundMs = 120_000;

export const command: Command = {
  operands: ['<name>'],
  options: { ...clientOptions },
  about:
    'Runs a check now, from all its places, and shows what each of them found. The exit code is 1 if the check is down.',
  example: 'svc check run shop',

  async run(call, shell) {
    const path = `/api/v1/checks/${encodeURIComponent(call.operand(0))}/run`;
    const check = await (await openClient(call, shell)).post<CheckAnswer>(path, {}, roundMs);
    return {
      data: check,
      text: () => checkText(check),
      ...(check.state === 'down' && { code: 1 }),
    };
  },
};
