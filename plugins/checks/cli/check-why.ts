import { type Command, clientOptions, openClient } from 'svc/cli';

import { type CheckAnswer, checkText } from './check-text.ts';

const roundMs = 120_000;

export const command: Command = {
  operands: ['<name>'],
  options: {
    run: { about: 'run it now instead of showing the last round' },
    ...clientOptions,
  },
  about:
    'Shows the state of a check and why: what each place found, how long each phase took, and which conditions hold.',
  example: 'svc check why shop --run',

  async run(call, shell) {
    const path = `/api/v1/checks/${encodeURIComponent(call.operand(0))}`;
    const client = await openClient(call, shell);
    const check = call.has('run')
      ? await client.post<CheckAnswer>(`${path}/run`, {}, roundMs)
      : await client.get<CheckAnswer>(path);
    return {
      data: check,
      text: () => checkText(check),
      ...(check.state === 'down' && { code: 1 }),
    };
  },
};
