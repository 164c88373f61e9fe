import { IncidentActions, Incidents } from 'svc/contracts/alert';
import { Mentions } from 'svc/contracts/mention';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { NoticeDispatcher, NoticeSource } from 'svc/contracts/notify';
import type { SeenBy } from 'svc/query';
import type { PluginContext } from 'svc/sdk';

import type { Plan, Rule, LiveRules } from '../rule/rule.ts';
import type { NameOfDevice } from '../template/rendering.ts';
import { Backgrounds } from './background.ts';
import type { GateInputs } from './gates/review.ts';
import { incidentRoutes } from './incident-routes.ts';
import { incidentSkills } from './incident-skills.ts';
import type { IncidentStore } from './incident-store.ts';
import { IncidentReader } from './incident-view.ts';
import type { InstanceReader } from './instance-reader.ts';
import type { Ledger } from './ledger/ledger.ts';
import { incidentMention } from './mention.ts';
import { recordOutcomes } from './notices.ts';
import { operationRoutes } from './operation-routes.ts';
import { Operations } from './operations.ts';
import { Why } from './why.ts';

export interface OfferedIncidents {
  readonly ledger: Ledger;
  readonly store: IncidentStore;
  readonly instances: InstanceReader;
  readonly liveRules: LiveRules;
  readonly planOf: (rule: Rule) => Plan;
  readonly gateInputs: () => GateInputs;
  readonly silencedBy: GateInputs['silencedBy'];
  readonly seenBy: SeenBy;
  readonly nameOf: NameOfDevice;
}

/** Offers incidents to people, by routes, skills and mentions, and to other plugins, by services. */
export function offerIncidents(ctx: PluginContext, parts: OfferedIncidents): void {
  const { clock, ids, services } = ctx;
  const { store, instances, liveRules, planOf, seenBy } = parts;
  const dispatcher = services.maybe(NoticeDispatcher);
  const incidents = new IncidentReader(store, instances, clock, {
    get: (id) => liveRules.get(id),
    planOf,
  });
  const operations = new Operations({ ...parts, clock });
  services.provide(Incidents, () => incidents);
  services.provide(IncidentActions, () => operations);
  offerToNotices(ctx, parts);
  ctx.extend.contribute(Mentions, 'incident', incidentMention(incidents, seenBy));
  incidentSkills({ incidents, operations, seenBy, dispatcher, clock, ids }).forEach((skill) =>
    ctx.skills.add(skill),
  );
  ctx.http.routes([
    ...incidentRoutes({ ...parts, why: new Why(store, dispatcher) }),
    ...operationRoutes(operations),
  ]);
}

/** Offers the sender of notices what it needs to ask and report about their incidents. */
function offerToNotices(
  { services, clock, log }: PluginContext,
  { ledger, store, instances, liveRules, planOf, silencedBy }: OfferedIncidents,
): void {
  const backgrounds = new Backgrounds({
    clock,
    log,
    ledger,
    store,
    liveRules,
    metrics: services.maybe(MetricsQueries),
    planOf,
    instances,
    silencedBy,
  });
  services.provide(NoticeSource, () => ({
    record: (outcomes) => recordOutcomes(outcomes, { store, ledger, now: clock.now() }),
    pinning: async (channelId) => liveRules.pinning(channelId),
    burning: (incidents) => backgrounds.burning(incidents),
    background: (incident) => backgrounds.of(incident),
    instances: (incident, page) => backgrounds.instances(incident, page),
    audible: (incident) => backgrounds.audible(incident),
  }));
}
