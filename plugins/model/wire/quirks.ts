/** Peculiarities of a model. */
export interface Quirks {
  /** Tokens that question and answer may have together. */
  readonly context: number;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** True if it accepts one; reasoning models refuse it. */
  readonly temperature: boolean;
  /** Field added to every tool call in the history. */
  readonly callExtra?: object;
}

interface Row extends Partial<Quirks> {
  readonly provider: string;
  readonly model: RegExp;
}

/** Unknown models get little: too small a window costs an earlier summary, too large a one the answer. */
const usual: Quirks = { context: 32_768, maxTokensField: 'max_tokens', temperature: true };

/** Later rows go before earlier ones, field by field. */
const table: readonly Row[] = [
  { provider: 'openai', model: /./, context: 128_000, maxTokensField: 'max_completion_tokens' },
  { provider: 'openai', model: /^gpt-4\.1/, context: 1_047_576 },
  { provider: 'openai', model: /^o\d/, context: 200_000, temperature: false },
  { provider: 'openai', model: /^gpt-[5-9]/, context: 400_000, temperature: false },
  { provider: 'anthropic', model: /./, context: 200_000 },
  // Newer ones refuse tool calls in the history without the signature of the preceding thought;
  // this one is accepted for any.
  {
    provider: 'google',
    model: /./,
    context: 1_048_576,
    callExtra: {
      extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
    },
  },
  { provider: 'deepseek', model: /./, context: 131_072 },
  { provider: 'deepseek', model: /reason/, temperature: false },
  // Ollama silently truncates what exceeds its own setting.
  { provider: 'ollama', model: /./, context: 8_192 },
];

/** Returns the quirks of a model; `window` is configured for self-hosted ones, 0 if unset. */
export function quirksOf(provider: string, model: string, window: number): Quirks {
  const known = table
    .filter((row) => row.provider === provider && row.model.test(model))
    .map(({ provider: _, model: __, ...quirks }) => quirks);
  const own = provider === 'ollama' || known.length === 0;
  return Object.assign({}, usual, ...known, own && window > 0 ? { context: window } : {}) as Quirks;
}
