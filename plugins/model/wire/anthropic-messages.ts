import type { ModelMessage, ModelPart } from 'svc/contracts/model';

import { CallPieces } from './call-pieces.ts';
import { type SseEvent, sseEvents } from './sse.ts';
import { BrokenStream } from './broken-stream.ts';
import {
  formOf,
  idsOfData,
  parsedEvent,
  roomOf,
  streamError,
  type Wire,
  type WireAsk,
  type WirePart,
} from './wire.ts';

interface Usage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

type Event =
  | { readonly type: 'message_start'; readonly message: { readonly usage: Usage } }
  | {
      readonly type: 'content_block_start';
      readonly index: number;
      readonly content_block: {
        readonly type: string;
        readonly id: string;
        readonly name: string;
        readonly data?: string;
      };
    }
  | {
      readonly type: 'content_block_delta';
      readonly index: number;
      readonly delta: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'message_delta';
      readonly delta: { readonly stop_reason?: string | null };
      readonly usage?: Usage;
    }
  | { readonly type: 'error'; readonly error?: { readonly message?: string } }
  | { readonly type: 'ping' };

type Finish = Extract<ModelPart, { type: 'end' }>['finish'];
type Block = Readonly<Record<string, unknown>>;

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  refusal: 'filtered',
};

/**
 * Breakpoint: all that comes before it is the same in the next turn and is served from the cache
 * then, at a tenth of the price. A request may have four of them.
 */
const breakpoint = { cache_control: { type: 'ephemeral' } };

/** The protocol of Anthropic: `POST …/messages`. */
export const anthropicMessages: Wire = {
  url: (base) => `${base}/messages`,
  modelsUrl: (base) => `${base}/models`,
  modelIds: idsOfData,
  headers: { 'anthropic-version': '2023-06-01' },
  events: sseEvents,

  body(ask) {
    const { model, messages, tools, mayCall, maxTokens, temperature, names, quirks } = ask;
    const system = messages.flatMap((message) =>
      message.role === 'system' && message.text !== ''
        ? [{ type: 'text', text: message.text }]
        : [],
    );
    const thinking = thinkingOf(ask);
    return {
      model,
      max_tokens: maxTokens,
      // Tools come before it, so the first breakpoint is theirs as well; the last is the digest's.
      ...(system.length > 0 && {
        system: system.map((block, at) =>
          at === 0 || at === system.length - 1 ? { ...block, ...breakpoint } : block,
        ),
      }),
      messages: turnsOf(messages, ask, isBudget(thinking)),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }, at) => ({
          name: names.tool(name),
          description,
          input_schema: schema,
          ...(system.length === 0 && at === tools.length - 1 && breakpoint),
        })),
        ...(mayCall === false && { tool_choice: { type: 'none' } }),
      }),
      ...(temperature !== undefined &&
        quirks.temperature &&
        !('thinking' in thinking) && { temperature }),
      ...thinking,
      ...outputOf(ask, thinking),
      stream: true,
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    let finish: string | undefined;
    let usage: Usage = {};
    const turn = new KeptBlocks();
    for await (const { data } of events) {
      const event = parsedEvent<Event>(data);
      switch (event.type) {
        case 'message_start':
          usage = event.message.usage;
          break;
        case 'content_block_start':
          turn.begin(event.index, event.content_block);
          if (event.content_block.type === 'tool_use') {
            yield* calls.add(event.index, { ...event.content_block, text: '' });
          }
          break;
        case 'content_block_delta':
          turn.add(event.index, event.delta);
          yield* deltaParts(event.index, event.delta, calls);
          break;
        case 'message_delta':
          finish = event.delta.stop_reason ?? finish;
          usage = { ...usage, ...event.usage };
          break;
        case 'ping':
          break;
        case 'error':
          streamError(event.error?.message);
      }
    }
    if (finish === undefined) {
      throw new BrokenStream('the stream ended before the answer did');
    }
    yield* calls.whole();
    const cached = usage.cache_read_input_tokens ?? 0;
    yield {
      type: 'end',
      finish: finishes[finish] ?? 'other',
      usage: {
        input_tokens: (usage.input_tokens ?? 0) + cached + (usage.cache_creation_input_tokens ?? 0),
        output_tokens: usage.output_tokens ?? 0,
        cached_tokens: cached,
        estimated: false,
      },
      kept: turn.blocks,
    };
  },
};

/** Fields that ask for thoughts; none if the history was made by a model without any, as then a budget is refused. */
function thinkingOf({ effort, quirks, messages, ...ask }: WireAsk): object {
  if (effort === undefined) {
    return {};
  }
  const fields = quirks.effort(effort, roomOf({ effort, quirks, messages, ...ask }));
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'user');
  return isBudget(fields) && last?.role === 'assistant' && last.calls.length > 0 && !last.kept
    ? {}
    : fields;
}

function outputOf(ask: WireAsk, thinking: object): object {
  const { output_config: config = {} } = thinking as { output_config?: object };
  const format = formOf(ask);
  return format === undefined
    ? {}
    : {
        output_config: { ...config, format: { type: 'json_schema', schema: format.schema } },
      };
}

/** Returns whether thoughts have a budget, as those of models have that drop them when a person speaks. */
const isBudget = (fields: object): boolean => 'thinking' in fields && !('output_config' in fields);

/** Blocks of an answer as they came, for the case that thoughts are among them: those must come back untouched. */
class KeptBlocks {
  readonly #blocks = new Map<number, Record<string, unknown>>();
  #calls = 0;

  begin(index: number, { type, data }: { readonly type: string; readonly data?: string }): void {
    this.#blocks.set(
      index,
      type === 'tool_use'
        ? { type, call: this.#calls++ }
        : type === 'redacted_thinking'
          ? { type, data }
          : type === 'thinking'
            ? { type, thinking: '', signature: '' }
            : { type, text: '' },
    );
  }

  add(index: number, delta: Readonly<Record<string, string>>): void {
    const block = this.#blocks.get(index);
    for (const field of ['text', 'thinking', 'signature']) {
      if (block !== undefined && field in block && field in delta) {
        block[field] += delta[field]!;
      }
    }
  }

  get blocks(): readonly unknown[] | undefined {
    const blocks = [...this.#blocks.values()];
    // A thought that was cut off has no signature, and would be refused.
    const isWhole = blocks.every(({ signature }) => signature !== '');
    return isWhole && blocks.some(({ type }) => String(type).endsWith('thinking'))
      ? blocks.filter(({ type, text }) => type !== 'text' || text !== '')
      : undefined;
  }
}

function deltaParts(
  index: number,
  delta: Readonly<Record<string, string>>,
  calls: CallPieces,
): readonly WirePart[] {
  switch (delta['type']) {
    case 'text_delta':
      return [{ type: 'text', delta: delta['text']! }];
    case 'thinking_delta':
      return [{ type: 'reasoning', delta: delta['thinking']! }];
    case 'input_json_delta':
      return calls.add(index, { text: delta['partial_json']! });
    default:
      return [];
  }
}

/**
 * Returns alternating turns of two roles: tool results belong to the user, all of one answer
 * together; none is empty.
 */
function turnsOf(
  messages: readonly ModelMessage[],
  ask: WireAsk,
  isThinking: boolean,
): readonly object[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const content = blocksOf(message, ask);
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (content.length === 0) {
      continue;
    }
    if (last?.role === role) {
      last.content.push(...content);
    } else {
      turns.push({ role, content });
    }
  }
  const users = turns.filter(({ role }) => role === 'user');
  // The one before is where the last request had its own: it is found there however much has come since.
  users.slice(-2).forEach(({ content }) => content.push({ ...content.pop(), ...breakpoint }));
  addTail(users.at(-1)?.content, ask, isThinking);
  return turns;
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** Adds what holds for this turn alone, after the breakpoint; among thoughts as part of a result, for which they are not dropped. */
function addTail(content: Block[] | undefined, { tail = '' }: WireAsk, isThinking: boolean): void {
  const last = content?.at(-1);
  if (content === undefined || last === undefined || tail === '') {
    return;
  }
  const block = { type: 'text', text: tail };
  if (isThinking && last['type'] === 'tool_result') {
    const { cache_control: _, ...result } = last;
    content[content.length - 1] = {
      ...result,
      content: [...(last['content'] as readonly object[]), block],
    };
  } else {
    content.push(block);
  }
}

function blocksOf(message: ModelMessage, { names }: WireAsk): Block[] {
  const text = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }];
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return text;
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({
        type: 'tool_use',
        id: names.call(id),
        name: names.tool(name),
        input: args,
      }));
      const kept = message.kept?.blocks as readonly Block[] | undefined;
      return (
        kept?.flatMap((block) =>
          block['type'] === 'tool_use' ? (calls[Number(block['call'])] ?? []) : [block],
        ) ?? [...text, ...calls]
      );
    }
    case 'tool':
      return [
        {
          type: 'tool_result',
          tool_use_id: names.call(message.call_id),
          content: text,
          ...(message.failed && { is_error: true }),
        },
      ];
  }
}
