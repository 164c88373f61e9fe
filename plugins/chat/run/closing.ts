import type { SvcError } from 'svc/sdk';

import { type Digest, short, withRun } from '../journal/digest.ts';
import { activeKey } from '../session/store.ts';
import { missingCitations, withoutCitations } from '../journal/citations.ts';
import type { RunFinish, RunState } from '../journal/journal.ts';
import type { OpenRun, RunPorts } from './ports.ts';

const finishReasons: Readonly<Record<RunFinish, string>> = {
  stop: 'stop',
  length: 'length',
  error: 'error',
  budget: 'error',
  cancelled: 'other',
};

/** The end of a run: answer, calls, usage, session and last event in one commit. */
export async function closeRun(
  ports: RunPorts,
  run: OpenRun,
  finish: RunFinish,
  failure: SvcError | undefined,
): Promise<void> {
  const { row, session, events } = run.work;
  const { state } = run;
  await withdraw(
    ports,
    state,
    finish === 'cancelled' ? 'its run was cancelled' : 'its run has ended',
  );
  if (finish === 'cancelled') {
    events.add('abort', { reason: 'cancelled' });
  }
  const message =
    failure?.message ?? (finish === 'error' ? 'the model returned an empty answer' : undefined);
  if (message !== undefined) {
    events.add('error', { errorText: message, code: failure?.code ?? 'upstream_error' });
  }
  const missing =
    state.routed?.kernel === 'graph' && state.turns.length > 0 ? missingCitations(state) : [];
  if (missing.length > 0) {
    events.add('data-notice', { data: { code: 'citations_removed', evidence: missing } });
  }
  const said = withoutCitations(finalText(state), missing);
  const reason = finish === 'length' ? whyItEnds(state, ports.settings.maxReplyTokens()) : '';
  if (reason !== '') {
    const id = ports.ids.token(6);
    events.add('text-start', { id });
    events.add('text-delta', { id, delta: said === '' ? reason : `\n\n${reason}` });
    events.add('text-end', { id });
  }
  const text = [said, reason].filter((part) => part !== '').join('\n\n');
  const usage = usageOf(state);
  events.add('finish', { finishReason: finishReasons[finish], messageMetadata: { usage } });
  const now = ports.clock.now();
  const ended = (): Promise<void> =>
    ports.runs.update(row.id, {
      state: 'ended',
      finish_reason: finish,
      ended_at: now,
      holder: null,
    });
  if (state.asked.within !== undefined) {
    await run.append([{ kind: 'ended', finish, error: message }], ended);
    return;
  }
  await run.append([{ kind: 'ended', finish, error: message }], async () => {
    await ports.sessions.insertMessage({
      session_id: session.id,
      run_id: row.id,
      role: 'assistant',
      content: text,
      agent: state.routed?.agent ?? null,
      model: state.turns.at(-1)?.model ?? null,
      tool_calls: JSON.stringify(shownCalls(state)),
      usage: JSON.stringify(usage),
      finish_reason: finish,
      kept: keptOf(state, text),
      created_at: now,
    });
    await ports.sessions.update(session.id, {
      digest: JSON.stringify(withRun(JSON.parse(session.digest) as Digest, state)),
      last_message_at: now,
      updated_at: now,
      active: activeKey(now, session.id),
    });
    await ended();
  });
}

/** Returns the model's final text; an answer that was truncated and continued is one text. */
export function finalText({ turns }: RunState): string {
  let text = turns.at(-1)?.text ?? '';
  for (
    let at = turns.length - 2;
    at >= 0 && turns[at]!.notes.some(({ about }) => about === 'continue');
    at--
  ) {
    text = turns[at]!.text + text;
  }
  return text;
}

/** Returns why an answer is not whole, for the person who reads it. */
function whyItEnds({ turns, routed }: RunState, maxTokens: number): string {
  const last = turns.at(-1);
  if (last?.finish !== 'length') {
    return `The agent did not finish within its ${routed?.max_turns ?? turns.length} turns; ask it to continue, or raise max_turns in the persona or the setting agent.max_turns.`;
  }
  return last.text.trim() === ''
    ? 'The model used all its tokens for thinking and wrote no answer. Set a lower x-effort in the persona, or raise agent.max_reply_tokens.'
    : `This answer was cut off at ${maxTokens} tokens; agent.max_reply_tokens allows more.`;
}

/** Returns what belongs to an answer, as long as it is the one that the model gave. */
function keptOf({ turns }: RunState, text: string): string | null {
  const { kept, model, text: given, calls = [] } = turns.at(-1) ?? {};
  return kept === undefined || text !== given || calls.length > 0
    ? null
    : JSON.stringify({ model, blocks: kept });
}

export const shownCalls = ({ turns }: RunState) =>
  turns.flatMap(({ calls }) =>
    calls.map(({ id, tool, args, state, outcome }) => ({
      id,
      name: tool,
      arguments: args ?? {},
      status: outcome?.status ?? state,
      result_preview: outcome === undefined ? '' : short(outcome.text, 500),
      duration_ms: outcome?.duration_ms ?? 0,
      ...(outcome?.evidence && { evidence_id: outcome.evidence.id }),
    })),
  );

export function usageOf({ turns }: Pick<RunState, 'turns'>) {
  const sum = (count: (usage: RunState['turns'][number]['usage']) => number): number =>
    turns.reduce((total, { usage }) => total + count(usage), 0);
  const [input, output] = [sum((usage) => usage.input_tokens), sum((usage) => usage.output_tokens)];
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    cached_tokens: sum((usage) => usage.cached_tokens),
    requests: turns.length,
  };
}

async function withdraw(ports: RunPorts, state: RunState, why: string): Promise<void> {
  const waiting = state.turns
    .flatMap(({ calls }) => calls)
    .filter(({ state: at, approval }) => at === 'waiting' && approval !== undefined);
  if (ports.approvals.available) {
    for (const { approval } of waiting) {
      await ports.approvals.get().cancel(approval!, why);
    }
  }
}
