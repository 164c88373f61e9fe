import { IncidentFired, Incidents } from 'svc/contracts/alert';
import { InvestigationReady, Investigations } from 'svc/contracts/investigate';
import { KnowledgeSearch, KnowledgeShelf } from 'svc/contracts/knowledge';
import { Jobs } from 'svc/jobs';
import { DeviceScopes, seenBy } from 'svc/query';
import { BuildInfo, definePlugin, type PluginContext } from 'svc/sdk';

import { openAssistant } from './assist/open-assistant.ts';
import { knownChecks } from './checks/known-checks.ts';
import { knownConventions } from './conventions/known-conventions.ts';
import { Enrichment } from './enrichment.ts';
import { errors } from './errors.ts';
import { errors as fetching } from './fetch/errors.ts';
import { Sources } from './fetch/sources.ts';
import { InvestigationQueue, stateOf } from './investigation-queue.ts';
import { investigationRoutes } from './investigation-routes.ts';
import { Investigator, type InvestigatorParts } from './investigator.ts';
import { reportSkill } from './report-skill.ts';
import { Reports } from './reports.ts';
import { type InvestigateTables, RunStore } from './run-store.ts';
import { Shelving } from './shelving.ts';
import { deviceNames } from './snapshot/device-names.ts';
import { errors as snapshots } from './snapshot/errors.ts';
import { SnapshotFiles } from './snapshot/snapshot-files.ts';
import { startTidying } from './tidying.ts';

const sweepMs = 30_000;

export default definePlugin({
  errors: [errors, fetching, snapshots],
  activate(ctx) {
    const { clock, events, log, metrics, scope, services, settings } = ctx;
    const tables = ctx.db<InvestigateTables>();
    const store = new RunStore(tables.read);
    const incidents = services.use(Incidents);
    const build = services.use(BuildInfo);
    const files = new SnapshotFiles(`${ctx.dataDir}/snapshots`);
    const sources = new Sources(ctx);
    const surroundings = { store, incidents, log, documents: services.maybe(KnowledgeSearch) };
    const thread = ctx.threads.start('engine', 'engine-worker.ts', {}, { idleMs: 5 * 60_000 });
    const assistant = openAssistant(ctx, thread);

    const shelf = services.maybe(KnowledgeShelf);
    const shelving = new Shelving({
      store,
      shelf,
      log,
      markdown: (id) => reports.markdown(id, undefined),
      later: (ms, work) => void scope.timeout('reports as documents', ms, work),
    });
    shelf.onChange(() => shelving.due());
    const ready: InvestigatorParts['ready'] = (state) => {
      events.emit(InvestigationReady, state);
      shelving.due();
    };
    const enrichment = new Enrichment({ tables, assistant, files, scope, log, metrics, ready });
    const investigator = new Investigator({
      tables,
      incidents,
      files,
      surroundings,
      sources,
      clock,
      log,
      metrics,
      thread,
      mayAssist: () => settings.get<boolean>('investigate.assist') && assistant.usable(),
      checks: knownChecks(ctx),
      conventions: knownConventions(ctx.extend, log),
      namesOf: deviceNames(services),
      ready: (state) => {
        ready(state);
        enrichment.pump();
      },
    });
    const queue = new InvestigationQueue({
      tables,
      jobs: new Jobs(ctx, { tables, process: String(build.startedAt) }),
      incidents,
      settings,
      clock,
      scope,
      log,
      admitted: metrics.counter(
        'admitted_total',
        'Incidents that alerts have offered for investigation.',
        ['outcome'],
      ),
      carryOut: (run, signal) => investigator.carryOut(run, signal),
      tellAgain: (run) => investigator.tellAgain(run),
    });
    const reports = new Reports({
      tables,
      incidents,
      investigator,
      files,
      surroundings,
      sources,
      clock,
    });

    offer(ctx, store, queue, reports);
    events.on(IncidentFired, ({ incident }) => queue.offer(incident));
    scope.interval('enqueue missed incidents', sweepMs, () => queue.sweep());
    startTidying(ctx, tables, files);
    return { queue, enrichment, shelving };
  },
  async start(ctx, { queue, enrichment, shelving }) {
    ctx.scope.task('reports as documents', (signal) => shelving.run(signal));
    await queue.resume();
    await enrichment.resume();
  },
});

/** Offers investigations to people, by routes and a skill, and to other plugins, by a service. */
function offer(
  { services, http, skills }: PluginContext,
  store: RunStore,
  queue: InvestigationQueue,
  reports: Reports,
): void {
  const sees = seenBy(services.maybe(DeviceScopes));
  const build = services.use(BuildInfo);
  services.provide(Investigations, () => ({
    start: (incidentId, by) => queue.start(incidentId, { name: by, key: by }, undefined),
    newest: async (incidentId) => {
      const run = await store.newest(incidentId, undefined);
      return run && stateOf(run);
    },
    markdown: (id) => reports.markdown(id, undefined),
  }));
  http.routes(investigationRoutes({ reports, queue, seenBy: sees, origin: () => build.publicUrl }));
  skills.add(reportSkill(reports, queue, sees));
}
