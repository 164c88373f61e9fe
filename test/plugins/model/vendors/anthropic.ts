import type { Dialect, Refused, Segment } from './vendor.ts';
import { sse } from './vendor.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly cache_control?: object;
}

interface Request {
  readonly max_tokens?: number;
  readonly system?: readonly Block[];
  readonly tools?: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
  readonly temperature?: number;
}

const refused = (message: string): Refused => ({
  status: 400,
  body: {
    type: 'error',
    error: { type: 'invalid_request_error', message },
    request_id: 'req_1',
  },
});

const usageOf = (input: number, cached: number, output: number): object => ({
  input_tokens: input - cached,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
  output_tokens: output,
});

/**
 * Anthropic's Messages API. Sources: the errors of github.com/anthropics/claude-code issues 63267
 * and 63295 (28 May 2026: thoughts may not be modified); adaptive thinking from 4.6, a budget is
 * refused from 4.7 (platform.claude.com/docs/en/build-with-claude/adaptive-thinking, by
 * github.com/Alcova-AI/adk-anthropic-go pull 22, 17 May 2026); at most four breakpoints
 * (docs on prompt caching, 2026).
 */
export const anthropic: Dialect = {
  provider: 'anthropic',
  model: 'claude-opus-4-7',
  path: '/messages',
  caching: 'explicit',
  contentType: 'text/event-stream',
  busy: {
    status: 429,
    headers: { 'retry-after': '0' },
    body: { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } },
  },

  refusal(body, secrets, headers) {
    const {
      messages,
      tools = [],
      system = [],
      thinking,
      max_tokens,
      temperature,
    } = body as unknown as Request;
    if (headers['x-api-key'] !== 'key' || headers['anthropic-version'] === undefined) {
      return {
        status: 401,
        body: { type: 'error', error: { type: 'authentication_error', message: 'x-api-key' } },
      };
    }
    if (max_tokens === undefined) {
      return refused('max_tokens: Field required');
    }
    if (thinking?.type === 'enabled') {
      return refused(
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      );
    }
    if (thinking !== undefined && temperature !== undefined && temperature !== 1) {
      return refused('`temperature` may only be set to 1 when thinking is enabled.');
    }
    const marks = [...system, ...tools, ...messages.flatMap(({ content }) => content)].filter(
      ({ cache_control: mark }) => mark !== undefined,
    );
    if (marks.length > 4) {
      return refused(
        `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`,
      );
    }
    for (const [index, { role, content }] of messages.entries()) {
      const before = messages[index - 1];
      if (before?.role === role) {
        return refused(`messages: roles must alternate, found ${role} twice`);
      }
      const uses = before?.content.filter(({ type }) => type === 'tool_use') ?? [];
      const results = content.filter(({ type }) => type === 'tool_result');
      const stray = results.find(({ tool_use_id: id }) => !uses.some((use) => use.id === id));
      if (stray !== undefined) {
        return refused(
          `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      }
      if (uses.length > results.length) {
        return refused(
          `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${uses[0]!.id}.`,
        );
      }
      if (
        uses.length > 0 &&
        content.slice(0, results.length).some(({ type }) => type !== 'tool_result')
      ) {
        return refused(`messages.${index}: tool_result blocks must come first`);
      }
      for (const [at, { type, thinking: words, signature }] of content.entries()) {
        if (type === 'thinking' && secrets.get(signature ?? '') !== words) {
          return refused(
            `messages.${index}.content.${at}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
          );
        }
        if (type === 'text' && (content[at] as Block).text?.trim() === '') {
          return refused('messages: text content blocks must be non-empty');
        }
      }
    }
    return undefined;
  },

  segments(body) {
    const { tools = [], system = [], messages } = body as unknown as Request;
    const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)];
    return blocks.map((block): Segment => {
      const { cache_control: mark, ...rest } = block;
      return { text: JSON.stringify(rest), marked: mark !== undefined };
    });
  },

  frames({ thinking, text, calls = [], cut }, { input, cached, output }, secret) {
    const start = (index: number, block: object): string =>
      sse({ type: 'content_block_start', index, content_block: block });
    const delta = (index: number, change: object): string =>
      sse({ type: 'content_block_delta', index, delta: change });
    let at = 0;
    const thoughts =
      thinking === undefined
        ? []
        : [
            start(at, { type: 'thinking', thinking: '', signature: '' }),
            delta(at, { type: 'thinking_delta', thinking: thinking.slice(0, 3) }),
            delta(at, { type: 'thinking_delta', thinking: thinking.slice(3) }),
            delta(at++, { type: 'signature_delta', signature: secret }),
          ];
    const words =
      text === undefined
        ? []
        : [start(at, { type: 'text', text: '' }), delta(at++, { type: 'text_delta', text })];
    const uses = calls.flatMap(({ name, args }) => [
      start(at, { type: 'tool_use', id: `toolu_${secret}_${at}`, name, input: {} }),
      delta(at++, { type: 'input_json_delta', partial_json: JSON.stringify(args) }),
    ]);
    const reason = cut === true ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
    return [
      sse({ type: 'message_start', message: { usage: usageOf(input, cached, 1) } }),
      ...thoughts,
      ...words,
      ...uses,
      sse({
        type: 'message_delta',
        delta: { stop_reason: reason },
        usage: { output_tokens: output },
      }),
      sse({ type: 'message_stop' }),
    ];
  },
};
