import {
  byteRoute,
  type Call,
  listRoute,
  pageOfList,
  type Principal,
  route,
  type RouteDeclaration,
  SvcError,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { limits } from './archive/entry-list.ts';
import type { Outcome } from './install/installer.ts';
import type { PackBook } from './install/pack-book.ts';
import { packIn } from './archive/arrived.ts';
import { errors } from './errors.ts';
import {
  AdmittedShape,
  CeilingShape,
  Confirm,
  HistoryShape,
  InstallAnswer,
  InstalledDetail,
  InstalledShape,
  PackBody,
  PackId,
  Path,
  PreviewShape,
  Reason,
  WantedInstall,
  WantedPack,
} from './shapes.ts';
import {
  problemsOf,
  shownDetail,
  shownHistory,
  shownPack,
  shownPreview,
  type Standing,
} from './shown.ts';
import type { Installed } from './install/lock.ts';

const Params = Type.Object({ pack_id: PackId });
const installMs = 300_000;

/** A folder of the machine may hold anything: only who may do everything has it read. */
function forAdministrators(principal: Principal, folder: string | undefined): void {
  if (folder !== undefined && !principal.grants.includes('*')) {
    throw errors.folder_for_administrators();
  }
}

export const packRoutes = (book: PackBook): readonly RouteDeclaration[] => {
  const shown: Show = (pack, principal) => shownPack(pack, standingOf(book, pack, principal));
  const answer: Answer = ({ note, principal }, outcome) => {
    const { preview } = outcome;
    const { id, version, verdict, content_hash: hash, rights } = preview.lock;
    note({
      resourceType: 'pack',
      resourceId: id,
      after: { version, verdict, content_hash: hash, rights },
    });
    if (outcome.pack === undefined) {
      throw new SvcError('conflict', outcome.message, {
        reason: 'marketplace.confirm',
        details: problemsOf(preview),
      });
    }
    return { ...shown(outcome.pack, principal), warnings: [...preview.warnings] };
  };
  return [
    ...listedRoutes(book, shown),
    route({
      method: 'POST',
      path: '/api/v1/marketplace/preview',
      access: 'marketplace:install',
      summary: 'Show what a pack is and wants, and install nothing',
      body: WantedPack,
      response: PreviewShape,
      status: 200,
      timeoutMs: installMs,
      errors: ['not_found', 'conflict', 'upstream_error'],
      async handle({ body, principal, signal }) {
        forAdministrators(principal, body.folder);
        return shownPreview(await book.preview(body, signal));
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/marketplace/install',
      access: 'marketplace:install',
      summary: 'Install a pack; 409 with a preview where it has to be confirmed',
      body: WantedInstall,
      response: InstallAnswer,
      status: 201,
      timeoutMs: installMs,
      errors: ['not_found', 'conflict', 'upstream_error', 'forbidden'],
      async handle(call) {
        const { confirm, reason, ...wanted } = call.body;
        forAdministrators(call.principal, wanted.folder);
        return answer(
          call,
          await book.install(wanted, { by: call.principal, confirm, reason }, call.signal),
        );
      },
    }),
    byteRoute({
      method: 'POST',
      path: '/api/v1/marketplace/upload',
      access: 'marketplace:install',
      summary: 'Install the archive that is sent: zip or tar.gz, alone or as the file of a form',
      query: Type.Object({
        confirm: Type.Optional(Confirm),
        reason: Type.Optional(Reason),
        path: Type.Optional(Path),
      }),
      consumes: [
        'application/zip',
        'application/gzip',
        'application/octet-stream',
        'multipart/form-data',
      ],
      produces: 'application/json; charset=utf-8',
      maxBodyBytes: limits.packedBytes,
      status: 201,
      timeoutMs: installMs,
      errors: ['conflict', 'forbidden'],
      async handle(call) {
        const { confirm, reason, path = '' } = call.query;
        const bytes = packIn(Buffer.from(call.body), call.headers['content-type'] ?? '');
        return JSON.stringify(
          answer(call, await book.upload(bytes, path, { by: call.principal, confirm, reason })),
        );
      },
    }),
    ...againRoutes(book, answer, shown),
    ...stateRoutes(book, shown),
    ...historyRoutes(book),
  ];
};

/** Where things lie on the machine is for those who may do everything. */
const standingOf = (book: PackBook, { packId }: Installed, { grants }: Principal): Standing => ({
  status: book.statusOf(packId),
  trouble: book.troubleOf(packId),
  isForAdministrators: grants.includes('*'),
});

type Show = (pack: Installed, principal: Principal) => Static<typeof InstalledShape>;

const listedRoutes = (book: PackBook, shown: Show): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/marketplace/installed',
    access: 'any',
    devices: 'none',
    summary: 'List installed packs',
    items: InstalledShape,
    handle: ({ page, principal }) =>
      pageOfList(
        book.list().map((pack) => shown(pack, principal)),
        ({ pack_id: id }) => id,
        page,
      ),
  }),
  route({
    method: 'GET',
    path: '/api/v1/marketplace/installed/{pack_id}',
    access: 'any',
    devices: 'none',
    summary: 'An installed pack with every file and its sha256',
    params: Params,
    response: InstalledDetail,
    errors: ['not_found'],
    handle({ params, principal }) {
      const pack = book.existing(params.pack_id);
      return shownDetail(pack, standingOf(book, pack, principal));
    },
  }),
];

type Answer = (
  call: Pick<Call, 'note' | 'principal'>,
  outcome: Outcome,
) => Static<typeof InstallAnswer>;

/** From where a pack came before, or will come again. */
const againRoutes = (book: PackBook, answer: Answer, shown: Show): readonly RouteDeclaration[] => [
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/installed/{pack_id}',
    access: 'admin',
    summary: 'Have a pack as a file names it: this content from this source, with this ceiling',
    description:
      'The content_hash stands for what was agreed to: other content is refused, and this one is not asked about again.',
    params: Params,
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
      return shown(await book.have(params.pack_id, wish, principal, signal), principal);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/marketplace/installed/{pack_id}/update',
    access: 'marketplace:install',
    summary: 'Install the newest version from where the pack came from',
    params: Params,
    body: Type.Object({
      version: Type.Optional(Type.String({ maxLength: 60 })),
      confirm: Type.Optional(Confirm),
      reason: Type.Optional(Reason),
    }),
    response: InstallAnswer,
    status: 200,
    timeoutMs: installMs,
    errors: ['not_found', 'conflict', 'upstream_error', 'forbidden'],
    async handle(call) {
      const { version, confirm, reason } = call.body;
      forAdministrators(
        call.principal,
        book.existing(call.params.pack_id).lock.origin.kind === 'folder' ? 'folder' : undefined,
      );
      return answer(
        call,
        await book.update(
          call.params.pack_id,
          version,
          { by: call.principal, confirm, reason },
          call.signal,
        ),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/marketplace/links',
    access: 'admin',
    summary: 'Install a folder of the machine of svc and follow it while its author works on it',
    body: Type.Object({
      folder: Type.String({ pattern: '^/', maxLength: 1_000, examples: ['/srv/packs/mine'] }),
      confirm: Type.Optional(Confirm),
      reason: Type.Optional(Reason),
    }),
    response: InstallAnswer,
    status: 201,
    timeoutMs: installMs,
    errors: ['conflict'],
    async handle(call) {
      const { folder, confirm, reason } = call.body;
      return answer(
        call,
        await book.link(folder, { by: call.principal, confirm, reason }, call.signal),
      );
    },
  }),
];

const stateRoutes = (book: PackBook, shown: Show): readonly RouteDeclaration[] => [
  ...(['rollback', 'enable', 'disable'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/api/v1/marketplace/installed/{pack_id}/${verb}`,
      access: 'marketplace:manage',
      summary: {
        rollback: 'Go back to the version before',
        enable: 'Switch a pack on again',
        disable: 'Switch a pack off; nothing of it serves',
      }[verb],
      params: Params,
      response: InstalledShape,
      status: 200,
      timeoutMs: installMs,
      errors: ['not_found', 'conflict'],
      async handle({ params, principal, note }) {
        const before = book.existing(params.pack_id).lock.version;
        const pack = await book[verb](params.pack_id, principal);
        note({
          resourceType: 'pack',
          resourceId: params.pack_id,
          before: { version: before },
          after: { version: pack.lock.version },
        });
        return shown(pack, principal);
      },
    }),
  ),
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/installed/{pack_id}/ceiling',
    access: 'admin',
    summary:
      'Set the most that a pack may do: classes, tools, hosts, devices by label; what is left out stays',
    params: Params,
    body: Type.Partial(CeilingShape),
    response: InstalledShape,
    errors: ['not_found', 'conflict'],
    async handle({ params, body, principal, note }) {
      const { ceiling: before } = book.existing(params.pack_id);
      const ceiling = { ...before, ...body };
      note({ resourceType: 'pack', resourceId: params.pack_id, before, after: ceiling });
      return shown(await book.setCeiling(params.pack_id, ceiling), principal);
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/installed/{pack_id}/admitted',
    access: 'admin',
    summary:
      'Say which personas of a pack may be chosen by themselves, and which of its MCP servers are asked',
    params: Params,
    body: Type.Partial(AdmittedShape),
    response: InstalledShape,
    errors: ['not_found'],
    async handle({ params, body, principal, note }) {
      const { admitted: before } = book.existing(params.pack_id);
      note({ resourceType: 'pack', resourceId: params.pack_id, before, after: body });
      return shown(
        await book.admit(params.pack_id, {
          personas: body.personas ?? before.personas,
          servers: body.mcp_servers ?? before.servers,
        }),
        principal,
      );
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/marketplace/installed/{pack_id}',
    access: 'marketplace:uninstall',
    summary: 'Uninstall a pack with all that it has; its history stays',
    params: Params,
    query: Type.Object({
      keep_data: Type.Optional(
        Type.Boolean({ description: 'keep the tables of its code for a later install' }),
      ),
    }),
    timeoutMs: installMs,
    errors: ['not_found', 'conflict'],
    async handle({ params, query, principal, note }) {
      const { lock } = book.existing(params.pack_id);
      note({
        resourceType: 'pack',
        resourceId: params.pack_id,
        before: { version: lock.version, content_hash: lock.content_hash },
      });
      await book.uninstall(params.pack_id, query.keep_data ?? false, principal);
    },
  }),
];

const historyRoutes = (book: PackBook): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/marketplace/history',
    access: 'marketplace:read',
    summary: 'What was installed, updated and taken away, newest first',
    query: Type.Object({ pack_id: Type.Optional(PackId) }),
    items: HistoryShape,
    async handle({ query, page }) {
      const { items, ...rest } = await book.history(query.pack_id, page);
      return { ...rest, items: items.map(shownHistory) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/marketplace/history/{pack_id}',
    access: 'admin',
    summary: 'Purge what is left of a pack that is not installed: its history and kept data',
    params: Params,
    errors: ['not_found', 'conflict'],
    async handle({ params, note }) {
      note({ resourceType: 'pack', resourceId: params.pack_id });
      await book.purge(params.pack_id);
    },
  }),
];
