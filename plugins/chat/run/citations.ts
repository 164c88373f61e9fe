import type { RunState } from './journal.ts';

const citation = /\[(E\d{1,12})\]/g;

/** Evidence that tools have returned, in this run and in those before it. */
function evidenceOf({ routed, turns }: RunState): ReadonlySet<string> {
  const found = turns.flatMap(({ calls }) => calls.flatMap(({ outcome }) => (outcome?.evidence === undefined ? [] : [outcome.evidence.id])));
  return new Set([...(routed?.evidence ?? []), ...found]);
}

/** What the last answer cites and no tool has returned. */
export function missingCitations(state: RunState): readonly string[] {
  const text = state.turns.at(-1)?.text ?? '';
  const known = evidenceOf(state);
  const cited = new Set([...text.matchAll(citation)].map(([, id]) => id!));
  return [...cited].filter((id) => !known.has(id));
}

/** The text without citations of evidence that there is not. */
export const withoutCitations = (text: string, missing: readonly string[]): string =>
  missing.reduce((rest, id) => rest.replaceAll(` [${id}]`, '').replaceAll(`[${id}]`, ''), text);
