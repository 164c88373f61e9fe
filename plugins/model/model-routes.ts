import { route, type RouteDeclaration } from 'svc/sdk';

import type { Budget } from './budget/budget.ts';
import type { ModelCatalogue } from './providers/catalogue.ts';
import { Invalidated, OfferedModels, UsageToday } from './schema.ts';

export interface ModelRouteParts {
  readonly catalogue: ModelCatalogue;
  readonly budget: Budget;
  /** Resolves with the names of those that forgot. */
  readonly invalidate: () => readonly string[];
}

export const modelRoutes = ({ catalogue, budget, invalidate }: ModelRouteParts): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: '/api/v1/aiops/models',
    access: 'any',
    summary: 'Providers of models, whether they are set up, and what they offer',
    response: OfferedModels,
    handle: () => ({
      items: catalogue.providers.map((provider) => ({
        ...{ provider: provider.name, configured: provider.configured() },
        models: provider.configured() ? [...provider.models()] : [],
      })),
      default: catalogue.standard || null,
    }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/usage/today',
    access: 'any',
    summary: 'Tokens used on the current UTC day, and what is left of its budget',
    response: UsageToday,
    handle: () => budget.usageToday(),
  }),
  route({
    method: 'POST',
    path: '/api/v1/integrations/llm/invalidate',
    access: 'admin',
    summary: 'Forget what was learned of the providers, and ask them again',
    description: 'Keys and addresses are read at every call; this is for the lists of models, which are kept for ten minutes.',
    response: Invalidated,
    status: 200,
    action: 'llm:invalidate',
    handle: () => ({ invalidated: [...invalidate()] }),
  }),
];
