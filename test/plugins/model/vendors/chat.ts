import type { Dialect, Refused, Segment } from './vendor.ts';
import { sse } from './vendor.ts';

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly { readonly signature?: string; readonly text?: string }[];
}

interface Request {
  readonly messages: readonly Message[];
  readonly tools?: readonly object[];
  readonly [field: string]: unknown;
}

/** In what a vendor's chat completions differ. */
export interface ChatRules {
  readonly provider: string;
  readonly model: string;
  readonly path?: string;
  readonly caching?: Dialect['caching'];
  /** Body of its errors. */
  readonly error?: (message: string) => object;
  readonly rules: readonly ((
    request: Request,
    secrets: ReadonlyMap<string, string>,
  ) => Refused | undefined)[];
  /** How it says what it thinks. */
  readonly thoughts: (thinking: string, secret: string) => object;
  readonly usage: (cached: number) => object;
  readonly needsKey?: boolean;
}

export const openaiError =
  (status: number, param: string | null = null, code: string | null = null) =>
  (message: string): Refused => ({
    status,
    body: { error: { message, type: 'invalid_request_error', param, code } },
  });

/** Every result follows its call, and every call has one: all of them insist. */
export function inOrder({ messages }: Request): Refused | undefined {
  const open = new Set<string>();
  for (const { role, tool_call_id: id, tool_calls: calls } of messages) {
    if (role === 'tool' && !open.delete(id ?? '')) {
      return openaiError(400)(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      );
    }
    if (role !== 'tool' && open.size > 0) {
      return openaiError(400)(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join()}`,
      );
    }
    calls?.forEach((call) => open.add(call.id));
  }
  return undefined;
}

export const chatOf = ({
  provider,
  model,
  path = '/chat/completions',
  caching = 'prefix',
  rules,
  thoughts,
  usage,
  needsKey = true,
}: ChatRules): Dialect => ({
  provider,
  model,
  path,
  caching,
  contentType: 'text/event-stream',
  busy: {
    status: 429,
    headers: { 'retry-after': '0' },
    body: { error: { message: 'Rate limit reached', type: 'rate_limit', code: null } },
  },

  refusal(body, secrets, headers) {
    if (needsKey && headers['authorization'] !== 'Bearer key' && headers['api-key'] !== 'key') {
      return openaiError(401, null, 'invalid_api_key')('Incorrect API key provided');
    }
    const request = body as unknown as Request;
    for (const rule of rules) {
      const refused = rule(request, secrets);
      if (refused !== undefined) {
        return refused;
      }
    }
    return undefined;
  },

  segments(body) {
    const { tools = [], messages } = body as unknown as Request;
    const pieces = messages.flatMap(({ content, ...message }): Segment[] => {
      const head = { text: JSON.stringify(message) };
      return Array.isArray(content)
        ? [
            head,
            ...(content as readonly { text: string; cache_control?: object }[]).map(
              ({ text, cache_control: mark }) => ({ text, marked: mark !== undefined }),
            ),
          ]
        : [head, { text: String(content) }];
    });
    return [...tools.map((tool) => ({ text: JSON.stringify(tool) })), ...pieces];
  },

  frames({ thinking, text, calls = [], cut }, { input, cached, output }, secret) {
    const chunk = (delta: object, finish: string | null = null): string =>
      sse({
        id: 'c',
        object: 'chat.completion.chunk',
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return [
      ...(thinking === undefined ? [] : [chunk(thoughts(thinking, secret))]),
      ...(text === undefined ? [] : [chunk({ content: text })]),
      ...calls.map(({ name, args }, index) =>
        chunk({
          tool_calls: [
            {
              index,
              id: `call_${secret}_${index}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            },
          ],
        }),
      ),
      chunk({}, cut === true ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'),
      sse({
        id: 'c',
        object: 'chat.completion.chunk',
        choices: [],
        usage: {
          prompt_tokens: input,
          completion_tokens: output,
          total_tokens: input + output,
          ...usage(cached),
        },
      }),
      'data: [DONE]\n\n',
    ];
  },
});

export const details = (cached: number): object => ({
  prompt_tokens_details: { cached_tokens: cached },
});
