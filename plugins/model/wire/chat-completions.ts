import type { ModelMessage, ModelUsage } from 'svc/contracts/model';

import { CallPieces } from './call-pieces.ts';
import type { SseEvent } from './sse.ts';
import { estimatedTokens } from './tokens.ts';
import { BrokenStream } from './broken-stream.ts';
import { parsedEvent, type Wire, type WireAsk, type WirePart } from './wire.ts';

interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  readonly prompt_cache_hit_tokens?: number;
}

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
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
  headers: (key) => (key === '' ? {} : { authorization: `Bearer ${key}` }),

  body(ask) {
    const { model, messages, tools, maxTokens, temperature, names, quirks } = ask;
    return {
      model,
      messages: messages.map((message) => wireMessage(message, ask)),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({
          type: 'function',
          function: { name: names.tool(name), description, parameters: schema },
        })),
      }),
      [quirks.maxTokensField]: maxTokens,
      ...(temperature !== undefined && quirks.temperature && { temperature }),
      stream: true,
      stream_options: { include_usage: true },
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    let finish: string | undefined;
    let usage: Usage | undefined;
    let written = '';
    for await (const { data } of events) {
      if (data === '[DONE]') {
        break;
      }
      const chunk = parsedEvent<Chunk>(data);
      if (chunk.error) {
        throw new BrokenStream(
          `the stream ended with an error: ${String(chunk.error.message ?? 'no reason given').slice(0, 300)}`,
        );
      }
      // Some say it in every chunk, as a sum: the last one counts.
      usage = chunk.usage ?? usage;
      const choice = chunk.choices?.[0];
      finish = choice?.finish_reason ?? finish;
      const {
        content,
        reasoning_content: thought,
        reasoning = thought,
        tool_calls: pieces,
      } = choice?.delta ?? {};
      if (typeof reasoning === 'string' && reasoning !== '') {
        written += reasoning;
        yield { type: 'reasoning', delta: reasoning };
      }
      if (typeof content === 'string' && content !== '') {
        written += content;
        yield { type: 'text', delta: content };
      }
      for (const { index, id, function: { name, arguments: text } = {} } of pieces ?? []) {
        written += text ?? '';
        yield* calls.add(index, { id, name, text: text ?? '' });
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
    };
  },
};

function wireMessage(message: ModelMessage, { names, quirks }: WireAsk): object {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.text };
    case 'tool':
      return { role: 'tool', tool_call_id: names.call(message.call_id), content: message.text };
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({
        id: names.call(id),
        type: 'function',
        function: { name: names.tool(name), arguments: JSON.stringify(args) },
        ...quirks.callExtra,
      }));
      return {
        role: 'assistant',
        content: calls.length > 0 && message.text === '' ? null : message.text,
        ...(calls.length > 0 && { tool_calls: calls }),
      };
    }
  }
}

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
