import { IncidentChanged, IncidentFired } from 'svc/contracts/alert';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { inTurns } from 'svc/flow';
import { Jobs } from 'svc/jobs';
import { BuildInfo, type PluginContext } from 'svc/sdk';

import type { Plan, Rule, LiveRules } from '../rule/rule.ts';
import { IncidentStore } from './incident-store.ts';
import { viewOf } from './incident-view.ts';
import { Families } from './ledger/families.ts';
import { Ledger, type LedgerParts } from './ledger/ledger.ts';
import type { IncidentTables } from './ledger/tables.ts';
import { NoticeQueue } from './notices.ts';

export interface OpenLedger {
  readonly ledger: Ledger;
  readonly store: IncidentStore;
  readonly notices: NoticeQueue;
}

/**
 * Opens the ledger of incidents with the queue that its notices leave by; emits events for each
 * commit.
 */
export function openLedger(
  ctx: PluginContext,
  liveRules: LiveRules,
  planOf: (rule: Rule) => Plan,
): OpenLedger {
  const { clock, log, services } = ctx;
  const tables = ctx.db<IncidentTables>();
  const store = new IncidentStore(tables);
  const notices = new NoticeQueue({
    jobs: new Jobs(ctx, { tables, process: String(services.use(BuildInfo).startedAt) }),
    dispatcher: services.maybe(NoticeDispatcher),
    store,
    clock,
    log,
  });
  const families = new Families(liveRules, planOf);
  const ledger = new Ledger({
    tables,
    clock,
    log,
    handOver: notices.handOver,
    familyOf: (incident) => families.of(incident),
    changed: tellOf(ctx.events),
  });
  return { ledger, store, notices };
}

const tellOf =
  (events: PluginContext['events']): LedgerParts['changed'] =>
  (incidents, typesByKey) =>
    inTurns(incidents, (incident) => {
      const types = typesByKey.get(incident.dedupe_key);
      if (types === undefined) {
        return;
      }
      if (types.includes('firing')) {
        events.emit(IncidentFired, {
          incident: viewOf(incident),
          reopened: types.includes('reopened'),
        });
      }
      const { id, status } = incident;
      const device_id = incident.scope_type === 'host' ? incident.scope_id : null;
      events.emit(IncidentChanged, { id, status, device_id, events: types });
    });
