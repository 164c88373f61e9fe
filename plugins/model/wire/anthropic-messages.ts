import type { ModelMessage, ModelPart } from 'svc/contracts/model';

import { CallPieces } from './call-pieces.ts';
import type { SseEvent } from './sse.ts';
import { BrokenStream } from './broken-stream.ts';
import { parsedEvent, type Wire, type WireAsk, type WirePart } from './wire.ts';

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
      readonly content_block: { readonly type: string; readonly id: string; readonly name: string };
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
 * Cache marker for what is the same in every turn of a conversation: the provider caches it, which
 * costs a tenth.
 */
const kept = { cache_control: { type: 'ephemeral' } };

/** The protocol of Anthropic: `POST …/messages`. */
export const anthropicMessages: Wire = {
  url: (base) => `${base}/messages`,
  modelsUrl: (base) => `${base}/models`,
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),

  body(ask) {
    const { model, messages, tools, maxTokens, temperature, names, quirks } = ask;
    const system = messages.flatMap((message) =>
      message.role === 'system' && message.text !== ''
        ? [{ type: 'text', text: message.text }]
        : [],
    );
    return {
      model,
      max_tokens: maxTokens,
      ...(system.length > 0 && { system: system.with(-1, { ...system.at(-1)!, ...kept }) }),
      messages: turnsOf(messages, ask),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({
          name: names.tool(name),
          description,
          input_schema: schema,
        })),
      }),
      ...(temperature !== undefined && quirks.temperature && { temperature }),
      stream: true,
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    let finish: string | undefined;
    let usage: Usage = {};
    for await (const { data } of events) {
      const event = parsedEvent<Event>(data);
      switch (event.type) {
        case 'message_start':
          usage = event.message.usage;
          break;
        case 'content_block_start':
          if (event.content_block.type === 'tool_use') {
            yield* calls.add(event.index, { ...event.content_block, text: '' });
          }
          break;
        case 'content_block_delta':
          yield* deltaParts(event.index, event.delta, calls);
          break;
        case 'message_delta':
          finish = event.delta.stop_reason ?? finish;
          usage = { ...usage, ...event.usage };
          break;
        case 'ping':
          break;
        case 'error':
          throw new BrokenStream(
            `the stream ended with an error: ${String(event.error?.message ?? 'no reason given').slice(0, 300)}`,
          );
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
    };
  },
};

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
function turnsOf(messages: readonly ModelMessage[], ask: WireAsk): readonly object[] {
  const turns: { readonly role: 'user' | 'assistant'; readonly content: Block[] }[] = [];
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
  const last = turns.at(-1)?.content;
  last?.push({ ...last.pop(), ...kept });
  return turns;
}

function blocksOf(message: ModelMessage, { names }: WireAsk): Block[] {
  const text = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }];
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return text;
    case 'assistant':
      return [
        ...text,
        ...message.calls.map(({ id, name, args }) => ({
          type: 'tool_use',
          id: names.call(id),
          name: names.tool(name),
          input: args,
        })),
      ];
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
