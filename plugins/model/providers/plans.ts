import type { Auth } from './auth.ts';

/** Provider as data: where it is and how it wants its key. In what its models differ is in `quirks.ts`. */
export interface ProviderPlan {
  readonly name: string;
  /** Empty: it is nowhere until the settings say where. */
  readonly baseUrl: string;
  /** Part of a URL that belonged to another protocol, which svc spoke to this provider before. */
  readonly notInUrl?: RegExp;
  readonly auth: Auth;
  readonly needsKey: boolean;
  /** Models shown until the provider itself has listed its own; the first one is the default. */
  readonly models: readonly string[];
}

/**
 * Providers that svc knows, and those that run wherever the administrator has them; in the order of
 * choosing the default.
 */
export const shippedProviders: readonly ProviderPlan[] = [
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    auth: 'x-api-key',
    needsKey: true,
    models: ['claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-opus-4-6'],
  },
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    auth: 'bearer',
    needsKey: true,
    models: ['gpt-5.1', 'gpt-5-mini', 'gpt-4.1'],
  },
  {
    name: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    notInUrl: /\/openai$/,
    auth: 'x-goog-api-key',
    needsKey: true,
    models: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  },
  {
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    auth: 'bearer',
    needsKey: true,
    models: ['deepseek-v4-flash', 'deepseek-v4-pro'],
  },
  {
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    auth: 'bearer',
    needsKey: true,
    models: ['mistral-medium-latest', 'mistral-small-latest', 'magistral-medium-latest'],
  },
  {
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    auth: 'bearer',
    needsKey: true,
    models: ['grok-4.5', 'grok-4.3'],
  },
  {
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    auth: 'bearer',
    needsKey: true,
    models: ['anthropic/claude-sonnet-4.6', 'openai/gpt-5.1', 'google/gemini-2.5-pro'],
  },
  { name: 'azure', baseUrl: '', auth: 'api-key', needsKey: true, models: [] },
  {
    name: 'bedrock',
    baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    auth: 'aws',
    needsKey: true,
    models: ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us.amazon.nova-pro-v1:0'],
  },
  { name: 'ollama', baseUrl: '', auth: 'bearer', needsKey: false, models: [] },
  { name: 'vllm', baseUrl: '', auth: 'bearer', needsKey: false, models: [] },
  { name: 'litellm', baseUrl: '', auth: 'bearer', needsKey: false, models: [] },
  { name: 'compatible', baseUrl: '', auth: 'bearer', needsKey: false, models: [] },
];
