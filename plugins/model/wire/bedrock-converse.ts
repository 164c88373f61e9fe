import type { ModelMessage, ModelPart } from 'svc/contracts/model';

import { BrokenStream } from './broken-stream.ts';
import { CallPieces } from './call-pieces.ts';
import { eventStream } from './event-stream.ts';
import type { SseEvent } from './sse.ts';
import { estimatedTokens } from './tokens.ts';
import {
  parsedEvent,
  roomOf,
  streamError,
  type Wire,
  type WireAsk,
  type WirePart,
} from './wire.ts';

interface Delta {
  readonly text?: string;
  readonly toolUse?: { readonly input?: string };
  readonly reasoningContent?: {
    readonly text?: string;
    readonly signature?: string;
    readonly redactedContent?: string;
  };
}

interface Event {
  readonly message?: string;
  readonly contentBlockIndex?: number;
  readonly start?: { readonly toolUse?: { readonly toolUseId?: string; readonly name?: string } };
  readonly delta?: Delta;
  readonly stopReason?: string;
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadInputTokens?: number;
    readonly cacheWriteInputTokens?: number;
  };
}

type Block = Record<string, unknown>;

/** Block of an answer while it comes: a call by its number, a text, or thoughts. */
interface Coming {
  call?: number;
  text?: string;
  thought?: { text: string; signature: string; redacted: string };
}

const finishes: Readonly<Record<string, Extract<ModelPart, { type: 'end' }>['finish']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'filtered',
  content_filtered: 'filtered',
};

/** Breakpoint: all that comes before it can be served from the cache in the next turn. */
const cachePoint = { cachePoint: { type: 'default' } };

/** Protocol of Amazon Bedrock for the models of all its vendors: `POST …/model/<id>/converse-stream`. */
export const bedrockConverse: Wire = {
  url: (base, model) => `${base}/model/${encodeURIComponent(model)}/converse-stream`,
  modelsUrl: (base) => `${base.replace('://bedrock-runtime.', '://bedrock.')}/foundation-models`,
  modelIds: ({ modelSummaries: list }) =>
    Array.isArray(list)
      ? (list as readonly { readonly modelId?: unknown }[]).map(({ modelId }) => String(modelId))
      : undefined,
  headers: { accept: 'application/vnd.amazon.eventstream' },
  events: eventStream,

  body(ask) {
    const { messages, tools, names, maxTokens, temperature, quirks } = ask;
    const marked = quirks.breakpoints ? [cachePoint] : [];
    const system = messages.filter(({ role, text }) => role === 'system' && text !== '');
    const thinking = thinkingOf(ask);
    return {
      ...(system.length > 0 && {
        system: system.flatMap(({ text }, at) => [
          { text },
          ...(at === 0 || at === system.length - 1 ? marked : []),
        ]),
      }),
      // With a budget, models drop their thoughts when a person speaks.
      messages: turnsOf(ask, 'thinking' in thinking && !('output_config' in thinking)),
      ...(tools.length > 0 && {
        toolConfig: {
          tools: tools.map(({ name, description, schema }) => ({
            toolSpec: { name: names.tool(name), description, inputSchema: { json: schema } },
          })),
        },
      }),
      inferenceConfig: {
        maxTokens,
        ...(temperature !== undefined && !('thinking' in thinking) && { temperature }),
      },
      ...('thinking' in thinking && { additionalModelRequestFields: thinking }),
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    const blocks = new Map<number, Coming>();
    let finish: string | undefined;
    let usage: Event['usage'];
    let written = '';
    let made = 0;
    for await (const { event, data } of events) {
      const {
        message,
        contentBlockIndex: at = 0,
        start,
        delta,
        ...rest
      } = parsedEvent<Event>(data);
      if (event.endsWith('Exception')) {
        streamError(message);
      }
      if (start?.toolUse) {
        const { toolUseId: id, name } = start.toolUse;
        blocks.set(at, { call: made++ });
        yield* calls.add(at, { id, name, text: '' });
      }
      if (delta) {
        const block = blocks.get(at) ?? {};
        blocks.set(at, block);
        const part = partOf(delta, block);
        written += part.delta;
        yield* delta.toolUse
          ? calls.add(at, { text: part.delta })
          : part.delta === ''
            ? []
            : [part];
      }
      finish = rest.stopReason ?? finish;
      usage = rest.usage ?? usage;
    }
    if (finish === undefined) {
      throw new BrokenStream('the stream ended before the answer did');
    }
    yield* calls.whole();
    const cached = usage?.cacheReadInputTokens ?? 0;
    const input = usage?.inputTokens;
    yield {
      type: 'end',
      finish: finishes[finish] ?? 'other',
      usage: {
        input_tokens:
          input === undefined
            ? estimatedTokens(ask)
            : input + cached + (usage?.cacheWriteInputTokens ?? 0),
        output_tokens: usage?.outputTokens ?? estimatedTokens(written),
        cached_tokens: cached,
        estimated: input === undefined,
      },
      // A thought that was cut off has no signature, and would be refused.
      kept: finish === 'max_tokens' ? undefined : keptOf([...blocks.values()]),
    };
  },
};

function thinkingOf({ effort, messages, quirks, ...ask }: WireAsk): object {
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'user');
  return effort === undefined || (last?.role === 'assistant' && !last.kept)
    ? {}
    : quirks.effort(effort, roomOf({ effort, messages, quirks, ...ask }));
}

/** Adds a piece to its block and returns it as a part; that of a call is no text. */
function partOf(
  { text, toolUse, reasoningContent: thought }: Delta,
  block: Coming,
): { readonly type: 'text' | 'reasoning'; readonly delta: string } {
  if (thought) {
    block.thought ??= { text: '', signature: '', redacted: '' };
    block.thought.text += thought.text ?? '';
    block.thought.signature += thought.signature ?? '';
    block.thought.redacted += thought.redactedContent ?? '';
    return { type: 'reasoning', delta: thought.text ?? '' };
  }
  if (text !== undefined) {
    block.text = (block.text ?? '') + text;
  }
  return { type: 'text', delta: text ?? toolUse?.input ?? '' };
}

function keptOf(blocks: readonly Coming[]): readonly Block[] | undefined {
  return blocks.every(({ thought }) => thought === undefined)
    ? undefined
    : blocks.flatMap(({ call, text, thought }): Block[] => {
        if (thought !== undefined) {
          const { text: words, signature, redacted } = thought;
          return [
            {
              reasoningContent:
                redacted === ''
                  ? { reasoningText: { text: words, ...(signature !== '' && { signature }) } }
                  : { redactedContent: redacted },
            },
          ];
        }
        return call === undefined ? (text ? [{ text }] : []) : [{ call }];
      });
}

/** Returns alternating turns; the results of one answer are one turn of the user. */
function turnsOf(ask: WireAsk, isThinking: boolean): readonly object[] {
  const turns: { readonly role: 'user' | 'assistant'; readonly content: Block[] }[] = [];
  for (const message of ask.messages) {
    const content = blocksOf(message, ask);
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (content.length > 0 && turns.at(-1)?.role === role) {
      turns.at(-1)!.content.push(...content);
    } else if (content.length > 0) {
      turns.push({ role, content });
    }
  }
  const users = turns.filter(({ role }) => role === 'user');
  if (ask.quirks.breakpoints) {
    users.slice(-2).forEach(({ content }) => content.push(cachePoint));
  }
  addTail(users.at(-1)?.content, ask, isThinking);
  return turns;
}

/** Adds what holds for this turn alone: after the breakpoint, or among thoughts to the last result. */
function addTail(content: Block[] | undefined, { tail = '' }: WireAsk, isThinking: boolean): void {
  if (content === undefined || tail === '') {
    return;
  }
  const at = content.findLastIndex((block) => 'toolResult' in block);
  const result = content[at]?.['toolResult'] as { readonly content: readonly object[] } | undefined;
  if (isThinking && result !== undefined && at >= content.length - 2) {
    content[at] = { toolResult: { ...result, content: [...result.content, { text: tail }] } };
  } else {
    content.push({ text: tail });
  }
}

function blocksOf(message: ModelMessage, { names }: WireAsk): Block[] {
  const text = message.text.trim() === '' ? [] : [{ text: message.text }];
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return text;
    case 'tool':
      return [
        {
          toolResult: {
            toolUseId: names.call(message.call_id),
            content: text.length > 0 ? text : [{ text: '(nothing)' }],
            status: message.failed ? 'error' : 'success',
          },
        },
      ];
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({
        toolUse: { toolUseId: names.call(id), name: names.tool(name), input: args },
      }));
      const kept = message.kept?.blocks as readonly Block[] | undefined;
      return (
        kept?.flatMap((block) =>
          'call' in block ? (calls[Number(block['call'])] ?? []) : [block],
        ) ?? [...text, ...calls]
      );
    }
  }
}
