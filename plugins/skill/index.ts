import { join } from 'node:path';

import { Approvals, ApprovalSettled } from 'svc/contracts/approval';
import { DeviceDirectory } from 'svc/contracts/device';
import { EdgeConnected, EdgeFleet, EdgeRemoved, FleetSkills } from 'svc/contracts/edge';
import { Gate } from 'svc/contracts/gate';
import { Directory } from 'svc/contracts/iam';
import { PackTraces } from 'svc/contracts/marketplace';
import { SkillExecutor, SkillRunner, Skills, ToolSources } from 'svc/contracts/skill';
import { DeviceScopes } from 'svc/query';
import { AuditTrail, Catalogue, definePlugin, type PluginContext } from 'svc/sdk';

import { type EdgeToolParts, EdgeTools } from './edge-tools.ts';
import { errors as diffErrors } from './diff/errors.ts';
import { errors } from './errors.ts';
import { EvidenceStore } from './evidence-store.ts';
import { ExecutionTrail } from './execution-trail.ts';
import { Executions } from './executions.ts';
import { OwnTools } from './own-tools.ts';
import { ParamsCheck } from './params-check.ts';
import { Presenter } from './presenter.ts';
import { Registry } from './registry.ts';
import { Runner } from './runner.ts';
import { skillRoutes } from './skill-routes.ts';
import type { SkillTables } from './tables.ts';

/** Edges that come together are asked together. */
const listSoonMs = 1_000;
const hourMs = 3_600_000;
const resultsIdleMs = 60_000;

export default definePlugin({
  errors: [errors, diffErrors],
  activate(ctx) {
    const { clock, ids, log, scope, settings, services } = ctx;
    const tables = ctx.db<SkillTables>();
    const gate = services.use(Gate);
    const devices = services.maybe(DeviceDirectory);
    const approvals = services.maybe(Approvals);
    const fleet = services.maybe(EdgeFleet);
    const skills = services.maybe(FleetSkills);
    const scopes = services.maybe(DeviceScopes);

    const evidence = new EvidenceStore({
      tables,
      folder: join(ctx.dataDir, 'evidence'),
      settings,
      clock,
      toolOf: (key) => registry.tool(key),
    });
    const own: OwnTools = new OwnTools({
      registry: () => registry,
      gate,
      evidence,
      look: (call) => runner.look(call),
    });
    const registry = new Registry({
      catalogue: services.use(Catalogue),
      sources: ctx.extend.open(ToolSources),
      scopes,
      own: own.list,
    });
    const runner = new Runner({
      registry,
      own,
      gate,
      devices,
      scopes,
      approvals,
      clock,
      ids,
      log,
      check: new ParamsCheck(),
      presenter: new Presenter(
        evidence,
        ctx.threads.start('results', 'results-worker.ts', undefined, { idleMs: resultsIdleMs }),
      ),
      trail: new ExecutionTrail({ tables, trail: services.maybe(AuditTrail), clock }),
      runs: ctx.metrics.counter('runs_total', 'Runs of tools.', ['class', 'status']),
    });
    const executions = new Executions({
      runner,
      approvals,
      people: services.maybe(Directory),
      devices,
      uuid: () => ids.uuid(),
      log,
    });
    services.provide(Skills, () => registry);
    services.provide(SkillRunner, () => runner);
    services.provide(SkillExecutor, () => executions);
    ctx.http.routes(skillRoutes(registry, executions, evidence));

    ctx.extend.contribute(PackTraces, 'skill', {
      forget: async ({ tools, keepData }) => void (keepData || (await evidence.forget(tools))),
    });

    const edgeTools = openEdgeTools(ctx, { skills, fleet });
    // Not within the event: the next one must not wait for a long run.
    ctx.events.on(ApprovalSettled, ({ id, status, owner }) => {
      if (owner.kind === 'skill' && status === 'approved') {
        scope.task(`run approved call ${id}`, (signal) => executions.settle(id, signal));
      }
    });
    scope.interval('remove old evidence', hourMs, async () => {
      const removed = await evidence.tidy();
      log.info({ removed }, 'removed old evidence');
    });
    return edgeTools;
  },
  start(_ctx, edgeTools) {
    edgeTools.noteAll();
  },
});

/** Opens the list of edge tools, which is fetched as edges connect. */
function openEdgeTools(
  { scope, extend, events, log }: PluginContext,
  { skills, fleet }: Pick<EdgeToolParts, 'skills' | 'fleet'>,
): EdgeTools {
  let isAsked = false;
  const edgeTools: EdgeTools = new EdgeTools({
    skills,
    fleet,
    log,
    soon() {
      if (!isAsked) {
        isAsked = true;
        scope.timeout('list skills of edges', listSoonMs, (signal) => {
          isAsked = false;
          return edgeTools.catchUp(signal);
        });
      }
    },
  });
  extend.contribute(ToolSources, 'edge', edgeTools);
  events.on(EdgeConnected, ({ edge_id: id }) => edgeTools.note(id));
  events.on(EdgeRemoved, ({ edge_id: id }) => edgeTools.forget(id));
  skills.onChange((state) => (state === 'up' ? edgeTools.noteAll() : undefined));
  return edgeTools;
}
