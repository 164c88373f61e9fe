import { listRoute, route, type RouteDeclaration } from 'svc/sdk';
import { type TSchema, Type } from 'typebox';

import type { Repositories } from './repositories.ts';
import { troubles } from './sync-trouble.ts';

const path = '/api/v1/knowledge/repos';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Instant = Type.String({ format: 'date-time' });
const RepoId = Type.Object({ id: Id });
/** Branch names as in `git check-ref-format --branch`, but stricter. */
const Branch = Type.String({
  maxLength: 200,
  pattern:
    '^(?!.*(\\.\\.|//|/\\.|\\.lock(/|$)|@\\{))[A-Za-z0-9_]([A-Za-z0-9._/@+=-]*[A-Za-z0-9_@+=-])?$',
  examples: ['main'],
  description: 'Default: the default branch on the server',
});

const Seconds = Type.Integer({ minimum: 60, maximum: 2_592_000 });

const Kind = Type.Enum(['git', 'website'], {
  description:
    'website: the pages on the same host that its sitemap lists and its robots.txt allows',
});

const Draft = Type.Object({
  kind: Type.Optional(Kind),
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      'https://…, ssh://… or git@host:path; for a website: its address or that of its sitemap',
    examples: ['https://example.org/runbooks.git'],
  }),
  branch: Type.Optional(Branch),
  path_prefix: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 400,
      description: 'Only this folder of the repository. Default: all of it',
    }),
  ),
  mount: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "Folder for the repository's documents. Default: repos/ followed by the repository's name",
    }),
  ),
  org_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only members of this organization may read the documents. Default: everyone',
    }),
  ),
  ssh_identity_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'For SSH' }),
  ),
  username: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^:\\p{Cc}]+$',
      description: 'For HTTPS; must not contain a colon',
    }),
  ),
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: '^\\P{Cc}+$',
      writeOnly: true,
      description: 'For HTTPS: a password or an access token',
    }),
  ),
  sync_interval: Type.Optional(
    Type.Union([Type.Literal(0), Seconds], {
      default: 3_600,
      description: 'Seconds between syncs; 0: on demand only',
    }),
  ),
});

const { branch, ssh_identity_id, username, password } = Draft.properties;
const Change = Type.Object({
  branch,
  ssh_identity_id,
  username,
  password,
  url: Type.Optional(Draft.properties.url),
  path_prefix: Type.Optional(
    Type.String({ maxLength: 400, description: 'Only this folder; empty: all of it' }),
  ),
  sync_interval: Type.Optional(
    Type.Union([Type.Literal(0), Seconds], {
      description: 'Seconds between syncs; 0: on demand only',
    }),
  ),
});

const Count = Type.Integer();
const Shown = Type.Object({
  id: Type.Integer(),
  kind: Kind,
  url: Type.String(),
  branch: Type.String(),
  path_prefix: Type.String(),
  mount: Type.String(),
  org_id: orNull(Type.Integer()),
  ssh_identity_id: orNull(Type.Integer()),
  username: Type.String(),
  has_password: Type.Boolean(),
  sync_interval: Type.Integer(),
  status: Type.Enum(['never_synced', 'syncing', 'ready', 'failed']),
  last_synced_at: orNull(Instant),
  last_tried_at: orNull(Instant),
  next_sync_at: orNull(Instant),
  last_commit: orNull(Type.String()),
  last_error: orNull(
    Type.String({
      description: 'Why the last sync failed; the documents are still those of last_commit',
    }),
  ),
  last_error_code: orNull(Type.Enum(Object.keys(troubles))),
  doc_count: Type.Integer(),
  progress: orNull(
    Type.Object(
      {
        phase: Type.Enum(['waiting', 'asking', 'fetching', 'listing', 'reading', 'removing']),
        done: Count,
        total: Count,
      },
      {
        description:
          'Progress of the running sync: bytes while fetching, documents while reading; total 0: unknown',
      },
    ),
  ),
  last_result: orNull(
    Type.Object({
      commit: Type.String(),
      history: Type.Enum(['first', 'same', 'forward', 'rewritten'], {
        description:
          'rewritten: the last commit that was read is not one of the twenty newest on the branch',
      }),
      added: Count,
      changed: Count,
      moved: Count,
      removed: Count,
      unchanged: Count,
      skipped: Type.Record(Type.String(), Count, {
        description: 'Number of files that are not documents, by reason',
      }),
      samples: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() })),
    }),
  ),
  created_by: Type.String(),
  created_at: Instant,
});

export const repoRoutes = (repositories: Repositories): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'none',
    summary: 'List Git repositories and websites with their sync state, newest first',
    items: Shown,
    handle: (call) => repositories.list(call),
  }),
  route({
    method: 'POST',
    path,
    access: 'knowledge:create',
    brief: ['id'],
    body: Draft,
    response: Shown,
    errors: ['conflict', 'not_found'],
    summary: 'Add a Git repository or a website; the first sync starts at once',
    description:
      'Text files become read-only documents. Nothing else in the repository is opened, and nothing is run.',
    handle: (call) => repositories.add(call, call.body),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: 'knowledge:update',
    brief: ['id'],
    params: RepoId,
    body: Change,
    response: Shown,
    errors: ['not_found'],
    summary: 'Update the address, branch, folder, credentials or interval of a repository',
    description:
      'Omitted fields stay unchanged, and a sync starts at once. The mount point and the organization cannot be changed. The password is kept only if the host stays the same.',
    handle: (call) => repositories.change(call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/sync`,
    access: 'knowledge:sync',
    brief: ['id'],
    params: RepoId,
    response: Shown,
    status: 202,
    errors: ['not_found'],
    summary: 'Sync a repository now; the list shows the progress',
    handle: (call) => repositories.sync(call, call.params.id),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'knowledge:delete',
    params: RepoId,
    errors: ['not_found'],
    summary: 'Delete a repository and its documents',
    handle: (call) => repositories.remove(call, call.params.id),
  }),
];
