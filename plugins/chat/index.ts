import { IncidentActions } from 'svc/contracts/alert';
import { Approvals, ApprovalSettled } from 'svc/contracts/approval';
import { ChatRuns, RunLeft } from 'svc/contracts/chat';
import { DeviceDirectory } from 'svc/contracts/device';
import { Gate } from 'svc/contracts/gate';
import { Directory, type DirectoryContract } from 'svc/contracts/iam';
import { Investigations } from 'svc/contracts/investigate';
import { KnowledgeWriting } from 'svc/contracts/knowledge';
import { MentionDirectory } from 'svc/contracts/mention';
import { ModelRuns } from 'svc/contracts/model';
import { Personas } from 'svc/contracts/persona';
import { SkillRunner, Skills, ToolSources } from 'svc/contracts/skill';
import { JobSources } from 'svc/jobs';
import { BuildInfo, definePlugin, type Handle, type Principal, type Scope } from 'svc/sdk';

import { errors } from './errors.ts';
import { KeptAnswers } from './keep/kept-answers.ts';
import { Shares } from './keep/shares.ts';
import { keepRoutes } from './keep-routes.ts';
import { Coordinator } from './prompt/coordinator.ts';
import { RunJobs } from './run/run-jobs.ts';
import { RunStore } from './run/run-store.ts';
import { Runs } from './run/runs.ts';
import { SubAgents } from './run/sub-agents.ts';
import { runRoutes } from './run-routes.ts';
import { Sessions } from './session/sessions.ts';
import { type ChatTables, SessionStore } from './session/store.ts';
import { sessionRoutes } from './session-routes.ts';
import { Toolbag } from './tools/toolbag.ts';

const lookMs = 15_000;
const hourMs = 3_600_000;
const keptMs = 7 * 24 * hourMs;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, ids, log, settings } = ctx;
    const models = ctx.services.use(ModelRuns);
    const personas = ctx.services.use(Personas);
    const registry = ctx.services.use(Skills);
    const gate = ctx.services.use(Gate);
    const build = ctx.services.use(BuildInfo);
    const people = ctx.services.maybe(Directory);
    const devices = ctx.services.maybe(DeviceDirectory);
    const tables = ctx.db<ChatTables>();
    const store = new SessionStore(tables);
    const runStore = new RunStore(tables);
    const sessions = new Sessions(store, clock, ids);
    // Another start of the process has another stamp; within one, generations take turns.
    const process = `${build.startedAt}`;
    const runs = new Runs({
      ports: {
        runs: runStore,
        sessions: store,
        clock,
        ids,
        log,
        models,
        personas,
        registry,
        runner: ctx.services.use(SkillRunner),
        approvals: ctx.services.maybe(Approvals),
        reachable: async ({ target }) =>
          target.kind === 'manager' ||
          (devices.available && (await devices.get().onlineEdge(target.id!)) !== undefined),
        mentions: ctx.services.maybe(MentionDirectory),
        coordinator: new Coordinator(personas, models),
        pause: pauseOf(ctx.scope),
        toolbag: new Toolbag(registry, gate, () => settings.get('agent.deferral_threshold')),
        settings: {
          kernel: () => settings.get('agent.kernel'),
          maxTurns: () => settings.get('agent.max_turns'),
          maxReplyTokens: () => settings.get('agent.max_reply_tokens'),
          systemContext: () => settings.get('agent.system_context'),
          knownAddresses: () => settings.get('agent.known_addresses'),
        },
      },
      sessions,
      scope: ctx.scope,
      holder: `${process}.${ctx.generation}`,
      isGone: (holder) => !holder.startsWith(`${process}.`),
      left: (id) => ctx.events.emit(RunLeft, { run_id: id }),
      livePrincipal: (principal) => livePrincipal(principal, people),
    });
    ctx.services.provide(ChatRuns, () => runs);
    ctx.extend.contribute(JobSources, 'chat', new RunJobs(tables, runs));
    ctx.extend.contribute(
      ToolSources,
      'agents',
      new SubAgents({ runs, store: runStore, personas, scope: ctx.scope }),
    );
    ctx.http.routes([
      ...sessionRoutes(sessions),
      ...runRoutes({ runs, store: runStore, sessions, models, personas }),
      ...keepRoutes({
        publicUrl: () => build.publicUrl,
        shares: new Shares({ tables, sessions, store, clock, ids }),
        kept: new KeptAnswers({
          sessions,
          store,
          incidents: ctx.services.maybe(IncidentActions),
          documents: ctx.services.maybe(KnowledgeWriting),
          investigations: ctx.services.maybe(Investigations),
        }),
      }),
    ]);
    ctx.events.on(RunLeft, ({ run_id: id }) => runs.resume(id));
    ctx.events.on(ApprovalSettled, ({ id, owner }) =>
      owner.kind === 'chat' ? runs.decided(owner.ref, id) : undefined,
    );
    return { runs, runStore };
  },
  start(ctx, { runs, runStore }) {
    ctx.scope.task('resume interrupted runs', () => runs.takeOver());
    // Also for runs that the previous generation has released since.
    ctx.scope.interval('look for left runs', lookMs, () => runs.takeOver());
    ctx.scope.interval('delete old runs', hourMs, async () => {
      await runStore.forgetBefore(ctx.clock.now() - keptMs);
    });
  },
});

/** The signal of a run is aborted with the plugin, too. */
const pauseOf =
  (scope: Scope) =>
  (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      scope.timeout('wait for the storage', ms, done);
      signal.addEventListener('abort', done);
    });

/**
 * Returns the principal of a run with its current permissions: a run may wait for days. Undefined
 * if the account is deleted or disabled.
 */
function livePrincipal(
  principal: Principal,
  people: Handle<DirectoryContract>,
): Principal | undefined {
  if ((principal.kind !== 'user' && principal.kind !== 'token') || !people.available) {
    return principal;
  }
  const person = people.get().live(Number(principal.id));
  if (person === undefined || principal.kind === 'token') {
    // A token may do less than its person, and the gate checks both.
    return (
      person && {
        ...principal,
        role: person.role,
        ...(person.selectors !== undefined && { selectors: person.selectors }),
      }
    );
  }
  const { orgs: _then, selectors: _those, ...rest } = principal;
  const { role, grants, orgs, selectors } = person;
  return {
    ...rest,
    role,
    grants,
    ...(orgs !== undefined && { orgs }),
    ...(selectors !== undefined && { selectors }),
  };
}
