import { createHash } from 'node:crypto';

import Type from 'typebox';

import type { Registry } from '../registry/index.ts';
import { byteRoute, type MaybePromise, route, type RouteDeclaration, SvcError } from '../sdk/index.ts';
import { docsPage, docsStyle } from './docs-page.ts';
import { openApi } from './openapi.ts';

/** One part of the house and whether it can serve. */
export interface Readiness {
  readonly part: 'plugins' | 'storage' | 'disk' | 'process';
  readonly ok: boolean;
  readonly detail?: string;
}

export interface CorePorts {
  readonly registry: Registry;
  readonly version: string;
  readonly readiness: () => MaybePromise<readonly Readiness[]>;
  /** Self metrics in the text format of Prometheus. */
  readonly metrics: () => MaybePromise<string>;
}

const Health = Type.Object({ status: Type.Literal('ok') });
const Ready = Type.Object({
  status: Type.Literal('ready'),
  parts: Type.Array(Type.Object({ part: Type.String(), ok: Type.Boolean(), detail: Type.Optional(Type.String()) })),
});

/** What the house answers by itself, with no plugin installed. */
export function coreRoutes({ registry, version, readiness, metrics }: CorePorts): readonly RouteDeclaration[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      access: 'public',
      summary: 'Whether the process lives',
      response: Health,
      handle: () => ({ status: 'ok' as const }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      access: 'public',
      summary: 'Whether plugins, storage and disk are fit to serve',
      response: Ready,
      errors: ['unavailable'],
      async handle() {
        const parts = await readiness();
        const unfit = parts.filter((part) => !part.ok);
        if (unfit.length > 0) {
          const details = unfit.map(({ part, detail }) => ({ path: `/${part}`, message: detail ?? 'is not ready' }));
          throw new SvcError('unavailable', `not ready: ${unfit.map((part) => part.part).join(', ')}`, { details, retryAfterSeconds: 5 });
        }
        return { status: 'ready' as const, parts: [...parts] };
      },
    }),
    byteRoute({
      method: 'GET',
      path: '/metrics',
      access: 'host:metrics',
      summary: 'Metrics of the service itself, for Prometheus',
      produces: 'text/plain; version=0.0.4; charset=utf-8',
      handle: () => metrics(),
    }),
    byteRoute({
      method: 'GET',
      path: '/api/v1/openapi.json',
      access: 'any',
      summary: 'This API as an OpenAPI 3.1 document',
      produces: 'application/json; charset=utf-8',
      handle: () => JSON.stringify(openApi(registry.seen, version)),
    }),
    byteRoute({
      method: 'GET',
      path: '/api/docs',
      access: 'public',
      summary: 'This API as a page to read',
      produces: 'text/html; charset=utf-8',
      handle(call) {
        call.setHeader('content-security-policy', docsPolicy);
        return docsPage(openApi(registry.seen, version));
      },
    }),
  ];
}

/** The page brings its one style sheet with it and may load nothing else. */
const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(docsStyle).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
