import type { Dialect, Refused } from './vendor.ts';
import { sse } from './vendor.ts';

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly call_id?: string;
  readonly encrypted_content?: string;
  readonly id?: string;
}

interface Request {
  readonly input: readonly Item[];
  readonly tools?: readonly object[];
  readonly store?: boolean;
  readonly include?: readonly string[];
  readonly [field: string]: unknown;
}

const refused = (
  message: string,
  param: string | null = null,
  code: string | null = null,
): Refused => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param, code } },
});

const known = new Set([
  'model',
  'input',
  'tools',
  'tool_choice',
  'max_output_tokens',
  'temperature',
  'reasoning',
  'text',
  'include',
  'store',
  'stream',
]);

/**
 * OpenAI's Responses API. Sources: reasoning items must come back with their encrypted content when
 * nothing is stored (github.com/openai/openai-agents-js issue 546, 30 September 2025;
 * github.com/ag2ai/ag2 pull 3080, 13 July 2026), a call without its reasoning is refused
 * (platform.openai.com/docs/guides/reasoning), `temperature` is refused by models that reason.
 */
export const responsesOf = (
  provider: string,
  model: string,
  auth: 'bearer' | 'api-key',
): Dialect => ({
  provider,
  model,
  path: '/responses',
  caching: 'prefix',
  contentType: 'text/event-stream',
  busy: {
    status: 429,
    headers: { 'retry-after': '0' },
    body: {
      error: {
        message: 'Rate limit reached',
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      },
    },
  },

  refusal(body, secrets, headers) {
    const { input, store, include = [], ...rest } = body as unknown as Request;
    const key =
      auth === 'bearer' ? headers['authorization'] === 'Bearer key' : headers['api-key'] === 'key';
    if (!key) {
      return {
        status: 401,
        body: { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } },
      };
    }
    const unknown = Object.keys(rest).find((field) => !known.has(field));
    if (unknown !== undefined) {
      return refused(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter');
    }
    if ('temperature' in rest) {
      return refused(
        "Unsupported parameter: 'temperature' is not supported with this model.",
        'temperature',
      );
    }
    if (store !== false || !include.includes('reasoning.encrypted_content')) {
      return refused('the double wants nothing stored, and reasoning that can come back');
    }
    const open = new Set<string>();
    for (const [index, { type, call_id: call, encrypted_content: hidden, id }] of input.entries()) {
      if (type === 'reasoning' && !secrets.has(hidden ?? '')) {
        return refused(
          `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        );
      }
      if (type === 'function_call') {
        const run = input.slice(0, index).findLast(({ type: other }) => other !== 'function_call');
        if (run?.type !== 'reasoning' && run?.type !== 'message') {
          return refused(
            `Item '${id ?? call}' of type 'function_call' was provided without its required 'reasoning' item.`,
          );
        }
        open.add(call!);
      }
      if (type === 'function_call_output' && !open.delete(call!)) {
        return refused(
          `No tool call found for function call output with call_id ${call}.`,
          'input',
        );
      }
    }
    return open.size > 0
      ? refused(`No tool output found for function call ${[...open][0]}.`, 'input')
      : undefined;
  },

  segments(body) {
    const { tools = [], input } = body as unknown as Request;
    return [...tools, ...input].map((item) => ({ text: JSON.stringify(item) }));
  },

  frames({ thinking, text, calls = [], cut }, { input, cached, output }, secret) {
    let at = 0;
    const done = (item: object): string =>
      sse({ type: 'response.output_item.done', output_index: at++, item });
    const words = text ?? '';
    return [
      sse({ type: 'response.created', response: { status: 'in_progress' } }),
      ...(thinking === undefined
        ? []
        : [
            done({ type: 'reasoning', id: `rs_${secret}`, summary: [], encrypted_content: secret }),
          ]),
      ...(words === ''
        ? []
        : [
            sse({ type: 'response.output_text.delta', output_index: at, delta: words }),
            done({
              type: 'message',
              id: `msg_${secret}`,
              status: 'completed',
              role: 'assistant',
              content: [{ type: 'output_text', text: words, annotations: [] }],
            }),
          ]),
      ...calls.flatMap(({ name, args }, n) => {
        const call = {
          type: 'function_call',
          id: `fc_${secret}_${n}`,
          call_id: `call_${secret}_${n}`,
          name,
        };
        return [
          sse({
            type: 'response.output_item.added',
            output_index: at,
            item: { ...call, arguments: '' },
          }),
          sse({
            type: 'response.function_call_arguments.delta',
            output_index: at,
            delta: JSON.stringify(args),
          }),
          done({ ...call, arguments: JSON.stringify(args), status: 'completed' }),
        ];
      }),
      sse({
        type: cut === true ? 'response.incomplete' : 'response.completed',
        response: {
          ...(cut === true && { incomplete_details: { reason: 'max_output_tokens' } }),
          usage: {
            input_tokens: input,
            input_tokens_details: { cached_tokens: cached },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
          },
        },
      }),
    ];
  },
});
