import { listRoute, pageOfList, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { PackService } from './install/pack-service.ts';
import { installRoutes } from './install-routes.ts';
import { installMs, PackAnswers, PackParams } from './pack-answers.ts';
import {
  AdmittedShape,
  CeilingShape,
  HistoryShape,
  InstalledDetail,
  InstalledShape,
  PackBody,
  PackId,
} from './shapes.ts';
import { shownHistory } from './shown.ts';

export const packRoutes = (packService: PackService): readonly RouteDeclaration[] => {
  const answers = new PackAnswers(packService);
  return [
    ...listedRoutes(packService, answers),
    ...installRoutes(packService, answers),
    haveRoute(packService, answers),
    ...switchRoutes(packService, answers),
    ...boundsRoutes(packService, answers),
    uninstallRoute(packService),
    ...historyRoutes(packService),
  ];
};

const listedRoutes = (
  packService: PackService,
  answers: PackAnswers,
): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/marketplace/installed',
    access: 'any',
    devices: 'none',
    summary: 'List installed packs',
    items: InstalledShape,
    handle: ({ page, principal }) =>
      pageOfList(
        packService.list().map((pack) => answers.pack(pack, principal)),
        ({ pack_id: id }) => id,
        page,
      ),
  }),
  route({
    method: 'GET',
    path: '/api/v1/marketplace/installed/{pack_id}',
    access: 'any',
    devices: 'none',
    summary: 'Get an installed pack with the sha256 of every file',
    params: PackParams,
    response: InstalledDetail,
    errors: ['not_found'],
    handle({ params, principal }) {
      const pack = packService.existing(params.pack_id);
      return answers.detail(pack, principal);
    },
  }),
];

const haveRoute = (packService: PackService, answers: PackAnswers): RouteDeclaration =>
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/installed/{pack_id}',
    access: 'admin',
    summary: 'Apply a pack from a configuration file: content, source and ceiling',
    description:
      'The content_hash identifies the accepted content: other content is refused, and this content needs no confirmation.',
    params: PackParams,
    body: PackBody,
    response: InstalledShape,
    status: 200,
    timeoutMs: installMs,
    errors: ['not_found', 'conflict', 'upstream_error', 'forbidden'],
    async handle({ params, body, principal, note, signal }) {
      const {
        source: origin,
        content_hash: contentHash,
        admitted,
        version,
        sha256,
        ceiling,
        reason,
      } = body;
      note({
        resourceType: 'pack',
        resourceId: params.pack_id,
        after: { version, content_hash: contentHash, ceiling, admitted },
      });
      const wish = {
        origin,
        contentHash,
        version,
        sha256,
        ceiling,
        reason,
        admitted: { personas: admitted.personas, servers: admitted.mcp_servers },
      };
      return answers.pack(
        await packService.have(params.pack_id, wish, principal, signal),
        principal,
      );
    },
  });

const switchRoutes = (
  packService: PackService,
  answers: PackAnswers,
): readonly RouteDeclaration[] =>
  (['rollback', 'enable', 'disable'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/api/v1/marketplace/installed/{pack_id}/${verb}`,
      access: 'marketplace:manage',
      brief: ['pack_id'],
      summary: {
        rollback: 'Roll back a pack to the previous version',
        enable: 'Re-enable a pack',
        disable: 'Disable a pack',
      }[verb],
      params: PackParams,
      response: InstalledShape,
      status: 200,
      timeoutMs: installMs,
      errors: ['not_found', 'conflict'],
      async handle({ params, principal, note }) {
        const before = packService.existing(params.pack_id).lock.version;
        const pack = await packService[verb](params.pack_id, principal);
        note({
          resourceType: 'pack',
          resourceId: params.pack_id,
          before: { version: before },
          after: { version: pack.lock.version },
        });
        return answers.pack(pack, principal);
      },
    }),
  );

/** Routes of what a pack may do, and of what is let in of it. */
const boundsRoutes = (
  packService: PackService,
  answers: PackAnswers,
): readonly RouteDeclaration[] => [
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/installed/{pack_id}/ceiling',
    access: 'admin',
    summary:
      'Set the ceiling of a pack: classes, tools, hosts and device labels; omitted fields stay unchanged',
    params: PackParams,
    body: Type.Partial(CeilingShape),
    response: InstalledShape,
    errors: ['not_found', 'conflict'],
    async handle({ params, body, principal, note }) {
      const { ceiling: before } = packService.existing(params.pack_id);
      const ceiling = { ...before, ...body };
      note({ resourceType: 'pack', resourceId: params.pack_id, before, after: ceiling });
      return answers.pack(await packService.setCeiling(params.pack_id, ceiling), principal);
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/installed/{pack_id}/admitted',
    access: 'admin',
    summary: 'Allow personas and MCP servers of a pack',
    params: PackParams,
    body: Type.Partial(AdmittedShape),
    response: InstalledShape,
    errors: ['not_found'],
    async handle({ params, body, principal, note }) {
      const { admitted: before } = packService.existing(params.pack_id);
      note({ resourceType: 'pack', resourceId: params.pack_id, before, after: body });
      return answers.pack(
        await packService.admit(params.pack_id, {
          personas: body.personas ?? before.personas,
          servers: body.mcp_servers ?? before.servers,
        }),
        principal,
      );
    },
  }),
];

const uninstallRoute = (packService: PackService): RouteDeclaration =>
  route({
    method: 'DELETE',
    path: '/api/v1/marketplace/installed/{pack_id}',
    access: 'marketplace:uninstall',
    summary: 'Uninstall a pack and delete all its data; its history is kept',
    params: PackParams,
    query: Type.Object({
      keep_data: Type.Optional(
        Type.Boolean({
          description: "Keep the tables that the pack's code created, for a later install",
        }),
      ),
    }),
    timeoutMs: installMs,
    errors: ['not_found', 'conflict'],
    async handle({ params, query, principal, note }) {
      const { lock } = packService.existing(params.pack_id);
      note({
        resourceType: 'pack',
        resourceId: params.pack_id,
        before: { version: lock.version, content_hash: lock.content_hash },
      });
      await packService.uninstall(params.pack_id, query.keep_data ?? false, principal);
    },
  });

const historyRoutes = (packService: PackService): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/marketplace/history',
    access: 'marketplace:read',
    summary: 'List installs, updates and removals, newest first',
    query: Type.Object({ pack_id: Type.Optional(PackId) }),
    items: HistoryShape,
    async handle({ query, page }) {
      const { items, ...rest } = await packService.history(query.pack_id, page);
      return { ...rest, items: items.map(shownHistory) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/marketplace/history/{pack_id}',
    access: 'admin',
    summary:
      'Delete the remaining data of an uninstalled pack: its history and the data that was kept',
    params: PackParams,
    errors: ['not_found', 'conflict'],
    async handle({ params, note }) {
      note({ resourceType: 'pack', resourceId: params.pack_id });
      await packService.purge(params.pack_id);
    },
  }),
];
