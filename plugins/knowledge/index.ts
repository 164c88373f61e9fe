import { join } from 'node:path';

import { KnowledgeRead, KnowledgeSearch, KnowledgeShelf } from 'svc/contracts/knowledge';
import { Programs } from 'svc/contracts/programs';
import { JobSources } from 'svc/jobs';
import { markdownErrors } from 'svc/markdown-file';
import {
  BuildInfo,
  definePlugin,
  type PluginContext,
  Plugins,
  type Tables,
  type ThreadHandle,
} from 'svc/sdk';

import { docRoutes } from './documents/doc-routes.ts';
import { errors as documentsErrors } from './documents/errors.ts';
import { Library } from './documents/library.ts';
import { Shelf, SourcedDocs } from './documents/sourced-docs.ts';
import type { KnowledgeTables } from './documents/tables.ts';
import { Embedding } from './embedding/embedding.ts';
import { errors as embeddingErrors } from './embedding/errors.ts';
import { embeddingKeys } from './embedding/models.ts';
import { errors } from './errors.ts';
import { errors as identitiesErrors } from './identities/errors.ts';
import { errors as reposErrors } from './repos/errors.ts';
import { openRepositories } from './repos/open-repositories.ts';
import { runbookRoute } from './runbook-route.ts';
import { SearchService } from './search/search-service.ts';
import { errors as searchErrors } from './search/errors.ts';
import { Feed } from './search/feed.ts';
import { IndexJobs } from './search/index-jobs.ts';
import { searchRoutes } from './search-routes.ts';
import { knowledgeSkills } from './skills.ts';
import { errors as uploadsErrors } from './uploads/errors.ts';
import { Parser } from './uploads/parser.ts';
import { uploadRoute } from './uploads/upload-route.ts';
import { shippedPlaybooks } from './vault/shipped.ts';
import { Vault, vaultRoutes } from './vault/vault.ts';

const idleMs = 5 * 60_000;

export default definePlugin({
  errors: [
    errors,
    documentsErrors,
    embeddingErrors,
    identitiesErrors,
    reposErrors,
    searchErrors,
    uploadsErrors,
    markdownErrors,
  ],
  activate(ctx) {
    const tables = ctx.db<KnowledgeTables>();
    const { feed, search, embedding } = indexOf(ctx, tables);
    const library = new Library({
      tables,
      clock: ctx.clock,
      keepVersions: () => ctx.settings.get<number>('knowledge.keep_versions'),
      changed: () => feed.changed(),
    });
    const sources = new SourcedDocs({ tables, clock: ctx.clock, changed: () => feed.changed() });
    const { root } = ctx.services.use(BuildInfo);
    const plugins = ctx.services.use(Plugins);
    const vault = new Vault(sources, () => shippedPlaybooks(root, plugins, ctx.log));
    const beginSyncs = openRepositories(ctx, tables, () => feed.changed());
    const parser = new Parser({
      programs: ctx.services.maybe(Programs),
      owner: ctx,
      ids: ctx.ids,
      program: ctx.threads.text('parse-worker.ts'),
      timeoutMs: 20_000,
    });
    const searchService = new SearchService({ tables, search, feed, embedder: embedding });
    ctx.services.provide(KnowledgeSearch, () => searchService);
    ctx.services.provide(KnowledgeRead, () => searchService);
    ctx.services.provide(KnowledgeShelf, () => new Shelf(sources));
    ctx.http.routes([
      ...docRoutes(library, tables),
      ...searchRoutes(searchService, feed, embedding),
      ...vaultRoutes(vault),
      runbookRoute(searchService),
      uploadRoute(library, parser),
    ]);
    knowledgeSkills(searchService).forEach((skill) => ctx.skills.add(skill));
    return { feed, vault, beginSyncs, parser, embedding };
  },
  async start(ctx, { feed, vault, beginSyncs, parser, embedding }) {
    await parser.clear();
    ctx.scope.task('index documents', (signal) => feed.run(signal));
    ctx.scope.task('embed documents', (signal) => embedding.run(signal));
    embeddingKeys.forEach((key) => ctx.settings.watch(key, () => embedding.due()));
    beginSyncs();
    // In the background: nothing that serves waits for it.
    ctx.scope.task('sync the playbooks', async () => {
      const { added, updated, removed } = await vault.sync();
      ctx.log.info(
        { event: 'knowledge.vault_synced', added, updated, removed },
        'playbooks synced',
      );
    });
  },
});

interface Index {
  readonly feed: Feed;
  readonly search: ThreadHandle;
  readonly embedding: Embedding;
}

/**
 * Opens the index: its threads write and read a separate file that can be rebuilt from the
 * documents at any time; they sleep until they are used.
 */
function indexOf(ctx: PluginContext, tables: Tables<KnowledgeTables>): Index {
  const { log, clock, settings } = ctx;
  const data = { folder: join(ctx.dataDir, 'index') };
  const index = ctx.threads.start('index', 'index-worker.ts', data, { idleMs });
  const search = ctx.threads.start('search', 'search-worker.ts', data, { idleMs });
  const later = (ms: number, work: () => void): void =>
    void ctx.scope.timeout('wait for the index', ms, work);
  const feed = new Feed({
    tables,
    index,
    log,
    later,
    newLineage: () => ctx.ids.uuid(),
    now: () => clock.now(),
  });
  const embedding = new Embedding({
    index,
    settings,
    log,
    later,
    fetch: (url, request) => ctx.fetch(url, request),
    now: () => clock.monotonic(),
    wallNow: () => clock.now(),
  });
  feed.onApplied = () => embedding.due();
  const jobs = new IndexJobs([
    { queue: 'index', title: 'Index documents', remainder: () => feed.remainder },
    { queue: 'embedding', title: 'Embed documents', remainder: () => embedding.remainder },
  ]);
  ctx.extend.contribute(JobSources, 'knowledge-index', jobs);
  return { feed, search, embedding };
}
