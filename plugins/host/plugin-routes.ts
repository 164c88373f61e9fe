import {
  listRoute,
  pageOfList,
  type PluginDirectory,
  type PluginStatus,
  route,
  type RouteDeclaration,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { DisableOptions, PluginDetail, PluginId, PluginSummary } from './schema.ts';

export const pluginRoutes = (
  plugins: PluginDirectory,
  ownId: string,
): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/plugins',
    access: 'any',
    devices: 'none',
    summary: 'List plugins with their state',
    items: PluginSummary,
    handle: ({ page }) => pageOfList(plugins.list().map(summary), (item) => item.id, page),
  }),
  route({
    method: 'GET',
    path: '/api/v1/plugins/{id}',
    access: 'any',
    devices: 'none',
    summary: 'Get a plugin: state, cause, effects, dependents, timings',
    params: PluginId,
    response: PluginDetail,
    errors: ['not_found'],
    handle: ({ params }) => detail(plugins.explain(params.id)),
  }),
  ...(['reload', 'enable'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/api/v1/plugins/{id}/${verb}`,
      access: 'admin',
      summary: verb === 'reload' ? 'Reload a plugin' : 'Enable a disabled or quarantined plugin',
      params: PluginId,
      response: PluginDetail,
      status: 200,
      timeoutMs: 150_000,
      errors: ['not_found', 'conflict'],
      handle: async ({ params }) => {
        await plugins[verb](params.id);
        return detail(plugins.explain(params.id));
      },
    }),
  ),
  route({
    method: 'POST',
    path: '/api/v1/plugins/{id}/disable',
    access: 'admin',
    summary: 'Disable a plugin',
    params: PluginId,
    query: DisableOptions,
    response: PluginDetail,
    status: 200,
    timeoutMs: 150_000,
    errors: ['not_found', 'conflict'],
    handle: async ({ params, query }) => {
      if (params.id === ownId) {
        throw errors.own_plugin({ plugin: ownId });
      }
      await plugins.disable(params.id, { cascade: query.cascade === true });
      return detail(plugins.explain(params.id));
    },
  }),
];

const summary = (status: PluginStatus): Static<typeof PluginSummary> => ({
  id: status.id,
  title: status.title ?? status.id,
  version: status.version ?? null,
  kind: status.kind ?? null,
  state: status.state,
  cause: status.cause ?? failedChange(status) ?? null,
  since: timestamp(status.since),
  generation: status.generation ?? null,
});

/** Describes a failed reload, during which the previous generation keeps running. */
const failedChange = ({ lastAttempt, generation }: PluginStatus): string | undefined =>
  lastAttempt && !lastAttempt.ok
    ? `the last change failed in ${lastAttempt.stage}: ${lastAttempt.cause}; generation ${generation} keeps running`
    : undefined;

const detail = (status: PluginStatus): Static<typeof PluginDetail> => ({
  ...summary(status),
  description: status.description ?? '',
  requires: [...status.requires],
  provides: [...status.provides],
  dependents: [...status.dependents],
  last_attempt: status.lastAttempt
    ? {
        at: timestamp(status.lastAttempt.at),
        generation: status.lastAttempt.generation,
        ok: status.lastAttempt.ok,
        stage: status.lastAttempt.stage ?? null,
        cause: status.lastAttempt.cause ?? null,
        timings_ms: { ...status.lastAttempt.timings },
      }
    : null,
  effects: status.effects ?? null,
  draining: [...status.draining],
  residue: status.residue ?? null,
  strikes: status.strikes.map(({ at, label, cause }) => ({
    at: timestamp(at),
    where: label,
    cause,
  })),
});
