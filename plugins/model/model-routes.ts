import { ConnectionAnswer } from 'svc/connection';
import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { Budget } from './budget/budget.ts';
import { errors } from './errors.ts';
import type { ModelCatalogue } from './providers/catalogue.ts';
import type { HttpProvider } from './providers/http-provider.ts';

const Tokens = Type.Integer({ minimum: 0 });
const ModelId = Type.String({ description: '<provider>/<model>' });

const OfferedProvider = Type.Object({
  provider: Type.String(),
  configured: Type.Boolean({
    description: 'Whether the provider is configured, for example with a key',
  }),
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      context: Tokens,
      tools: Type.Boolean(),
      streaming: Type.Boolean(),
    }),
  ),
});

const OfferedModels = Type.Object({
  items: Type.Array(OfferedProvider),
  default: Type.Union([ModelId, Type.Null()], {
    description: 'Model used if none is specified; null: no model is configured',
  }),
});

const UsageToday = Type.Object({
  date: Type.String({ format: 'date', description: 'UTC' }),
  input_tokens: Tokens,
  output_tokens: Tokens,
  total_tokens: Tokens,
  cached_tokens: Type.Integer({
    minimum: 0,
    description: 'Input tokens that the provider served from its cache',
  }),
  estimated_tokens: Type.Integer({
    minimum: 0,
    description:
      'Part of the total that is estimated because the provider did not count it: replies that were cut off',
  }),
  reserved_tokens: Type.Integer({
    minimum: 0,
    description:
      'Maximum number of tokens that calls in progress may use; not included in the total',
  }),
  requests: Tokens,
  limit: Type.Integer({ minimum: 0, description: '0: no limit' }),
  remaining: Type.Union([Tokens, Type.Null()], { description: 'null: no limit' }),
  resets_at: Type.String({ format: 'date-time' }),
  by_model: Type.Array(
    Type.Object({
      model: ModelId,
      input_tokens: Tokens,
      output_tokens: Tokens,
      total_tokens: Tokens,
      cached_tokens: Tokens,
      estimated_tokens: Tokens,
      requests: Tokens,
    }),
  ),
});

const Invalidated = Type.Object({
  invalidated: Type.Array(Type.String(), {
    description: 'Providers whose model lists will be fetched again',
  }),
});

const Trial = Type.Object({
  provider: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Default: the provider of the current model',
    }),
  ),
  url: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'Address to test instead of the current one; the stored key is not sent to it',
    }),
  ),
  token: Type.Optional(Type.String({ maxLength: 4_000, description: 'API key for that address' })),
});

export interface ModelRouteParts {
  readonly catalogue: ModelCatalogue;
  readonly budget: Budget;
  /** Resolves with the names of those that forgot. */
  readonly invalidate: () => readonly string[];
  readonly providers: readonly HttpProvider[];
}

export const modelRoutes = ({
  catalogue,
  budget,
  invalidate,
  providers,
}: ModelRouteParts): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: '/api/v1/aiops/models',
    access: 'any',
    devices: 'none',
    summary: 'List model providers, whether they are configured, and their models',
    response: OfferedModels,
    handle: () => ({
      items: catalogue.providers.map((provider) => ({
        provider: provider.name,
        configured: provider.configured(),
        models: provider.configured() ? [...provider.models()] : [],
      })),
      default: catalogue.standard || null,
    }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/usage/today',
    access: 'any',
    devices: 'none',
    summary: 'Get the token usage of the current UTC day and the remaining budget',
    response: UsageToday,
    handle: () => budget.usageToday(),
  }),
  route({
    method: 'POST',
    path: '/api/v1/integrations/llm/invalidate',
    access: 'admin',
    summary: 'Refresh the model lists of providers',
    description:
      'Keys and addresses are read on every call; model lists are cached for ten minutes.',
    response: Invalidated,
    status: 200,
    action: 'llm:invalidate',
    handle: () => ({ invalidated: [...invalidate()] }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/integrations/llm/test',
    access: 'admin',
    summary: 'Test the connection to a model provider, with the saved or the given settings',
    description:
      "Fetches the provider's model list, which costs nothing. If the provider fails, the response has ok: false rather than an error status.",
    body: Trial,
    response: ConnectionAnswer,
    status: 200,
    action: 'llm:test',
    async handle({ body: { provider: named, url = '', token = '' }, signal }) {
      const name = named ?? (catalogue.standard.split('/', 1)[0] || 'openai');
      const provider = providers.find((candidate) => candidate.name === name);
      if (provider === undefined || (url === '' && token !== '')) {
        const [path, message] =
          provider === undefined
            ? ['/provider', `is one of ${providers.map((candidate) => candidate.name).join(', ')}`]
            : ['/url', 'is needed with token: the address that the token belongs to'];
        throw errors.request({ path: path.slice(1), message }, { details: [{ path, message }] });
      }
      return { ...(await provider.test(url === '' ? undefined : { url, key: token }, signal)) };
    },
  }),
];
