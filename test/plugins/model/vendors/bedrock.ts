import { crc32 } from 'node:zlib';

import type { Dialect, Refused, Segment } from './vendor.ts';

interface Block {
  readonly text?: string;
  readonly cachePoint?: object;
  readonly toolUse?: { readonly toolUseId: string };
  readonly toolResult?: { readonly toolUseId: string };
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text: string; readonly signature?: string };
  };
}

interface Request {
  readonly system?: readonly Block[];
  readonly toolConfig?: { readonly tools: readonly object[] };
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}

const refused = (message: string): Refused => ({ status: 400, body: { message } });

/** One event of AWS's binary stream, made here from its description (smithy.io, "Amazon Event Stream"). */
function frame(event: string, payload: object): Uint8Array {
  const header = (name: string, value: string): Buffer => {
    const [key, text] = [Buffer.from(name), Buffer.from(value)];
    const size = Buffer.alloc(2);
    size.writeUInt16BE(text.length);
    return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7]), size, text]);
  };
  const headers = Buffer.concat([
    header(':event-type', event),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const rest = Buffer.concat([prelude, headers, body]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(rest));
  return Buffer.concat([rest, sum]);
}

/**
 * Amazon Bedrock's ConverseStream. Sources: toolConfig is needed with tool blocks, cache points are
 * blocks of their own, at most four, and `inputTokens` is without what was cached
 * (docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, by
 * github.com/anomalyco/opencode pull 38427 and github.com/NousResearch/hermes-agent issue 11970,
 * 2026); thoughts come back with their signature.
 */
export const bedrock: Dialect = {
  provider: 'bedrock',
  model: 'eu.anthropic.claude-opus-4-6-v1:0',
  path: '/model/eu.anthropic.claude-opus-4-6-v1%3A0/converse-stream',
  caching: 'explicit',
  contentType: 'application/vnd.amazon.eventstream',
  busy: { status: 429, headers: { 'retry-after': '0' }, body: { message: 'Too many requests' } },

  refusal(body, secrets, headers) {
    const { messages, toolConfig, system = [] } = body as unknown as Request;
    const proof = String(headers['authorization']);
    if (!/^AWS4-HMAC-SHA256 Credential=AK\/\d{8}\/us-east-1\/bedrock\/aws4_request, /.test(proof)) {
      return {
        status: 403,
        body: { message: 'The request signature we calculated does not match' },
      };
    }
    const blocks = messages.flatMap(({ content }) => content);
    if (
      toolConfig === undefined &&
      blocks.some(({ toolUse, toolResult }) => toolUse ?? toolResult)
    ) {
      return refused(
        'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
      );
    }
    if ([...system, ...blocks].filter(({ cachePoint }) => cachePoint).length > 4) {
      return refused('The model supports at most 4 cache points.');
    }
    for (const [index, { role, content }] of messages.entries()) {
      if (messages[index - 1]?.role === role) {
        return refused('A conversation must alternate between user and assistant roles.');
      }
      const uses = messages[index - 1]?.content.flatMap(({ toolUse }) => toolUse ?? []) ?? [];
      const results = content.flatMap(({ toolResult }) => toolResult ?? []);
      if (
        uses.map(({ toolUseId }) => toolUseId).join() !==
        results.map(({ toolUseId }) => toolUseId).join()
      ) {
        return refused(
          'Expected toolResult blocks at messages.' +
            index +
            '.content for the following Ids: ' +
            uses.map(({ toolUseId }) => toolUseId).join(', '),
        );
      }
      for (const { reasoningContent: { reasoningText: thought } = {} } of content) {
        if (thought !== undefined && secrets.get(thought.signature ?? '') !== thought.text) {
          return refused('thinking blocks in the latest assistant message cannot be modified');
        }
      }
    }
    return undefined;
  },

  segments(body) {
    const { toolConfig, system = [], messages } = body as unknown as Request;
    const segments: Segment[] = (toolConfig?.tools ?? []).map((tool) => ({
      text: JSON.stringify(tool),
    }));
    for (const { cachePoint, ...block } of [
      ...system,
      ...messages.flatMap(({ content }) => content),
    ]) {
      const last = segments.at(-1);
      if (cachePoint !== undefined && last !== undefined) {
        segments[segments.length - 1] = { ...last, marked: true };
      } else {
        segments.push({ text: JSON.stringify(block) });
      }
    }
    return segments;
  },

  frames({ thinking, text, calls = [], cut }, { input, cached, output }, secret) {
    let at = 0;
    const delta = (change: object): Uint8Array =>
      frame('contentBlockDelta', { contentBlockIndex: at, delta: change });
    const thoughts =
      thinking === undefined
        ? []
        : [
            delta({ reasoningContent: { text: thinking } }),
            delta({ reasoningContent: { signature: secret } }),
          ];
    at += thoughts.length > 0 ? 1 : 0;
    const words = text === undefined ? [] : [delta({ text })];
    at += words.length;
    const uses = calls.flatMap(({ name, args }) => {
      const pieces = [
        frame('contentBlockStart', {
          contentBlockIndex: at,
          start: { toolUse: { toolUseId: `tooluse_${secret}_${at}`, name } },
        }),
        delta({ toolUse: { input: JSON.stringify(args) } }),
        frame('contentBlockStop', { contentBlockIndex: at }),
      ];
      at += 1;
      return pieces;
    });
    return [
      frame('messageStart', { role: 'assistant' }),
      ...thoughts,
      ...words,
      ...uses,
      frame('messageStop', {
        stopReason: cut === true ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn',
      }),
      frame('metadata', {
        usage: {
          inputTokens: input - cached,
          outputTokens: output,
          cacheReadInputTokens: cached,
          cacheWriteInputTokens: 0,
        },
      }),
    ];
  },
};
