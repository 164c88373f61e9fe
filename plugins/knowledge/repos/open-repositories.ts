import { join } from 'node:path';

import { Programs } from 'svc/contracts/programs';
import { Jobs } from 'svc/jobs';
import { BuildInfo, type PluginContext, type Tables } from 'svc/sdk';

import type { KnowledgeTables } from '../documents/tables.ts';
import { Identities } from '../identities/identities.ts';
import { identityRoutes } from '../identities/identity-routes.ts';
import { KeyProgram } from '../identities/key-program.ts';
import { Git } from './git.ts';
import { Remotes } from './remote.ts';
import { RepoDocs } from './repo-docs.ts';
import { repoRoutes } from './repo-routes.ts';
import { Repositories } from './repositories.ts';
import { SyncQueue, type SyncSite } from './sync-queue.ts';

const dueMs = 15_000;

export interface RepositoryWorld {
  /** Called after the commit of every change of documents. */
  readonly changed: () => void;
  readonly syncSite: SyncSite;
}

/**
 * Opens Git repositories and their SSH keys, with the routes; returns a function that starts
 * syncing.
 */
export function openRepositories(
  ctx: PluginContext,
  tables: Tables<KnowledgeTables>,
  { changed, syncSite }: RepositoryWorld,
): () => void {
  const { clock, ids, log, scope, secrets, settings } = ctx;
  const git = new Git({ programs: ctx.services.maybe(Programs), owner: ctx });
  const runs = join(ctx.dataDir, 'run');
  const keyProgram = new KeyProgram({
    programs: ctx.services.maybe(Programs),
    owner: ctx,
    ids,
    folder: runs,
  });
  const identities = new Identities({ tables, secrets, clock, ids, keyProgram });
  const remotes = new Remotes({
    git,
    identities,
    secrets,
    folder: runs,
    fetch: (url, request) => ctx.fetch(url, request),
    authorities: () => settings.get<string>('knowledge.git_authorities'),
  });
  const docs = new RepoDocs({
    tables,
    clock,
    changed,
    keepVersions: () => settings.get<number>('knowledge.keep_versions'),
  });
  const queue = new SyncQueue({
    tables,
    jobs: new Jobs(ctx, { tables, process: String(ctx.services.use(BuildInfo).startedAt) }),
    git,
    remotes,
    docs,
    syncSite,
    scope,
    clock,
    log,
    folder: join(ctx.dataDir, 'repos'),
    limits: () => ({
      bytes: settings.get<number>('knowledge.git_max_bytes'),
      fetchMs: 1000 * settings.get<number>('knowledge.git_max_seconds'),
      listingBytes: 32 * 1024 * 1024,
    }),
    random: () => Buffer.from(ids.token(6), 'base64url').readUIntBE(0, 6) / 2 ** 48,
  });
  ctx.http.routes([
    ...repoRoutes(new Repositories({ tables, secrets, queue, docs, clock, ids })),
    ...identityRoutes(identities),
  ]);
  return () => {
    scope.task('resume repository syncs', async () => {
      await queue.begin();
      await queue.look();
    });
    scope.interval('sync repositories that are due', dueMs, () => queue.look());
  };
}
