import { anthropicMessages } from '../wire/anthropic-messages.ts';
import { chatCompletions } from '../wire/chat-completions.ts';
import type { ProviderPlan } from './http-provider.ts';

/** The vendors that svc knows, and two that are wherever the administrator has them; in the order in which one is chosen where none is named. */
export const shippedProviders: readonly ProviderPlan[] = [
  {
    ...{ name: 'anthropic', wire: anthropicMessages, baseUrl: 'https://api.anthropic.com/v1', needsKey: true },
    models: ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-5'],
  },
  {
    ...{ name: 'openai', wire: chatCompletions, baseUrl: 'https://api.openai.com/v1', needsKey: true },
    models: ['gpt-5.1', 'gpt-5-mini', 'gpt-4.1'],
  },
  {
    ...{ name: 'google', wire: chatCompletions, baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', needsKey: true },
    models: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  },
  {
    ...{ name: 'deepseek', wire: chatCompletions, baseUrl: 'https://api.deepseek.com/v1', needsKey: true },
    models: ['deepseek-chat', 'deepseek-reasoner'],
  },
  { name: 'ollama', wire: chatCompletions, baseUrl: '', needsKey: false, models: [] },
  { name: 'compatible', wire: chatCompletions, baseUrl: '', needsKey: false, models: [] },
];
