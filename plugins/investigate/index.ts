import { IncidentFired, Incidents } from 'svc/contracts/alert';
import { ChangeFeed } from 'svc/contracts/changes';
import { DeviceDirectory } from 'svc/contracts/device';
import { Gate } from 'svc/contracts/gate';
import {
  type EvidenceSource,
  Fetchers,
  HostChecks,
  InvestigationReady,
  Investigations,
} from 'svc/contracts/investigate';
import { KnowledgeSearch, KnowledgeShelf } from 'svc/contracts/knowledge';
import { LogQueries } from 'svc/contracts/logs';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { ModelRuns } from 'svc/contracts/model';
import { Personas } from 'svc/contracts/persona';
import { SkillRunner, Skills } from 'svc/contracts/skill';
import { TopologyGraph } from 'svc/contracts/topology';
import { TraceQueries } from 'svc/contracts/traces';
import { Jobs } from 'svc/jobs';
import { DeviceScopes, parseDuration, type SeenBy, seenBy, type SeenDevices } from 'svc/query';
import {
  BuildInfo,
  definePlugin,
  type Handle,
  type PluginContext,
  type Tables,
  type ToolSkill,
  toolSkill,
} from 'svc/sdk';
import { Type } from 'typebox';

import { Assistant } from './assist/assistant.ts';
import { Enrichment } from './assist/enrichment.ts';
import { shippedChecks } from './checks/run-checks.ts';
import { askerOf, InvestigationQueue, stateOf } from './investigation-queue.ts';
import { errors } from './errors.ts';
import { errors as fetching } from './fetch/errors.ts';
import { changeSource, topologySource } from './fetch/graph-sources.ts';
import { lineSource, templateSource } from './fetch/log-sources.ts';
import { MetricsSource } from './fetch/metrics-source.ts';
import { traceSource } from './fetch/trace-source.ts';
import { investigationRoutes } from './investigation-routes.ts';
import { Investigator } from './investigator.ts';
import { Shelving } from './report/shelving.ts';
import { Reports } from './reports.ts';
import { type InvestigateTables, RunStore } from './run-store.ts';
import { errors as snapshots } from './snapshot/errors.ts';
import { SnapshotFiles } from './snapshot/snapshot-files.ts';

const sweepMs = 30_000;
const tidyMs = 600_000;
const mebibyte = 1_024 * 1_024;

export default definePlugin({
  errors: [errors, fetching, snapshots],
  activate(ctx) {
    const { clock, events, log, metrics, scope, services, settings } = ctx;
    const tables = ctx.db<InvestigateTables>();
    const store = new RunStore(tables.read);
    const incidents = services.use(Incidents);
    const build = services.use(BuildInfo);
    const files = new SnapshotFiles(`${ctx.dataDir}/snapshots`);
    const checks = ctx.extend.open(HostChecks);
    const fetchers = ctx.extend.open(Fetchers);
    const fetchersOf = () => new Map(fetchers.list().map(({ id, value }) => [id, value]));
    const sees = seenBy(services.maybe(DeviceScopes));
    const stores = storesOf(ctx);
    // What other rooms bring may be of any device.
    const sources = (seen: SeenDevices): ReadonlyMap<string, EvidenceSource> =>
      new Map<string, EvidenceSource>([
        ...(seen === undefined ? fetchersOf() : []),
        ...ownSources(stores, seen),
      ]);
    const surroundings = { store, incidents, log, documents: services.maybe(KnowledgeSearch) };
    const thread = ctx.threads.start('engine', 'engine-worker.ts', {}, { idleMs: 5 * 60_000 });
    const assistant = new Assistant({
      clock,
      models: services.maybe(ModelRuns),
      personas: services.maybe(Personas),
      registry: services.maybe(Skills),
      runner: services.maybe(SkillRunner),
      gate: services.maybe(Gate),
      check: (snapshot, assertions) => thread.call('check', { snapshot, assertions }),
    });
    const shelf = services.maybe(KnowledgeShelf);
    const shelving = new Shelving({
      store,
      shelf,
      log,
      markdown: (id) => reports.markdown(id, undefined),
      later: (ms, work) => void scope.timeout('reports as documents', ms, work),
    });
    shelf.onChange(() => shelving.due());
    const told: ConstructorParameters<typeof Investigator>[0]['ready'] = (state) => {
      events.emit(InvestigationReady, state);
      shelving.due();
    };
    const enrichment = new Enrichment({
      tables,
      assistant,
      files,
      scope,
      log,
      ready: told,
      contradicted: metrics.counter(
        'contradicted_total',
        'Claims of models that stored samples contradict.',
      ),
    });
    const investigator = new Investigator({
      tables,
      incidents,
      files,
      surroundings,
      sources,
      clock,
      log,
      fetchers: fetchersOf,
      thread,
      mayAssist: () => settings.get<boolean>('investigate.assist') && assistant.usable(),
      checks: () =>
        new Map([
          ...Object.entries(shippedChecks),
          ...checks.list().map(({ id, value }) => [id, value] as const),
        ]),
      namesOf: namesOf(services.maybe(DeviceDirectory)),
      took: metrics.histogram(
        'seconds',
        'How long investigations took without a model.',
        [0.25, 0.5, 1, 2, 5, 10, 20],
      ),
      ready: (state) => {
        told(state);
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

    services.provide(Investigations, () => ({
      start: (incidentId, by) => queue.start(incidentId, { name: by, key: by }, undefined),
      newest: async (incidentId) => {
        const run = await store.newest(incidentId, undefined);
        return run && stateOf(run);
      },
      markdown: (id) => reports.markdown(id, undefined),
    }));
    ctx.http.routes(
      investigationRoutes({ reports, queue, seenBy: sees, origin: () => build.publicUrl }),
    );
    ctx.skills.add(reportSkill(reports, queue, sees));
    events.on(IncidentFired, ({ incident }) => queue.offer(incident));
    scope.interval('take incidents that were missed', sweepMs, () => queue.sweep());
    scope.interval('remove old investigations', tidyMs, async () => {
      const keepMs = parseDuration(settings.get<string>('investigate.retention'));
      await tidy({
        tables,
        files,
        before: clock.now() - keepMs,
        mostBytes: settings.get<number>('investigate.keep_mb') * mebibyte,
      });
    });
    return { queue, enrichment, shelving };
  },
  async start(ctx, { queue, enrichment, shelving }) {
    ctx.scope.task('reports as documents', (signal) => shelving.run(signal));
    await queue.resume();
    await enrichment.resume();
  },
});

const storesOf = ({ services }: PluginContext) => ({
  metrics: services.maybe(MetricsQueries),
  logs: services.maybe(LogQueries),
  traces: services.maybe(TraceQueries),
  topology: services.maybe(TopologyGraph),
  changes: services.maybe(ChangeFeed),
});

const ownSources = (
  { metrics, logs, traces, topology, changes }: ReturnType<typeof storesOf>,
  seen: SeenDevices,
): ReadonlyMap<string, EvidenceSource> =>
  new Map<string, EvidenceSource>([
    ['metrics', new MetricsSource(metrics, seen)],
    ['templates', templateSource(logs, seen)],
    ['logs', lineSource(logs, seen)],
    ['traces', traceSource(traces, seen)],
    ['topology', topologySource(topology, seen)],
    ['changes', changeSource(changes, seen)],
  ]);

/** A host is called what people call it; without the directory its number does. */
const namesOf =
  (devices: Handle<DeviceDirectory>) =>
  async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> =>
    devices.available
      ? new Map(
          (await devices.get().many(ids.map(Number))).map(({ id, display_name: name }) => [
            String(id),
            name,
          ]),
        )
      : new Map();

/** Removes reports that are too old, and the snapshots for which there is no room. */
async function tidy({
  tables,
  files,
  before,
  mostBytes,
}: {
  readonly tables: Tables<InvestigateTables>;
  readonly files: SnapshotFiles;
  readonly before: number;
  readonly mostBytes: number;
}): Promise<void> {
  let room = mostBytes;
  for (const { id, snapshot_bytes: bytes, created_at: at } of await new RunStore(
    tables.read,
  ).snapshots()) {
    room -= bytes;
    if (room < 0 || at < before) {
      await files.remove(id);
      await tables.write((tx) => new RunStore(tx).change(id, { snapshot_bytes: 0 }));
    }
  }
  await tables.write((tx) => new RunStore(tx).removeBefore(before));
}

const reportSkill = (reports: Reports, queue: InvestigationQueue, sees: SeenBy): ToolSkill =>
  toolSkill({
    key: 'investigate',
    name: 'Investigate an incident',
    description:
      'The likely cause of an incident with its evidence, what was ruled out and what could not be seen; starts an investigation where there is none.',
    scope: 'manager',
    class: 'safe',
    tier: 'core',
    params: Type.Object({
      incident_id: Type.Integer({ minimum: 1 }),
      again: Type.Boolean({
        default: false,
        description: 'Look anew, also where there is a report.',
      }),
    }),
    async run({ incident_id: id, again }, { principal }) {
      const seen = await sees(principal);
      const known = await reports.ofIncident(id, seen);
      if (
        again ||
        known.status === 'not_started' ||
        known.status === 'skipped' ||
        known.status === 'failed'
      ) {
        const { id: run } = await queue.start(id, askerOf(principal), seen);
        return { started: run, note: 'It takes up to 20 s; call this again for its report.' };
      }
      const { evidence: _evidence, markdown: _markdown, ...report } = { ...known, markdown: '' };
      return report;
    },
  });
