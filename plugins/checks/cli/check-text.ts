import { printable } from 'svc/cli';

import { type ReadingAnswer, readingsText } from './reading-text.ts';

/** A check as the API shows it. */
export interface CheckAnswer {
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

/** Returns the state of a check, and what each place found. */
export const checkText = (check: CheckAnswer): string =>
  [
    `${printable(check.name)} is ${check.state} since ${check.since}${check.cause === null ? '' : `: ${printable(check.cause)}`}`,
    ...(check.muted === null ? [] : [mutedText(check.muted)]),
    ...(check.readings.length > 0 ? [readingsText(check.readings)] : []),
  ].join('\n');

const reasons = { check: 'is down', host: 'is offline', agent: 'is offline' } as const;

const mutedText = ({ kind, name, since }: NonNullable<CheckAnswer['muted']>): string =>
  `Muted: the ${kind} ${printable(name)} ${reasons[kind]} since ${since}`;
