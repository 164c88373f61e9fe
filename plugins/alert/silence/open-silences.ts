import { Maintenance } from 'svc/contracts/alert';
import type { SeenBy } from 'svc/query';
import type { PluginContext } from 'svc/sdk';

import type { IncidentTables } from '../incident/ledger/tables.ts';
import { SilenceReach, type SilenceReachParts } from './silence-reach.ts';
import { silenceRoutes } from './silence-routes.ts';
import { silenceSkill } from './silence-skill.ts';
import { SilenceStore, type SilenceTables } from './silence-store.ts';
import { Silences } from './silences.ts';

/** Opens the silences, with their routes and the skill that creates one. */
export function openSilences(
  ctx: PluginContext,
  ledger: SilenceReachParts['ledger'],
  seenBy: SeenBy,
): Silences {
  const silences = new Silences({
    store: new SilenceStore(ctx.db<SilenceTables>()),
    reach: new SilenceReach({ tables: ctx.db<IncidentTables>(), ledger }),
    clock: ctx.clock,
    seenBy,
  });
  ctx.http.routes(silenceRoutes(silences));
  ctx.skills.add(silenceSkill(silences));
  ctx.services.provide(Maintenance, () => ({
    announcedAt: (labels) => silences.announcedAt(labels),
  }));
  return silences;
}
