import { join } from 'node:path';

import { PackTraces } from 'svc/pack-traces';
import { DeviceScopes } from 'svc/query';
import { AuditTrail, Catalogue, defineEvent, definePlugin, defineService } from 'svc/sdk';

import type { ApprovalBook, ApprovalOwner, ApprovalStatus } from '../approval/contract.ts';
import type { DeviceDirectory } from '../device/contract.ts';
import type { EdgeFleet, FleetSkills } from '../edge/contract.ts';
import { Gate } from '../gate/contract.ts';
import type { DirectoryContract } from '../iam/contract.ts';
import { SkillExecutor, SkillRunner, Skills, ToolSources } from './contract.ts';
import { EdgeTools } from './edge-tools.ts';
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

/** By their ids: their folders may be taken away, and only types may be wanted of them. */
const Devices = defineService<DeviceDirectory>('device.directory');
const Approvals = defineService<ApprovalBook>('approval.book');
const Fleet = defineService<EdgeFleet>('edge.fleet');
const RemoteSkills = defineService<FleetSkills>('edge.skills');
const People = defineService<DirectoryContract>('iam.directory');
const EdgeConnected = defineEvent<{ readonly edge_id: number }>('edge.connected');
const EdgeRemoved = defineEvent<{ readonly edge_id: number }>('edge.removed');
const ApprovalSettled = defineEvent<{
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly owner: ApprovalOwner;
}>('approval.settled');

/** Edges that come together are asked together. */
const listSoonMs = 1_000;
const hourMs = 3_600_000;

export default definePlugin({
  activate(ctx) {
    const { clock, ids, log, scope, settings, services } = ctx;
    const tables = ctx.db<SkillTables>();
    const gate = services.use(Gate);
    const devices = services.maybe(Devices);
    const approvals = services.maybe(Approvals);
    const fleet = services.maybe(Fleet);
    const skills = services.maybe(RemoteSkills);
    const scopes = services.maybe(DeviceScopes);

    const evidence = new EvidenceStore({
      tables,
      folder: join(ctx.dataDir, 'evidence'),
      settings,
      clock,
    });
    const own: OwnTools = new OwnTools({ registry: () => registry, gate, evidence });
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
      presenter: new Presenter(evidence),
      trail: new ExecutionTrail({ tables, trail: services.maybe(AuditTrail), clock }),
      runs: ctx.metrics.counter('runs_total', 'Runs of tools.', ['class', 'status']),
    });
    const executions = new Executions({
      runner,
      approvals,
      people: services.maybe(People),
      devices,
      uuid: () => ids.uuid(),
      log,
    });
    services.provide(Skills, () => registry);
    services.provide(SkillRunner, () => runner);
    services.provide(SkillExecutor, () => executions);
    ctx.http.routes(skillRoutes(registry, executions));

    ctx.extend.contribute(PackTraces, 'skill', {
      forget: async ({ tools, keepData }) => void (keepData || (await evidence.forget(tools))),
    });

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
    ctx.extend.contribute(ToolSources, 'edge', edgeTools);
    ctx.events.on(EdgeConnected, ({ edge_id: id }) => edgeTools.note(id));
    ctx.events.on(EdgeRemoved, ({ edge_id: id }) => edgeTools.forget(id));
    skills.onChange((state) => (state === 'up' ? edgeTools.noteAll() : undefined));
    // Not within the event: the next one must not wait for a long run.
    ctx.events.on(ApprovalSettled, ({ id, status, owner }) => {
      if (owner.kind === 'skill' && status === 'approved') {
        scope.task(`run approved call ${id}`, (signal) => executions.settle(id, signal));
      }
    });
    scope.interval('remove old evidence', hourMs, async () => {
      const removed = await evidence.tidy();
      log.info({ removed }, 'old evidence removed');
    });
    return edgeTools;
  },
  start(_ctx, edgeTools) {
    edgeTools.noteAll();
  },
});
