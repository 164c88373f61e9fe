import { evidenceOfCall } from './citations.ts';
import { isTainted, type RunState } from './journal.ts';

/**
 * Digest of a session, bounded however long the session gets: stands in prompts for messages that
 * no longer fit.
 */
export interface Digest {
  readonly asks: readonly string[];
  readonly decisions: readonly string[];
  readonly evidence: readonly { readonly id: string; readonly tool: string }[];
  /** Text from outside was read. */
  readonly tainted?: boolean;
}

export const noDigest: Digest = { asks: [], decisions: [], evidence: [] };

const maxAsks = 40;
const maxDecisions = 40;
const maxEvidence = 60;

export function withRun(digest: Digest, state: RunState): Digest {
  const calls = state.turns.flatMap((turn) => turn.calls);
  const decisions = calls.flatMap(({ tool, approval, outcome, args }) =>
    approval === undefined || outcome === undefined
      ? []
      : [`${tool} ${short(JSON.stringify(args), 120)}: ${outcome.status}`],
  );
  const evidence = calls.flatMap((call) =>
    evidenceOfCall(call).map((id) => ({ id, tool: call.tool })),
  );
  return {
    asks: [...digest.asks, short(state.asked.content, 240)].slice(-maxAsks),
    decisions: [...digest.decisions, ...decisions].slice(-maxDecisions),
    evidence: [...digest.evidence, ...evidence].slice(-maxEvidence),
    tainted: digest.tainted === true || isTainted(state),
  };
}

export function digestText({ asks, decisions, evidence }: Digest): string {
  const part = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `${title}\n${lines.map((line) => `- ${line}`).join('\n')}\n`;
  return [
    part('Asked earlier in this session:', asks),
    part('Decided by people:', decisions),
    part('Evidence that can be read with evidence_read:', [
      ...new Set(evidence.map(({ id, tool }) => `${id} (${tool})`)),
    ]),
  ].join('');
}

export const short = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;
