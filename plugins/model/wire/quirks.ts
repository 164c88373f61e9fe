import type { ModelEffort } from 'svc/contracts/model';

export type WireName = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse';

/** Peculiarities of a model. */
export interface Quirks {
  /** Protocol, for providers that have several. */
  readonly wire: WireName;
  /** Tokens that question and answer may have together. */
  readonly context: number;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** True if it accepts one; reasoning models refuse it. */
  readonly temperature: boolean;
  /** Thinking before its answers; `asked` needs an effort. */
  readonly thinks: 'never' | 'asked' | 'always';
  /** Fields that tell it how much to think; `room` is the room for that, in tokens. */
  readonly effort: (effort: ModelEffort, room: number) => object;
  /** Way in which it enforces the form of an answer; undefined if it does not. */
  readonly structured: 'schema' | 'object' | undefined;
  /** True if it does so in the last turn of a conversation with tools as well. */
  readonly structuredBesideTools: boolean;
  /** False if it refuses `stream_options` and reports its usage anyway. */
  readonly streamOptions: boolean;
  /** Thoughts that it wants back: none, those that it has sent, or some with every answer. */
  readonly thoughts: 'none' | 'sent' | 'every';
  /** True if an answer must stand between results of tools and what a person says. */
  readonly bridge: boolean;
  /** True if it caches only where it is told to. */
  readonly breakpoints: boolean;
}

interface Row extends Partial<Quirks> {
  readonly provider: string;
  readonly model: RegExp;
}

const efforts =
  (field: string, levels: Partial<Record<ModelEffort, string>> = {}) =>
  (effort: ModelEffort): object => ({
    [field]: levels[effort] ?? (effort === 'max' ? 'high' : effort),
  });
const noEffort = (): object => ({});
const reasoningEffort = efforts('reasoning_effort');
/** Servers that know no `none` think as they are set up to. */
const someEffort = (effort: ModelEffort): object =>
  effort === 'none' ? {} : reasoningEffort(effort);

/** Models whose names say that they think; of others behind an address nothing is known. */
const thinkers =
  /(^|[^a-z])r1([^a-z0-9]|$)|reason|think|qwq|qwen-?3|gpt-oss|magistral|glm-(4\.[5-9]|[5-9])|kimi-k[2-9]|deepseek-v[4-9]/i;

/** Unknown models get little: too small a window costs an earlier summary, too large a one the answer. */
const usual: Quirks = {
  wire: 'chat',
  context: 32_768,
  maxTokensField: 'max_tokens',
  temperature: true,
  thinks: 'never',
  effort: someEffort,
  structured: undefined,
  structuredBesideTools: false,
  streamOptions: true,
  thoughts: 'sent',
  bridge: false,
  breakpoints: false,
};

const openaiThinker = {
  context: 400_000,
  temperature: false,
  thinks: 'always',
  wire: 'responses',
  effort: (effort: ModelEffort) => ({
    reasoning: { effort: effort === 'max' ? 'high' : effort },
  }),
} as const;
/** The first ones that think cannot leave it off. */
const lowest =
  (least: string) =>
  (effort: ModelEffort): object => ({
    reasoning: { effort: effort === 'none' ? least : effort === 'max' ? 'high' : effort },
  });
const adaptive = (effort: ModelEffort): object =>
  effort === 'none' ? {} : { thinking: { type: 'adaptive' }, output_config: { effort } };
const adaptiveToHigh = (effort: ModelEffort): object =>
  adaptive(effort === 'max' ? 'high' : effort);
const budgeted = (effort: ModelEffort, room: number): object =>
  effort === 'none' || room < 1_024 ? {} : { thinking: { type: 'enabled', budget_tokens: room } };
const level = (effort: ModelEffort): object => ({
  thinkingLevel: effort === 'none' || effort === 'low' ? 'low' : 'high',
});
const budget = (effort: ModelEffort, room: number): object => ({
  thinkingBudget: effort === 'none' ? 0 : room,
});

/** Later rows go before earlier ones, field by field. */
const table: readonly Row[] = [
  {
    provider: 'openai',
    model: /./,
    context: 128_000,
    maxTokensField: 'max_completion_tokens',
    structured: 'schema',
    structuredBesideTools: true,
    effort: noEffort,
  },
  { provider: 'openai', model: /^gpt-4\.1/, context: 1_047_576 },
  { provider: 'openai', model: /^o\d/, ...openaiThinker, context: 200_000 },
  // With tools and reasoning they answer only here; -pro and codex live here alone.
  { provider: 'openai', model: /^(?:gpt-[5-9]|codex)/, ...openaiThinker },
  { provider: 'openai', model: /^o\d/, effort: lowest('low') },
  { provider: 'openai', model: /^gpt-5(?:-|$)/, effort: lowest('minimal') },
  { provider: 'openai', model: /chat-latest/, thinks: 'never', effort: noEffort },
  // A deployment may have any name; those of other vendors know chat completions alone.
  {
    provider: 'azure',
    model: /./,
    context: 128_000,
    wire: 'responses',
    maxTokensField: 'max_completion_tokens',
    structured: 'schema',
    structuredBesideTools: true,
    effort: noEffort,
  },
  { provider: 'azure', model: /(^|[^a-z])o\d/, ...openaiThinker, context: 200_000 },
  { provider: 'azure', model: /gpt-?[5-9]|codex/i, ...openaiThinker },
  {
    provider: 'azure',
    model: /deepseek|llama|mistral|phi-|grok|cohere|kimi|qwen/i,
    wire: 'chat',
    maxTokensField: 'max_tokens',
    structured: undefined,
  },
  {
    provider: 'anthropic',
    model: /./,
    wire: 'messages',
    context: 200_000,
    thinks: 'asked',
    structured: 'schema',
    structuredBesideTools: true,
    effort: adaptiveToHigh,
    breakpoints: true,
  },
  { provider: 'anthropic', model: /opus/, effort: adaptive },
  // Before 4.6 thinking has a budget, and before 4.5 nothing enforces a form.
  {
    provider: 'anthropic',
    model: /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)/,
    effort: budgeted,
  },
  {
    provider: 'anthropic',
    model: /claude-(?:3|(?:opus|sonnet)-4(?:-[01])?(?:-\d{8})?$)/,
    structured: undefined,
  },
  {
    provider: 'anthropic',
    model: /claude-3-[05]|claude-3-(?:opus|haiku|sonnet)/,
    effort: noEffort,
    thinks: 'never',
  },
  {
    provider: 'google',
    model: /./,
    wire: 'gemini',
    context: 1_048_576,
    thinks: 'always',
    structured: 'schema',
    effort: level,
  },
  { provider: 'google', model: /^gemini-2\.5/, effort: budget },
  // It cannot leave thinking off.
  {
    provider: 'google',
    model: /^gemini-2\.5-pro/,
    effort: (effort, room) => budget(effort === 'none' ? 'low' : effort, Math.max(128, room)),
  },
  { provider: 'google', model: /^gemini-(?:1|2\.0)/, thinks: 'never', effort: noEffort },
  {
    provider: 'deepseek',
    model: /./,
    context: 131_072,
    thinks: 'always',
    thoughts: 'every',
    structured: 'object',
    effort: (effort) =>
      effort === 'none'
        ? { thinking: { type: 'disabled' } }
        : {
            thinking: { type: 'enabled' },
            reasoning_effort: effort === 'medium' ? 'high' : effort,
          },
  },
  { provider: 'deepseek', model: /v[4-9]/, context: 1_000_000 },
  { provider: 'deepseek', model: /reason/, temperature: false },
  { provider: 'deepseek', model: /^deepseek-chat$/, thinks: 'asked', thoughts: 'sent' },
  // It refuses fields that it does not know.
  {
    provider: 'mistral',
    model: /./,
    context: 131_072,
    structured: 'schema',
    streamOptions: false,
    thoughts: 'none',
    bridge: true,
    effort: noEffort,
  },
  { provider: 'mistral', model: /magistral/, thinks: 'always' },
  {
    provider: 'xai',
    model: /./,
    context: 256_000,
    maxTokensField: 'max_completion_tokens',
    structured: 'schema',
    thoughts: 'none',
    thinks: 'always',
    effort: noEffort,
  },
  { provider: 'xai', model: /non-reasoning/, thinks: 'never' },
  {
    provider: 'xai',
    model: /^grok-(?:3-mini|4\.(?:[3-9]|20-multi)|[5-9])/,
    effort: someEffort,
  },
  {
    provider: 'openrouter',
    model: /./,
    context: 128_000,
    thinks: 'asked',
    structured: 'schema',
    effort: (effort) => ({
      reasoning: { effort: effort === 'max' ? 'high' : effort },
    }),
  },
  {
    provider: 'openrouter',
    model:
      /^(?:openai\/(?:o\d|gpt-[5-9])|google\/gemini-(?:2\.5|[3-9])|deepseek\/deepseek-(?:r|v[4-9])|x-ai\/)/,
    thinks: 'always',
  },
  { provider: 'openrouter', model: /^anthropic\//, context: 200_000, breakpoints: true },
  { provider: 'litellm', model: /./, context: 128_000, thinks: 'asked' },
  { provider: 'litellm', model: /claude|anthropic/i, context: 200_000, breakpoints: true },
  { provider: 'vllm', model: /./, structured: 'schema' },
  // Ollama silently truncates what exceeds its own setting.
  { provider: 'ollama', model: /./, context: 8_192, structured: 'schema' },
  { provider: 'bedrock', model: /./, wire: 'converse', context: 128_000, effort: noEffort },
  {
    provider: 'bedrock',
    model: /anthropic\.claude/,
    context: 200_000,
    breakpoints: true,
    thinks: 'asked',
    effort: adaptiveToHigh,
  },
  {
    provider: 'bedrock',
    model: /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-5])?-\d{8})/,
    effort: budgeted,
  },
  {
    provider: 'bedrock',
    model: /claude-3-(?:5|opus|haiku|sonnet)/,
    thinks: 'never',
    effort: noEffort,
  },
  { provider: 'bedrock', model: /amazon\.nova/, context: 300_000, breakpoints: true },
];

/** Providers of which the administrator says how large the window is. */
const own: ReadonlySet<string> = new Set(['ollama', 'vllm', 'litellm']);

/** Returns the quirks of a model; `window` is configured for self-hosted ones, 0 if unset. */
export function quirksOf(provider: string, model: string, window: number): Quirks {
  const known = table
    .filter((row) => row.provider === provider && row.model.test(model))
    .map(({ provider: _, model: __, ...quirks }) => quirks);
  const isOwn = own.has(provider) || known.length === 0;
  return Object.assign(
    {},
    usual,
    isOwn && thinkers.test(model) ? { thinks: 'always' } : {},
    ...known,
    isOwn && window > 0 ? { context: window } : {},
  ) as Quirks;
}

const rooms: Readonly<Record<ModelEffort, number>> = {
  none: 0,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  max: 32_768,
};

/** Returns the tokens that thoughts may take, in addition to those of the answer. */
export function thinkingRoom(
  { thinks, context }: Pick<Quirks, 'thinks' | 'context'>,
  effort: ModelEffort | undefined,
): number {
  const isThinking = thinks === 'always' || (thinks === 'asked' && effort !== undefined);
  // Some cannot leave it off.
  const least = thinks === 'always' && effort === 'none' ? 'low' : effort;
  return isThinking ? Math.min(rooms[least ?? 'medium'], Math.floor(context / 4)) : 0;
}
