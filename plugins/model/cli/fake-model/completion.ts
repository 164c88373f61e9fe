import type { ChatRequest } from './chat-request.ts';
import type { Misbehaviour } from './misbehaviour.ts';
import type { Reply, ScriptedCall } from './script.ts';

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

interface Call {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Answer before it is encoded. */
export interface Completion {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly finishReason: string;
  readonly usage: Usage;
}

/** Four bytes are a token: nobody's tokenizer, but the same number each time. */
export const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

export const promptTokens = ({ messages, tools }: ChatRequest): number =>
  tokensIn(JSON.stringify(messages) + (tools ? JSON.stringify(tools) : ''));

/** The answer that `reply` describes, with the misbehaviours that are a matter of content. */
export function completionOf(
  request: ChatRequest,
  reply: Reply,
  faults: ReadonlySet<Misbehaviour>,
  number: number,
): Completion {
  const whole = faults.has('empty') ? '' : (reply.text ?? '');
  const text = faults.has('length') ? whole.slice(0, Math.ceil(whole.length / 2)) : whole;
  const reasoning =
    reply.reasoning ?? (faults.has('reasoning') ? 'Let me think about this first.' : '');
  const calls = (reply.tool_calls ?? []).map((call, index) =>
    callOf(call, faults, faults.has('same-ids') ? `call_${number}` : `call_${number}_${index + 1}`),
  );
  const prompt = reply.usage?.prompt_tokens ?? promptTokens(request);
  const written =
    reply.usage?.completion_tokens ??
    tokensIn(reasoning + text + (calls.length > 0 ? JSON.stringify(calls) : ''));
  return {
    id: `chatcmpl-${number}`,
    model: request.model,
    text,
    reasoning,
    calls,
    finishReason: faults.has('length')
      ? 'length'
      : (reply.finish_reason ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    usage: { prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written },
  };
}

function callOf(
  { name, arguments: input = {}, id }: ScriptedCall,
  faults: ReadonlySet<Misbehaviour>,
  own: string,
): Call {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return {
    id: id ?? (faults.has('long-ids') ? `${own}_${'thought'.repeat(439)}` : own),
    type: 'function',
    function: {
      name: faults.has('unknown-tool') ? `no_such_${name}` : name,
      arguments: faults.has('bad-arguments') ? `{"broken": ${text}` : text,
    },
  };
}

/** The body of an answer that is not streamed. */
export function plainBody(
  { id, model, text, reasoning, calls, finishReason, usage }: Completion,
  faults: ReadonlySet<Misbehaviour>,
): object {
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    ...(!faults.has('no-usage') && { usage }),
  };
}

/** The chunks of an answer that is, in order, without their frames. */
export function chunksOf(
  completion: Completion,
  faults: ReadonlySet<Misbehaviour>,
  withUsage: boolean,
): readonly object[] {
  const { id, model, text, reasoning, calls, finishReason, usage } = completion;
  const everywhere = faults.has('usage-everywhere') && !faults.has('no-usage');
  const chunk = (delta: object, finish: string | null = null): object => ({
    id,
    object: 'chat.completion.chunk',
    created: 0,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(everywhere && { usage }),
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...wordsOf(reasoning).map((word) => chunk({ reasoning_content: word })),
    ...wordsOf(text).map((word) => chunk({ content: word })),
    ...calls.flatMap((call, index) =>
      callDeltas(call, index, faults.has('fragments') ? 20 : 1).map((delta) =>
        chunk({ tool_calls: [delta] }),
      ),
    ),
    chunk({}, finishReason),
    ...(withUsage && !faults.has('no-usage')
      ? [{ id, object: 'chat.completion.chunk', created: 0, model, choices: [], usage }]
      : []),
  ];
}

const wordsOf = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? [];

function callDeltas(
  { id, type, function: { name, arguments: text } }: Call,
  index: number,
  parts: number,
): readonly object[] {
  const size = Math.max(1, Math.ceil(text.length / parts));
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
  return [
    { index, id, type, function: { name, arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ];
}
