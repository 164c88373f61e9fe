import {
  listRoute,
  pageOfList,
  type Principal,
  route,
  type RouteDeclaration,
  type Tables,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { foldersOf, nameOf } from './doc-path.ts';
import { DocStore } from './doc-store.ts';
import { errors } from './errors.ts';
import { existing, type Library } from './library.ts';
import {
  DocDetail,
  DocDraft,
  DocEdit,
  DocId,
  DocItem,
  DocQuery,
  FolderItem,
  FolderMove,
  FolderMoved,
  maxLetters,
  Move,
  PathQuery,
  shownDoc,
  shownVersion,
  shownWhole,
  VersionDetail,
  VersionId,
  VersionItem,
} from './schema.ts';
import type { KnowledgeTables } from './tables.ts';

const docs = '/api/v1/knowledge/docs';

/** Max size of a body: a document of max size, with each letter written as six. */
const maxBody = 6 * maxLetters + 64 * 1024;

export const docRoutes = (
  library: Library,
  tables: Tables<KnowledgeTables>,
  opened: (principal: Principal, doc: number) => void,
): readonly RouteDeclaration[] => [
  ...readRoutes(new DocStore(tables.read), opened),
  route({
    method: 'POST',
    path: docs,
    access: 'knowledge:create',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Create a document',
    body: DocDraft,
    maxBodyBytes: maxBody,
    response: DocDetail,
    errors: ['conflict', 'not_found'],
    handle: async (call) => shownWhole(await library.create(call, call.body)),
  }),
  route({
    method: 'PATCH',
    path: `${docs}/{id}`,
    ifMatch: true,
    access: 'knowledge:update',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Update the content, title or tags of a document; omitted fields stay unchanged',
    params: DocId,
    body: DocEdit,
    maxBodyBytes: maxBody,
    response: DocDetail,
    errors: ['conflict', 'not_found'],
    handle: async (call) => shownWhole(await library.edit(call, call.params.id, call.body)),
  }),
  route({
    method: 'PATCH',
    path: `${docs}/{id}/move`,
    ifMatch: true,
    access: 'knowledge:update',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Move a document to another path',
    params: DocId,
    body: Move,
    response: DocItem,
    errors: ['conflict', 'not_found'],
    handle: async (call) => shownDoc(await library.move(call, call.params.id, call.body.path)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/knowledge/paths/move',
    access: 'knowledge:update',
    devices: 'narrowed',
    reads: 'none',
    summary: 'Move or rename a folder and everything in it',
    body: FolderMove,
    response: FolderMoved,
    status: 200,
    errors: ['conflict', 'not_found'],
    async handle(call) {
      const { from, to } = call.body;
      return { from, to, documents: await library.moveFolder(call, from, to) };
    },
  }),
  route({
    method: 'DELETE',
    path: `${docs}/{id}`,
    ifMatch: true,
    access: 'knowledge:delete',
    devices: 'narrowed',
    summary: 'Delete a document and all its versions',
    params: DocId,
    errors: ['conflict', 'not_found'],
    handle: (call) => library.remove(call, call.params.id),
  }),
];

const readRoutes = (
  store: DocStore,
  opened: (principal: Principal, doc: number) => void,
): readonly RouteDeclaration[] => [
  ...versionRoutes(store),
  listRoute({
    path: docs,
    access: 'any',
    devices: 'narrowed',
    summary: 'List documents by path',
    query: DocQuery,
    items: DocItem,
    async handle({ query, page, principal }) {
      const { items, ...rest } = await store.list(principal, query, page);
      return { ...rest, items: items.map(shownDoc) };
    },
  }),
  route({
    method: 'GET',
    path: `${docs}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a document with its content',
    params: DocId,
    response: DocDetail,
    errors: ['not_found'],
    async handle({ params, principal }) {
      const doc = await existing(store, params.id, principal);
      opened(principal, doc.id);
      return shownWhole(doc);
    },
  }),
  listRoute({
    path: '/api/v1/knowledge/paths',
    access: 'any',
    devices: 'narrowed',
    summary: 'List the folders',
    query: PathQuery,
    items: FolderItem,
    async handle({ query, page, principal }) {
      const folders = foldersAbove(await store.paths(principal));
      return pageOfList(
        folders.filter(
          ({ path }) =>
            query.path_prefix === undefined ||
            path.startsWith(`${query.path_prefix.replace(/\/+$/, '')}/`),
        ),
        ({ path }) => path,
        page,
      );
    },
  }),
];

const versionRoutes = (store: DocStore): readonly RouteDeclaration[] => [
  listRoute({
    path: `${docs}/{id}/versions`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the versions of a document, newest first',
    params: DocId,
    items: VersionItem,
    errors: ['not_found'],
    async handle({ params, page, principal }) {
      await existing(store, params.id, principal);
      const { items, ...rest } = await store.versions(params.id, page);
      return { ...rest, items: items.map(shownVersion) };
    },
  }),
  route({
    method: 'GET',
    path: `${docs}/{id}/versions/{version}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a version of a document',
    params: VersionId,
    response: VersionDetail,
    errors: ['not_found'],
    async handle({ params: { id, version }, principal }) {
      await existing(store, id, principal);
      const row = await store.version(id, version);
      if (!row) {
        throw errors.no_version({ version, id, docs });
      }
      return { ...shownVersion(row), content: row.content };
    },
  }),
];

/** Every folder of these paths, and how much is in it. */
function foldersAbove(paths: readonly string[]): Static<typeof FolderItem>[] {
  const folders = new Map<string, Static<typeof FolderItem>>();
  for (const path of paths) {
    const above = foldersOf(path);
    above.forEach((folder, index) => {
      const known = folders.get(folder) ?? {
        path: folder,
        name: nameOf(folder),
        parent: above[index - 1] ?? '',
        documents: 0,
        total: 0,
      };
      known.total += 1;
      known.documents += index === above.length - 1 ? 1 : 0;
      folders.set(folder, known);
    });
  }
  return [...folders.values()];
}
