import { join } from 'node:path';

import {
  KnowledgeRead,
  KnowledgeSearch,
  KnowledgeShelf,
  KnowledgeWriting,
} from 'svc/contracts/knowledge';
import { ModelRuns } from 'svc/contracts/model';
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

import { careRoutes } from './care/care-routes.ts';
import { docRoutes } from './documents/doc-routes.ts';
import { errors as documentsErrors } from './documents/errors.ts';
import { Library } from './documents/library.ts';
import { Shelf, SourcedDocs } from './documents/sourced-docs.ts';
import type { KnowledgeTables } from './documents/tables.ts';
import { Embedding } from './embedding/embedding.ts';
import { errors as embeddingErrors } from './embedding/errors.ts';
import { embeddingKeys } from './embedding/models.ts';
import { errors } from './errors.ts';
import { errors as gapsErrors } from './gaps/errors.ts';
import { gapRoutes } from './gaps/gap-routes.ts';
import { SearchLog } from './gaps/search-log.ts';
import { errors as identitiesErrors } from './identities/errors.ts';
import { errors as reposErrors } from './repos/errors.ts';
import { openRepositories } from './repos/open-repositories.ts';
import { runbookRoute } from './runbook-route.ts';
import { errors as searchErrors } from './search/errors.ts';
import { Feed } from './search/feed.ts';
import { IndexJobs } from './search/index-jobs.ts';
import { Measure } from './measure/measure.ts';
import { RerankMeasure } from './measure/rerank-measure.ts';
import { Reranker } from './search/rerank.ts';
import { SearchService } from './search/search-service.ts';
import { searchRoutes } from './search-routes.ts';
import { knowledgeSkills } from './skills.ts';
import { syncSite } from './sites/site-sync.ts';
import { errors as uploadsErrors } from './uploads/errors.ts';
import { Parser } from './uploads/parser.ts';
import { importRoute } from './uploads/import-route.ts';
import { UploadRoom } from './uploads/upload-room.ts';
import { uploadRoute } from './uploads/upload-route.ts';
import { shippedPlaybooks } from './vault/shipped.ts';
import { Vault, vaultRoutes } from './vault/vault.ts';

const idleMs = 5 * 60_000;
const settleMs = 60_000;

export default definePlugin({
  errors: [
    errors,
    documentsErrors,
    embeddingErrors,
    gapsErrors,
    identitiesErrors,
    reposErrors,
    searchErrors,
    uploadsErrors,
    markdownErrors,
  ],
  activate(ctx) {
    const tables = ctx.db<KnowledgeTables>();
    const { feed, search, embedding, measure } = indexOf(ctx, tables);
    const rerankModel = (): string => ctx.settings.get<string>('knowledge.rerank_model');
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
    const parser = new Parser({
      programs: ctx.services.maybe(Programs),
      owner: ctx,
      ids: ctx.ids,
      program: ctx.threads.text('parse-worker.ts'),
      timeoutMs: 20_000,
    });
    const beginSyncs = openRepositories(ctx, tables, {
      changed: () => feed.changed(),
      syncSite: (repo, run) =>
        syncSite(repo, {
          ...run,
          fetch: (url, request) => ctx.fetch(url, request),
          convert: (pages, signal) => parser.pagesOf(pages, signal),
          pause: (ms, signal) => paused(ctx, ms, signal),
        }),
    });
    const uploads = new UploadRoom();
    const { reranker, rerankMeasure } = rerankingOf(ctx, { tables, feed, search, rerankModel });
    const searchLog = new SearchLog({ tables, now: () => ctx.clock.now() });
    const searchService = new SearchService({
      tables,
      search,
      feed,
      embedder: embedding,
      weight: (model) => measure.weight(model),
      log: searchLog,
      reranker,
    });
    ctx.services.provide(KnowledgeSearch, () => searchService);
    ctx.services.provide(KnowledgeRead, () => searchService);
    ctx.services.provide(KnowledgeShelf, () => new Shelf(sources));
    ctx.services.provide(KnowledgeWriting, () => ({
      async write(draft, change) {
        const made = await library.create(change, { ...draft, tags: [...draft.tags] });
        return { document_id: made.id, path: made.path };
      },
    }));
    ctx.http.routes([
      ...docRoutes(library, tables, (principal, doc) => searchLog.opened(principal, doc)),
      ...searchRoutes(searchService, { feed, embedding, measure, rerankMeasure, rerankModel }),
      ...gapRoutes(searchLog, tables),
      ...careRoutes(tables, ctx.clock),
      ...vaultRoutes(vault),
      runbookRoute(searchService),
      uploadRoute(library, parser, uploads),
      importRoute(library, parser, uploads),
    ]);
    knowledgeSkills(searchService).forEach((skill) => ctx.skills.add(skill));
    feed.onApplied = () => {
      embedding.due();
      rerankMeasure.due();
    };
    return { feed, vault, beginSyncs, parser, embedding, measure, rerankMeasure, searchLog };
  },
  async start(ctx, parts) {
    const { feed, vault, beginSyncs, parser, embedding, measure, rerankMeasure, searchLog } = parts;
    await parser.clear();
    ctx.scope.task('index documents', (signal) => feed.run(signal));
    ctx.scope.task('embed documents', (signal) => embedding.run(signal));
    ctx.scope.task('measure search', (signal) => measure.run(signal));
    ctx.scope.task('measure reordered search', (signal) => rerankMeasure.run(signal));
    ctx.settings.watch('knowledge.rerank_model', () => rerankMeasure.due());
    embeddingKeys.forEach((key) => ctx.settings.watch(key, () => embedding.due()));
    beginSyncs();
    ctx.scope.interval('store searches without a result', settleMs, () => searchLog.settle());
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

interface RerankingParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly feed: Feed;
  readonly search: ThreadHandle;
  readonly rerankModel: () => string;
}

/** Makes what lets a chat model reorder results, and what measures whether that helps. */
function rerankingOf(
  ctx: PluginContext,
  { tables, feed, search, rerankModel }: RerankingParts,
): { readonly reranker: Reranker; readonly rerankMeasure: RerankMeasure } {
  const reranker: Reranker = new Reranker({
    models: ctx.services.maybe(ModelRuns),
    model: rerankModel,
    helps: (model) => rerankMeasure.helps(model),
    now: () => ctx.clock.monotonic(),
    log: ctx.log,
  });
  const rerankMeasure = new RerankMeasure({
    tables,
    search,
    reorder: (model, question, items, signal) => reranker.reorder(model, question, items, signal),
    model: rerankModel,
    documents: async () => {
      const { behind, documents } = await feed.state();
      return behind > 0 ? undefined : documents;
    },
    log: ctx.log,
    now: () => ctx.clock.now(),
    later: (ms, work) => void ctx.scope.timeout('wait for the model', ms, work),
  });
  return { reranker, rerankMeasure };
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
const paused = (ctx: PluginContext, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = ctx.scope.timeout('pause between two pages', ms, () => resolve());
    const end = (): void => {
      void stop();
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });

interface Index {
  readonly feed: Feed;
  readonly search: ThreadHandle;
  readonly embedding: Embedding;
  readonly measure: Measure;
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
  const measure = new Measure({
    tables,
    search,
    embed: (texts, model, signal) => embedding.all(texts, model, signal),
    documents: async () => (await feed.state()).documents,
    log,
    now: () => clock.now(),
    later,
  });
  embedding.onComplete = (model) => measure.due(model);
  const jobs = new IndexJobs([
    { queue: 'index', title: 'Index documents', remainder: () => feed.remainder },
    { queue: 'embedding', title: 'Embed documents', remainder: () => embedding.remainder },
  ]);
  ctx.extend.contribute(JobSources, 'knowledge-index', jobs);
  return { feed, search, embedding, measure };
}
