import type { Dialect, Refused } from './vendor.ts';
import { sse } from './vendor.ts';

interface Part {
  readonly text?: string;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name: string };
  readonly functionResponse?: { readonly id?: string; readonly name: string };
}

interface Request {
  readonly contents: readonly { readonly role: string; readonly parts: readonly Part[] }[];
  readonly tools?: readonly object[];
  readonly systemInstruction?: object;
  readonly generationConfig?: { readonly maxOutputTokens?: number };
}

const refused = (message: string): Refused => ({
  status: 400,
  body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
});

/**
 * Google's own API. Sources: calls need the thought signature that came with them
 * (ai.google.dev/gemini-api/docs/thought-signatures; github.com/langgenius/dify-official-plugins
 * issue 2088, 18 November 2025; github.com/lbjlaq/Antigravity-Manager issue 3202, 22 June 2026):
 * of parallel calls the first has it. Responses must match the calls in number.
 */
export const gemini: Dialect = {
  provider: 'google',
  model: 'gemini-3.1-pro',
  path: '/models/gemini-3.1-pro:streamGenerateContent?alt=sse',
  caching: 'prefix',
  contentType: 'text/event-stream',
  busy: {
    status: 429,
    headers: { 'retry-after': '0' },
    body: { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } },
  },

  refusal(body, secrets, headers) {
    const { contents, generationConfig } = body as unknown as Request;
    if (headers['x-goog-api-key'] !== 'key') {
      return {
        status: 403,
        body: { error: { code: 403, message: 'API key not valid', status: 'PERMISSION_DENIED' } },
      };
    }
    if (generationConfig?.maxOutputTokens === undefined) {
      return refused('the double wants a bound');
    }
    for (const [index, { role, parts }] of contents.entries()) {
      const calls = parts.filter(({ functionCall: call }) => call !== undefined);
      const first = calls[0];
      if (first !== undefined && !secrets.has(first.thoughtSignature ?? '')) {
        return refused(
          `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall!.name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
        );
      }
      const answers = contents[index + 1]?.parts.filter(({ functionResponse: one }) => one) ?? [];
      if (role === 'model' && answers.length !== calls.length) {
        return refused(
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
        );
      }
    }
    return undefined;
  },

  segments(body) {
    const { tools = [], systemInstruction = {}, contents } = body as unknown as Request;
    return [...tools, systemInstruction, ...contents.flatMap(({ parts }) => parts)].map((part) => ({
      text: JSON.stringify(part),
    }));
  },

  frames({ thinking, text, calls = [], cut }, { input, cached, output }, secret) {
    const chunk = (parts: readonly object[], finish?: string): string =>
      sse({
        candidates: [
          {
            content: { role: 'model', parts },
            ...(finish !== undefined && { finishReason: finish }),
          },
        ],
        usageMetadata: {
          promptTokenCount: input,
          cachedContentTokenCount: cached,
          candidatesTokenCount: output,
          thoughtsTokenCount: 0,
        },
      });
    const signed = thinking === undefined ? {} : { thoughtSignature: secret };
    return [
      ...(text === undefined ? [] : [chunk([{ text }])]),
      ...(calls.length > 0
        ? [
            chunk(
              calls.map(({ name, args }, at) => ({
                functionCall: { name, args },
                ...(at === 0 && signed),
              })),
            ),
          ]
        : thinking === undefined
          ? []
          : [chunk([{ text: '', ...signed }])]),
      chunk([], cut === true ? 'MAX_TOKENS' : 'STOP'),
    ];
  },
};
