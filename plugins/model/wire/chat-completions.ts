import type { ModelMessage, ModelUsage } from 'svc/contracts/model';

import { CallPieces } from './call-pieces.ts';
import { type SseEvent, sseEvents } from './sse.ts';
import { estimatedTokens } from './tokens.ts';
import { BrokenStream } from './broken-stream.ts';
import { KeptThoughts, type ThoughtBlock } from './kept-thoughts.ts';
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
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  readonly prompt_cache_hit_tokens?: number;
}

/** Piece of content of Mistral's models that think. */
interface Chunked {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: readonly { readonly text?: string }[];
}

interface Delta {
  readonly content?: string | readonly Chunked[] | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly Readonly<Record<string, unknown>>[] | null;
  readonly tool_calls?:
    | readonly {
        readonly index?: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string | null };
      }[]
    | null;
}

interface Chunk {
  readonly error?: { readonly message?: string };
  readonly usage?: Usage | null;
  readonly choices?: readonly {
    readonly delta?: Delta | null;
    readonly finish_reason?: string | null;
  }[];
}

const finishes: Readonly<Record<string, 'stop' | 'tool-calls' | 'length' | 'filtered'>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  content_filter: 'filtered',
};

/** Protocol of OpenAI, which nearly every provider supports: `POST …/chat/completions`. */
export const chatCompletions: Wire = {
  url: (base) => `${base}/chat/completions`,
  modelsUrl: (base) => `${base}/models`,
  modelIds: idsOfData,
  headers: {},
  events: sseEvents,

  body(ask) {
    const { model, tools, mayCall, maxTokens, temperature, names, quirks, effort } = ask;
    return {
      model,
      messages: wireMessages(ask),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({
          type: 'function',
          function: { name: names.tool(name), description, parameters: schema },
        })),
        ...(mayCall === false && { tool_choice: 'none' }),
      }),
      [quirks.maxTokensField]: maxTokens,
      ...(temperature !== undefined && quirks.temperature && { temperature }),
      ...(effort !== undefined && quirks.effort(effort, roomOf(ask))),
      ...formatOf(ask),
      stream: true,
      ...(quirks.streamOptions && { stream_options: { include_usage: true } }),
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    let finish: string | undefined;
    let usage: Usage | undefined;
    let written = '';
    const kept = new KeptThoughts();
    for await (const { data } of events) {
      if (data === '[DONE]') {
        break;
      }
      const chunk = parsedEvent<Chunk>(data);
      if (chunk.error) {
        streamError(chunk.error.message);
      }
      // Some say it in every chunk, as a sum: the last one counts.
      usage = chunk.usage ?? usage;
      const choice = chunk.choices?.[0];
      finish = choice?.finish_reason ?? finish;
      const { tool_calls: pieces, ...delta } = choice?.delta ?? {};
      const { text, reasoning } = wordsOf(delta);
      kept.add(delta, reasoning);
      if (reasoning !== '') {
        written += reasoning;
        yield { type: 'reasoning', delta: reasoning };
      }
      if (text !== '') {
        written += text;
        yield { type: 'text', delta: text };
      }
      for (const { index, id, function: { name, arguments: args } = {} } of pieces ?? []) {
        written += args ?? '';
        yield* calls.add(index, { id, name, text: args ?? '' });
      }
    }
    if (finish === undefined) {
      throw new BrokenStream('the stream ended before the answer did');
    }
    yield* calls.whole();
    yield {
      type: 'end',
      finish: calls.any && finish === 'stop' ? 'tool-calls' : (finishes[finish] ?? 'other'),
      usage: usageOf(usage, ask, written),
      kept: ask.quirks.thoughts === 'none' ? undefined : kept.blocks,
    };
  },
};

/** Returns the words of one piece; where thoughts come under two names, one of them counts. */
function wordsOf({ content, reasoning_content: thought, reasoning = thought }: Delta): {
  readonly text: string;
  readonly reasoning: string;
} {
  const chunks = Array.isArray(content) ? (content as readonly Chunked[]) : [];
  const thoughts = chunks.flatMap(({ thinking = [] }) => thinking.map(({ text = '' }) => text));
  return {
    text: typeof content === 'string' ? content : chunks.map(({ text = '' }) => text).join(''),
    reasoning: typeof reasoning === 'string' ? reasoning : thoughts.join(''),
  };
}

function formatOf(ask: WireAsk): object {
  const format = formOf(ask);
  return format === undefined
    ? {}
    : {
        response_format:
          ask.quirks.structured === 'object'
            ? { type: 'json_object' }
            : { type: 'json_schema', json_schema: { ...format, strict: true } },
      };
}

function wireMessages(ask: WireAsk): readonly object[] {
  const { messages, tail = '', quirks } = ask;
  return messages.flatMap((message, at) => {
    const isLast = at === messages.length - 1;
    const before = messages[at - 1];
    return [
      ...(quirks.bridge && message.role === 'user' && before?.role === 'tool'
        ? [{ role: 'assistant', content: 'Noted.' }]
        : []),
      wireMessage(message, ask, isLast ? tail : ''),
    ];
  });
}

/** Returns a text, and what holds for this turn alone after it; in two parts where a breakpoint stands between them. */
function contentOf(text: string, tail: string, isMarked: boolean): unknown {
  const rest = tail === '' ? [] : [{ type: 'text', text: tail }];
  return isMarked
    ? [{ type: 'text', text, cache_control: { type: 'ephemeral' } }, ...rest]
    : [text, ...rest.map(() => tail)].join('\n\n');
}

function wireMessage(message: ModelMessage, ask: WireAsk, tail: string): object {
  const { names, quirks, messages } = ask;
  const isEnd = message === messages.at(-1) || message === messages.findLast(isOfUser);
  const isMarked = quirks.breakpoints && (message.role === 'system' || isEnd);
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: contentOf(message.text, tail, isMarked) };
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: names.call(message.call_id),
        content: contentOf(message.text, tail, isMarked),
      };
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({
        id: names.call(id),
        type: 'function',
        function: { name: names.tool(name), arguments: JSON.stringify(args) },
      }));
      const kept = message.kept?.blocks as readonly ThoughtBlock[] | undefined;
      return {
        role: 'assistant',
        content: calls.length > 0 && message.text === '' ? null : message.text,
        ...(quirks.thoughts === 'every' && { reasoning_content: ' ' }),
        ...(quirks.thoughts !== 'none' &&
          Object.fromEntries(kept?.map(({ field, value }) => [field, value]) ?? [])),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
    }
  }
}

const isOfUser = ({ role }: ModelMessage): boolean => role === 'user';

function usageOf(usage: Usage | undefined, ask: WireAsk, written: string): ModelUsage {
  const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
  const isSaid = Number.isSafeInteger(input) && Number.isSafeInteger(output);
  return {
    input_tokens: isSaid ? Number(input) : estimatedTokens(ask),
    output_tokens: isSaid ? Number(output) : estimatedTokens(written),
    cached_tokens:
      usage?.prompt_tokens_details?.cached_tokens ?? usage?.prompt_cache_hit_tokens ?? 0,
    estimated: !isSaid,
  };
}
