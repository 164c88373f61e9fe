import { type Command, clientOptions, openClient, printable } from 'svc/cli';

import { type ReadingAnswer, readingsText } from './reading-text.ts';

const roundMs = 120_000;

interface CheckAnswer {
  readonly name: string;
  readonly state: string;
  readonly since: string;
  readonly cause: string | null;
  readonly muted: {
    readonly kind: 'check' | 'host' | 'agent';
    readonly name: string;
    readonly since: string;
  } | null;
  readonly readings: readonly ReadingAnswer[];
}

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
      text: () =>
        [
          `${printable(check.name)} is ${check.state} since ${check.since}${check.cause === null ? '' : `: ${printable(check.cause)}`}`,
          ...(check.muted === null ? [] : [mutedText(check.muted)]),
          ...(check.readings.length > 0 ? [readingsText(check.readings)] : []),
        ].join('\n'),
      ...(check.state === 'down' && { code: 1 }),
    };
  },
};

const reasons = { check: 'is down', host: 'is offline', agent: 'is offline' } as const;

const mutedText = ({ kind, name, since }: NonNullable<CheckAnswer['muted']>): string =>
  `Muted: the ${kind} ${printable(name)} ${reasons[kind]} since ${since}`;
