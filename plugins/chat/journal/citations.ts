import type { Call, RunState } from './journal.ts';

/** The tool by which an agent has another one find out something. */
export const askKey = 'agent_ask';

const citation = /\[(E\d{1,12})\]/g;

/** Returns the evidence of a call: its own, and what the findings of another agent rest on. */
export function evidenceOfCall({ tool, outcome }: Call): readonly string[] {
  const cited = tool === askKey && outcome?.status === 'ok' ? citedIn(outcome.text) : [];
  return outcome?.evidence === undefined ? cited : [outcome.evidence.id, ...cited];
}

/** Evidence that tools have returned, in this run and in those before it. */
export function evidenceOf({ routed, turns }: RunState): ReadonlySet<string> {
  return new Set([
    ...(routed?.evidence ?? []),
    ...turns.flatMap(({ calls }) => calls.flatMap(evidenceOfCall)),
  ]);
}

/** Returns what the last answer cites and no tool has returned. */
export function missingCitations(state: RunState): readonly string[] {
  const text = state.turns.at(-1)?.text ?? '';
  const known = evidenceOf(state);
  return citedIn(text).filter((id) => !known.has(id));
}

const citedIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(citation)].map(([, id]) => id!)),
];

/** The text without citations of evidence that there is not. */
export const withoutCitations = (text: string, missing: readonly string[]): string =>
  missing.reduce((rest, id) => rest.replaceAll(` [${id}]`, '').replaceAll(`[${id}]`, ''), text);
