import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { ModelDoctor } from './doctor.ts';
import type { Translator } from './translate/translator.ts';

const Dialect = Type.Union([
  Type.Literal('promql'),
  Type.Literal('logql'),
  Type.Literal('traceql'),
]);
const Check = Type.String({
  description: 'answers, streams, counts, tools, parallel, results or window',
});

/** Routes that ask a model themselves, or do without. */
export const askingRoutes = (
  translator: Translator,
  doctor: ModelDoctor,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/aiops/query-translate',
    access: 'any',
    devices: 'narrowed',
    summary: 'Write a query for metrics, logs or traces from a plain-language request',
    description:
      "Every query is checked with its language's parser before it is returned. Without a model, queries come from a library of patterns.",
    body: Type.Object({
      dialect: Dialect,
      prompt: Type.String({ minLength: 1, maxLength: 4_000 }),
      context: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Context for the request, such as names or an earlier query',
        }),
      ),
    }),
    response: Type.Object({
      query: Type.String(),
      explanation: Type.String({ description: 'What the query returns, or why it is invalid' }),
      dialect: Dialect,
      valid: Type.Boolean(),
    }),
    status: 200,
    audited: false,
    timeoutMs: 120_000,
    errors: ['conflict', 'budget_exceeded', 'upstream_error'],
    handle: ({ body, principal, signal }) => translator.translate({ ...body, principal }, signal),
  }),
  route({
    method: 'POST',
    path: '/api/v1/integrations/llm/doctor',
    access: 'admin',
    summary: 'Test what a model can do',
    description:
      'Makes about five calls, one of them with 12,000 tokens; the provider charges for them.',
    body: Type.Object({
      model: Type.Optional(
        Type.String({
          maxLength: 200,
          description: '<provider>/<model>. Default: the current model',
        }),
      ),
    }),
    response: Type.Object({
      model: Type.String(),
      context: Type.Integer({ description: 'Context window that svc assumes, in tokens' }),
      ok: Type.Boolean({ description: 'Whether agents can work with the model' }),
      verdict: Type.String({ description: 'Whether agents can work with the model, in words' }),
      summary: Type.String(),
      report: Type.Array(Type.String(), { description: 'Each finding as a line' }),
      findings: Type.Array(
        Type.Object({ check: Check, ok: Type.Boolean(), detail: Type.String() }),
      ),
    }),
    status: 200,
    timeoutMs: 600_000,
    action: 'llm:doctor',
    async handle({ body, signal }) {
      const { findings, ...rest } = await doctor.examine(body.model ?? '', signal);
      const report = findings.map(({ ok, detail }) => `${ok ? 'ok    ' : 'not ok'}  ${detail}`);
      return { ...rest, report, findings: [...findings] };
    },
  }),
];
