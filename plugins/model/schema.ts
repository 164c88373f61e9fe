import { Type } from 'typebox';

const Tokens = Type.Integer({ minimum: 0 });
const ModelId = Type.String({ description: '<provider>/<model>' });

export const OfferedProvider = Type.Object({
  provider: Type.String(),
  configured: Type.Boolean({ description: 'whether it has what it needs, such as a key' }),
  models: Type.Array(Type.Object({ id: Type.String(), context: Tokens, tools: Type.Boolean(), streaming: Type.Boolean() })),
});

export const OfferedModels = Type.Object({
  items: Type.Array(OfferedProvider),
  default: Type.Union([ModelId, Type.Null()], { description: 'the model that is asked where none is named; null: no model is set up' }),
});

export const UsageToday = Type.Object({
  date: Type.String({ format: 'date', description: 'UTC' }),
  input_tokens: Tokens,
  output_tokens: Tokens,
  total_tokens: Tokens,
  cached_tokens: Type.Integer({ minimum: 0, description: 'of the input, what the provider had kept' }),
  estimated_tokens: Type.Integer({ minimum: 0, description: 'of the total, what was not counted by a provider: answers that were cut off' }),
  reserved_tokens: Type.Integer({ minimum: 0, description: 'what calls under way may cost at most, besides the total' }),
  requests: Tokens,
  limit: Type.Integer({ minimum: 0, description: '0: no limit' }),
  remaining: Type.Union([Tokens, Type.Null()], { description: 'null: no limit' }),
  resets_at: Type.String({ format: 'date-time' }),
  by_model: Type.Array(Type.Object({ model: ModelId, input_tokens: Tokens, output_tokens: Tokens, total_tokens: Tokens, requests: Tokens })),
});

export const Invalidated = Type.Object({ invalidated: Type.Array(Type.String(), { description: 'providers that are asked anew for their models' }) });
