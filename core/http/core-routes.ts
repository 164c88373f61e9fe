import Type from 'typebox';

import { byteRoute, type MaybePromise, route, type RouteDeclaration } from '../sdk/index.ts';
import { errors } from './errors.ts';

/** One part of the service and whether it can serve. */
export interface Readiness {
  readonly part: 'plugins' | 'storage' | 'disk' | 'process' | 'node';
  readonly ok: boolean;
  readonly degraded?: boolean;
  readonly detail?: string;
}

interface CorePorts {
  readonly readiness: () => MaybePromise<readonly Readiness[]>;
  /** Self metrics in the text format of Prometheus. */
  readonly metrics: () => MaybePromise<string>;
}

/**
 * Schema of probes, which ignores extra words that balancers add, such as `?verbose`: every part is
 * reported anyway.
 */
const probe = {
  method: 'GET',
  access: 'public',
  query: Type.Object({}, { additionalProperties: true }),
} as const;
const Health = Type.Object({ status: Type.Literal('ok') });
const Ready = Type.Object({
  status: Type.Literal('ready'),
  parts: Type.Array(
    Type.Object({
      part: Type.String(),
      ok: Type.Boolean(),
      state: Type.Enum(['ready', 'degraded']),
      detail: Type.Optional(Type.String()),
    }),
  ),
});

/** Returns the routes of the service itself, without any plugin. */
export function coreRoutes({ readiness, metrics }: CorePorts): readonly RouteDeclaration[] {
  return [
    route({
      ...probe,
      path: '/healthz',
      summary: 'Liveness probe',
      response: Health,
      handle: () => ({ status: 'ok' as const }),
    }),
    route({
      ...probe,
      path: '/readyz',
      summary: 'Readiness probe: plugins, storage and disk',
      response: Ready,
      errors: ['unavailable'],
      async handle() {
        const parts = await readiness();
        const unfit = parts.filter((part) => !part.ok);
        if (unfit.length > 0) {
          const details = parts
            .filter(({ ok, degraded }) => !ok || degraded)
            .map(({ part, detail = 'is not ready' }) => ({ path: `/${part}`, message: detail }));
          throw errors.not_ready(
            { parts: unfit.map((part) => part.part).join(', ') },
            { details, retryAfterSeconds: 5 },
          );
        }
        return {
          status: 'ready' as const,
          parts: parts.map(({ degraded = false, ...part }) => ({
            ...part,
            state: degraded ? ('degraded' as const) : ('ready' as const),
          })),
        };
      },
    }),
    byteRoute({
      method: 'GET',
      path: '/metrics',
      access: 'host:metrics',
      quotes: ['notify'],
      summary: 'Metrics about svc itself, in Prometheus format',
      produces: 'text/plain; version=0.0.4; charset=utf-8',
      handle: () => metrics(),
    }),
  ];
}
