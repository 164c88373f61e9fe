import type { Asked } from '../queries/back-end.ts';
import type { Leg } from '../rule/rule.ts';
import { type AnswerFrame, type AnswerRows, answerRowsInTurns } from './answer-rows.ts';
import type { Row } from './instance.ts';

export interface EtaParts {
  readonly frame: AnswerFrame;
  /** Returns whether a key may start firing now; one that already fires has reported its time. */
  readonly isNew: (key: string) => boolean;
  readonly ask: (leg: Leg, query: string) => Promise<Asked>;
}

/**
 * Adds to rows of forecasts the seconds left until the bound is reached; omitted if the store does
 * not tell.
 */
export function withEtas(
  found: readonly AnswerRows[],
  { frame, isNew, ask }: EtaParts,
): Promise<readonly ReadonlyMap<string, Row>[]> {
  return Promise.all(
    found.map(async ({ rows }, at) => {
      const leg = frame.plan.legs[at]!;
      if (leg.eta === undefined || ![...rows.keys()].some(isNew)) {
        return rows;
      }
      const { answer } = await ask(leg, leg.eta);
      // Of several series of one instance the first one counts.
      const etas =
        answer instanceof Error
          ? undefined
          : (await answerRowsInTurns(answer, frame, Infinity)).rows;
      return etas === undefined
        ? rows
        : new Map([...rows].map(([key, row]) => [key, withEta(row, etas.get(key)?.value)]));
    }),
  );
}

const withEta = (row: Row, seconds: number | undefined): Row =>
  isEta(seconds) ? { ...row, eta: seconds } : row;

export const isEta = (seconds: number | undefined): seconds is number =>
  seconds !== undefined && Number.isFinite(seconds) && seconds >= 0;
