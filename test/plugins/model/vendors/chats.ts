import { chatOf, type ChatRules, details, inOrder, openaiError } from './chat.ts';
import type { Dialect } from './vendor.ts';

type Rule = ChatRules['rules'][number];

const reasoningContent = (thinking: string): object => ({ reasoning_content: thinking });
const only =
  (...fields: readonly string[]): Rule =>
  (request) => {
    const unknown = Object.keys(request).find((field) => !fields.includes(field));
    return unknown === undefined
      ? undefined
      : {
          status: 422,
          body: {
            object: 'error',
            message: {
              detail: [
                {
                  type: 'extra_forbidden',
                  loc: ['body', unknown],
                  msg: 'Extra inputs are not permitted',
                },
              ],
            },
            type: 'invalid_request_error',
            param: null,
            code: null,
          },
        };
  };

/** github.com/mnfst/modelparams.dev issue 29 (25 May 2026), on every answer by github.com/openclaw/openclaw issue 73417 (28 April 2026). */
const thoughtsComeBack: Rule = ({ messages }, secrets) => {
  const known = new Set(secrets.values());
  return messages.some(
    ({ role, reasoning_content: words }) => role === 'assistant' && !known.has(words ?? ''),
  )
    ? openaiError(
        400,
        null,
        'invalid_request_error',
      )('The `reasoning_content` in the thinking mode must be passed back to the API.')
    : undefined;
};

/** github.com/editor-code-assistant/eca issue 233 (13 December 2025). */
const nineCharacters: Rule = ({ messages }) => {
  const wrong = messages
    .flatMap(({ tool_call_id: id, tool_calls: calls = [] }) => [
      ...(id ? [id] : []),
      ...calls.map((call) => call.id),
    ])
    .find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  return wrong === undefined
    ? undefined
    : {
        status: 400,
        body: {
          object: 'error',
          message: `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`,
          type: 'invalid_function_call',
          param: null,
          code: '3280',
        },
      };
};

/** github.com/datapizza-labs/datapizza-ai issue 98 (4 December 2025). */
const noUserAfterTool: Rule = ({ messages }) =>
  messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
    ? {
        status: 400,
        body: {
          object: 'error',
          message: "Unexpected role 'user' after role 'tool'",
          type: 'invalid_request_message_order',
          param: null,
          code: '3230',
        },
      }
    : undefined;

/** github.com/charmbracelet/crush issue 1590 (10 December 2025). */
const noReasoningContent: Rule = ({ messages }) => {
  const at = messages.findIndex(({ reasoning_content: words }) => words !== undefined);
  return at < 0
    ? undefined
    : {
        status: 422,
        body: {
          object: 'error',
          message: {
            detail: [
              {
                type: 'extra_forbidden',
                loc: ['body', 'messages', at, 'assistant', 'reasoning_content'],
                msg: 'Extra inputs are not permitted',
              },
            ],
          },
          type: 'invalid_request_error',
        },
      };
};

/** github.com/BerriAI/litellm pull 16265 (5 November 2025), github.com/omnigent-ai/omnigent issue 1686 (30 June 2026). */
const noEffort: Rule = ({ model, reasoning_effort: effort }) =>
  effort === undefined
    ? undefined
    : {
        status: 400,
        body: {
          code: 'Client specified an invalid argument',
          error: `Model ${String(model)} does not support parameter reasoningEffort.`,
        },
      };

/** openrouter.ai/docs on reasoning tokens (2026): the sequence of blocks must match what the model has sent. */
const detailsComeBack: Rule = ({ messages }, secrets) =>
  messages.some(({ reasoning_details: list }) =>
    list?.some(({ signature, text }) => secrets.get(signature ?? '') !== text),
  ) ||
  messages.some(({ role, reasoning_details: list }) => role === 'assistant' && list === undefined)
    ? openaiError(400)('thinking blocks in the latest assistant message cannot be modified')
    : undefined;

/** github.com/griptape-ai/ComfyUI-Griptape issue 312 (22 August 2025), github.com/anomalyco/opencode issue 37964 (20 July 2026). */
export const completionTokens: Rule = ({ max_tokens: old }) =>
  old === undefined
    ? undefined
    : openaiError(
        400,
        'max_tokens',
        'unsupported_parameter',
      )(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      );

/** github.com/laurent22/joplin pull 16451 (8 September 2026): the default effort is refused as well. */
export const noToolsWithReasoning: Rule = ({ model, tools, reasoning_effort: effort }) =>
  tools !== undefined && effort !== 'none'
    ? openaiError(
        400,
        'reasoning_effort',
      )(
        `Function tools with reasoning_effort are not supported for ${String(model)} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      )
    : undefined;

const common = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'stream',
  'temperature',
  'response_format',
];

/** Vendors and servers of chat completions, each with what it insists on. */
export const chats: readonly Dialect[] = [
  chatOf({
    provider: 'deepseek',
    model: 'deepseek-v4-pro',
    rules: [inOrder, thoughtsComeBack],
    thoughts: reasoningContent,
    usage: (cached) => ({ prompt_cache_hit_tokens: cached }),
  }),
  chatOf({
    provider: 'mistral',
    model: 'magistral-medium-latest',
    rules: [
      only(...common, 'max_tokens'),
      inOrder,
      nineCharacters,
      noUserAfterTool,
      noReasoningContent,
    ],
    thoughts: (thinking) => ({
      content: [{ type: 'thinking', thinking: [{ type: 'text', text: thinking }] }],
    }),
    usage: details,
  }),
  chatOf({
    provider: 'xai',
    model: 'grok-4-1-fast-reasoning',
    rules: [inOrder, completionTokens, noEffort],
    thoughts: reasoningContent,
    usage: details,
  }),
  chatOf({
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-4.6',
    caching: 'explicit',
    rules: [inOrder, detailsComeBack],
    thoughts: (thinking, secret) => ({
      reasoning: thinking,
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: thinking, signature: secret }],
    }),
    usage: details,
  }),
  // The servers that people run themselves; they cache by the prefix.
  ...(
    [
      ['ollama', 'qwen3:8b'],
      ['vllm', 'Qwen/Qwen3-32B'],
      ['litellm', 'gpt-oss-120b'],
      ['compatible', 'kimi-k2-thinking'],
    ] as const
  ).map(([provider, model]) =>
    chatOf({
      provider,
      model,
      needsKey: false,
      rules: [inOrder],
      thoughts:
        provider === 'vllm' || provider === 'ollama'
          ? (reasoning) => ({ reasoning })
          : reasoningContent,
      usage: details,
    }),
  ),
];
