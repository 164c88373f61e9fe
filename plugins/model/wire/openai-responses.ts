import type { ModelMessage } from 'svc/contracts/model';

import { BrokenStream } from './broken-stream.ts';
import { CallPieces } from './call-pieces.ts';
import { type SseEvent, sseEvents } from './sse.ts';
import { estimatedTokens } from './tokens.ts';
import {
  formOf,
  idsOfData,
  parsedEvent,
  streamError,
  type Wire,
  type WireAsk,
  type WirePart,
} from './wire.ts';

interface Item {
  readonly type: string;
  readonly name?: string;
  readonly call_id?: string;
  readonly arguments?: string;
  readonly encrypted_content?: string | null;
  readonly [field: string]: unknown;
}

interface Reply {
  readonly usage?: {
    readonly input_tokens?: number;
    readonly input_tokens_details?: { readonly cached_tokens?: number } | null;
    readonly output_tokens?: number;
  } | null;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly error?: { readonly message?: string } | null;
}

interface Event {
  readonly type: string;
  readonly output_index?: number;
  readonly delta?: string;
  readonly item?: Item;
  readonly response?: Reply;
  readonly message?: string;
}

/** Protocol of OpenAI for models that reason: `POST …/responses`, with nothing stored at the provider. */
export const openaiResponses: Wire = {
  url: (base) => `${base}/responses`,
  modelsUrl: (base) => `${base}/models`,
  modelIds: idsOfData,
  headers: {},
  events: sseEvents,

  body(ask) {
    const { model, tools, mayCall, maxTokens, temperature, names, quirks, effort } = ask;
    const format = formOf(ask);
    return {
      model,
      input: inputOf(ask),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({
          type: 'function',
          name: names.tool(name),
          description,
          parameters: schema,
          strict: false,
        })),
        ...(mayCall === false && { tool_choice: 'none' }),
      }),
      max_output_tokens: maxTokens,
      ...(temperature !== undefined && quirks.temperature && { temperature }),
      ...(effort !== undefined && quirks.effort(effort, 0)),
      ...(format !== undefined && {
        text: { format: { type: 'json_schema', ...format, strict: true } },
      }),
      // Others answer that they do not have it.
      ...(quirks.thinks === 'always' && { include: ['reasoning.encrypted_content'] }),
      store: false,
      stream: true,
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    const items: Item[] = [];
    let end: { readonly type: string; readonly reply: Reply } | undefined;
    let written = '';
    for await (const { data } of events) {
      if (data === '[DONE]') {
        break;
      }
      const {
        type,
        delta = '',
        output_index: place,
        item,
        response,
        message,
      } = parsedEvent<Event>(data);
      switch (type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          written += delta;
          yield { type: 'text', delta };
          break;
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          written += delta;
          yield { type: 'reasoning', delta };
          break;
        case 'response.output_item.added':
          if (item?.type === 'function_call') {
            yield* calls.add(place, { id: item.call_id, name: item.name, text: '' });
          }
          break;
        case 'response.function_call_arguments.delta':
          written += delta;
          yield* calls.add(place, { text: delta });
          break;
        case 'response.output_item.done':
          items.push(item!);
          break;
        case 'response.completed':
        case 'response.incomplete':
          end = { type, reply: response ?? {} };
          break;
        case 'response.failed':
          return streamError(response?.error?.message);
        case 'error':
          return streamError(message);
      }
    }
    if (end === undefined) {
      throw new BrokenStream('the stream ended before the answer did');
    }
    yield* calls.whole();
    const { usage, incomplete_details: incomplete } = end.reply;
    const isCounted = usage !== undefined && usage !== null;
    yield {
      type: 'end',
      finish:
        incomplete?.reason === 'content_filter'
          ? 'filtered'
          : end.type === 'response.incomplete'
            ? 'length'
            : calls.any
              ? 'tool-calls'
              : 'stop',
      usage: {
        input_tokens: usage?.input_tokens ?? estimatedTokens(ask),
        output_tokens: usage?.output_tokens ?? estimatedTokens(written),
        cached_tokens: usage?.input_tokens_details?.cached_tokens ?? 0,
        estimated: !isCounted,
      },
      kept: keptOf(items),
    };
  },
};

/** Returns the items of an answer if it has reasoned: without their reasoning, its calls would be refused. */
function keptOf(items: readonly Item[]): readonly object[] | undefined {
  let calls = 0;
  const blocks = items.flatMap((item) => {
    if (item.type === 'function_call') {
      return [{ type: item.type, call: calls++ }];
    }
    const { status: _, ...rest } = item;
    // One that is stored nowhere and brings nothing along cannot be found again.
    return item.type === 'reasoning' && typeof item.encrypted_content !== 'string' ? [] : [rest];
  });
  return blocks.some(({ type }) => type === 'reasoning') ? blocks : undefined;
}

function inputOf({ messages, names, tail = '' }: WireAsk): readonly object[] {
  const itemsOf = (message: ModelMessage, rest: string): readonly object[] => {
    const text = rest === '' ? message.text : `${message.text}\n\n${rest}`;
    switch (message.role) {
      case 'system':
        return [{ role: 'developer', content: text }];
      case 'user':
        return [{ role: 'user', content: text }];
      case 'tool':
        return [
          { type: 'function_call_output', call_id: names.call(message.call_id), output: text },
        ];
      case 'assistant': {
        const calls = message.calls.map(({ id, name, args }) => ({
          type: 'function_call',
          call_id: names.call(id),
          name: names.tool(name),
          arguments: JSON.stringify(args),
        }));
        const kept = message.kept?.blocks as readonly Item[] | undefined;
        const said = message.text === '' ? [] : [{ role: 'assistant', content: message.text }];
        return (
          kept?.flatMap((item) =>
            item.type === 'function_call' ? (calls[Number(item['call'])] ?? []) : [item],
          ) ?? [...said, ...calls]
        );
      }
    }
  };
  return messages.flatMap((message, at) =>
    itemsOf(message, at === messages.length - 1 ? tail : ''),
  );
}
