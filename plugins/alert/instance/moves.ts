import { atOnce, stepwise } from 'svc/flow';

import { advance, type Evaluation, type Instance, type Move } from './instance.ts';

/** Max instances of one rule; further label sets are ignored. */
export const maxInstances = 10_000;
/** Label sets for which some, not all, of the conditions of a rule hold. */
const maxPartial = 10_000;

/** Transitions of all instances of a rule by one evaluation. */
export interface Moves {
  readonly moves: readonly Move[];
  /** Number of breaching label sets that were left out because there are too many. */
  readonly leftOut: number;
}

/** The one way from answers to instances: of the evaluator, of previews and of rule tests. */
export const movesOf = (...of: Parameters<typeof moving>): Moves => atOnce(moving(...of));

/** The same in small steps, where there may be many. */
export const movesInTurns = (...of: Parameters<typeof moving>): Promise<Moves> =>
  stepwise(moving(...of));

function* moving(
  known: ReadonlyMap<string, Instance>,
  evaluation: Evaluation,
): Generator<void, Moves> {
  const moves: Move[] = [];
  for (const [key, instance] of known) {
    yield;
    moves.push(advance(key, instance, evaluation));
  }
  let full = moves.filter(({ next }) => next !== undefined && next.phase !== 'partial').length;
  let partial = moves.length - full;
  let leftOut = 0;
  const fresh = new Set(
    evaluation.rows.flatMap((found) => [...found.keys()]).filter((key) => !known.has(key)),
  );
  for (const key of [...fresh].sort()) {
    yield;
    const move = advance(key, undefined, evaluation);
    if (move.next === undefined) {
      continue;
    }
    const isPartial = move.next.phase === 'partial';
    if (isPartial ? partial >= maxPartial : full >= maxInstances) {
      leftOut += 1;
      continue;
    }
    partial += isPartial ? 1 : 0;
    full += isPartial ? 0 : 1;
    moves.push(move);
  }
  return { moves, leftOut };
}
