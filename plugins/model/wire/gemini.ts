import type { ModelMessage, ModelPart } from 'svc/contracts/model';

import { BrokenStream } from './broken-stream.ts';
import { CallPieces } from './call-pieces.ts';
import { type SseEvent, sseEvents } from './sse.ts';
import { estimatedTokens } from './tokens.ts';
import {
  formOf,
  parsedEvent,
  roomOf,
  streamError,
  type Wire,
  type WireAsk,
  type WirePart,
} from './wire.ts';

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly name?: string; readonly args?: object | null };
}

interface Chunk {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly Part[] } | null;
    readonly finishReason?: string;
  }[];
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly usageMetadata?: {
    readonly promptTokenCount?: number;
    readonly cachedContentTokenCount?: number;
    readonly candidatesTokenCount?: number;
    readonly thoughtsTokenCount?: number;
  };
  readonly error?: { readonly message?: string };
}

/** Part of a turn to be returned: a call by its number, with the signature that belongs to it. */
interface KeptPart {
  readonly call?: number;
  readonly text?: string;
  readonly thoughtSignature?: string;
}

const finishes: Readonly<Record<string, Extract<ModelPart, { type: 'end' }>['finish']>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
};

/** Documented stand-in for calls that another model made, which have no signature. */
const anySignature = 'skip_thought_signature_validator';

/** Protocol of Google: `POST …/models/<model>:streamGenerateContent`. */
export const gemini: Wire = {
  url: (base, model) => `${base}/models/${model}:streamGenerateContent?alt=sse`,
  modelsUrl: (base) => `${base}/models?pageSize=200`,
  modelIds: ({ models }) =>
    Array.isArray(models)
      ? (models as readonly { readonly name?: unknown }[]).map(({ name }) => String(name))
      : undefined,
  headers: {},
  events: sseEvents,

  body(ask) {
    const { messages, tools, mayCall, names } = ask;
    const system = messages.filter(({ role, text }) => role === 'system' && text !== '');
    return {
      ...(system.length > 0 && {
        systemInstruction: { parts: system.map(({ text }) => ({ text })) },
      }),
      ...(tools.length > 0 && {
        tools: [
          {
            functionDeclarations: tools.map(({ name, description, schema }) => ({
              name: names.tool(name),
              description,
              parametersJsonSchema: schema,
            })),
          },
        ],
        ...(mayCall === false && { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }),
      }),
      contents: contentsOf(ask),
      generationConfig: configOf(ask),
    };
  },

  async *parts(events: AsyncIterable<SseEvent>, ask: WireAsk): AsyncGenerator<WirePart> {
    const calls = new CallPieces((wire) => ask.names.original(wire));
    const kept: KeptPart[] = [];
    let finish: string | undefined;
    let usage: Chunk['usageMetadata'];
    let written = '';
    let made = 0;
    for await (const { data } of events) {
      const chunk = parsedEvent<Chunk>(data);
      if (chunk.error) {
        streamError(chunk.error.message);
      }
      usage = chunk.usageMetadata ?? usage;
      const candidate = chunk.candidates?.[0];
      finish =
        candidate?.finishReason ??
        finish ??
        (chunk.promptFeedback?.blockReason === undefined ? undefined : 'SAFETY');
      for (const part of candidate?.content?.parts ?? []) {
        const { text = '', functionCall: call, thought, thoughtSignature: signature } = part;
        const signed = signature === undefined ? {} : { thoughtSignature: signature };
        if (call) {
          const args = JSON.stringify(call.args ?? {});
          written += args;
          kept.push({ call: made, ...signed });
          yield* calls.add(made, { id: `${made++}`, name: call.name ?? '', text: args });
        } else if (thought === true) {
          written += text;
          yield { type: 'reasoning', delta: text };
        } else {
          keepText(kept, text, signed);
          written += text;
          if (text !== '') {
            yield { type: 'text', delta: text };
          }
        }
      }
    }
    if (finish === undefined) {
      throw new BrokenStream('the stream ended before the answer did');
    }
    yield* calls.whole();
    const { candidatesTokenCount: answer, thoughtsTokenCount: thoughts = 0 } = usage ?? {};
    yield {
      type: 'end',
      finish: calls.any && finish === 'STOP' ? 'tool-calls' : (finishes[finish] ?? 'other'),
      usage: {
        input_tokens: usage?.promptTokenCount ?? estimatedTokens(ask),
        output_tokens: (answer ?? (usage ? 0 : estimatedTokens(written))) + thoughts,
        cached_tokens: usage?.cachedContentTokenCount ?? 0,
        estimated: usage === undefined,
      },
      kept: kept.some(({ thoughtSignature }) => thoughtSignature !== undefined) ? kept : undefined,
    };
  },
};

/** Adds text to the part that it continues; a signature belongs to the part in which it comes. */
function keepText(
  kept: KeptPart[],
  text: string,
  signed: Pick<KeptPart, 'thoughtSignature'>,
): void {
  const last = kept.at(-1);
  const continues =
    last?.text !== undefined &&
    last.thoughtSignature === undefined &&
    !('thoughtSignature' in signed);
  if (continues) {
    kept[kept.length - 1] = { text: last.text + text };
  } else if (text !== '' || 'thoughtSignature' in signed) {
    kept.push({ text, ...signed });
  }
}

function configOf(ask: WireAsk): object {
  const { maxTokens, temperature, quirks, effort } = ask;
  const thinking = effort === undefined ? {} : quirks.effort(effort, roomOf(ask));
  const format = formOf(ask);
  return {
    maxOutputTokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(Object.keys(thinking).length > 0 && { thinkingConfig: thinking }),
    ...(format !== undefined && {
      responseMimeType: 'application/json',
      responseJsonSchema: format.schema,
    }),
  };
}

/** Returns turns of two roles; the results of one answer are one turn of the user. */
function contentsOf({ messages, names, tail = '' }: WireAsk): readonly object[] {
  const turns: { readonly role: 'user' | 'model'; readonly parts: object[] }[] = [];
  for (const [at, message] of messages.entries()) {
    const rest = at === messages.length - 1 ? tail : '';
    const parts = partsOf(message, names, rest);
    const role = message.role === 'assistant' ? 'model' : 'user';
    if (parts.length > 0 && turns.at(-1)?.role === role) {
      turns.at(-1)!.parts.push(...parts);
    } else if (parts.length > 0) {
      turns.push({ role, parts: [...parts] });
    }
  }
  return turns;
}

function partsOf(message: ModelMessage, names: WireAsk['names'], rest: string): readonly object[] {
  const text = rest === '' ? message.text : `${message.text}\n\n${rest}`;
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return [{ text }];
    case 'tool':
      return [
        {
          functionResponse: {
            id: names.call(message.call_id),
            name: names.tool(message.name),
            response: { [message.failed ? 'error' : 'output']: text },
          },
        },
      ];
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({
        functionCall: { id: names.call(id), name: names.tool(name), args },
      }));
      const kept = message.kept?.blocks as readonly KeptPart[] | undefined;
      if (kept === undefined) {
        return [
          ...(message.text === '' ? [] : [{ text: message.text }]),
          ...calls.map((call, at) =>
            at === 0 ? { ...call, thoughtSignature: anySignature } : call,
          ),
        ];
      }
      return kept.flatMap(({ call, ...part }) =>
        call === undefined
          ? [part]
          : calls[call] === undefined
            ? []
            : [{ ...calls[call], ...part }],
      );
    }
  }
}
