import type { SkillOutput } from 'svc/contracts/edge-skills';

import type { WalkReport } from '../../reach/tree-walk.ts';

/** Returns the note about what a walk has found, and how to see the rest. */
export function walkNote(
  found: object,
  { entries, unreadable, cut, left }: WalkReport,
  deeper: string | undefined,
): SkillOutput {
  if (cut === undefined) {
    return { result: { ...found, entries, unreadable, complete: true } };
  }
  // First, since a long answer is shortened at its end.
  const result = { complete: false, not_seen: left, ...found, entries, unreadable };
  const why = cut === 'entries' ? 'The walk stopped at its limit of entries' : 'Its time was over';
  return {
    result,
    readOn: {
      hint: `${why}, so the numbers are too low: choose a folder further down.`,
      params: deeper === undefined ? {} : { path: deeper },
    },
  };
}
