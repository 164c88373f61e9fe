import type { Clock, Ids, Settings, Tables } from 'svc/sdk';

import { channelStore } from './channel-store.ts';
import { nameKey } from './channels.ts';
import { standingChannels, standingOf } from './standing.ts';
import type { NotifyTables } from './tables.ts';

export interface StandingParts {
  readonly tables: Tables<NotifyTables>;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Makes a channel for each setting that has an address now and had none before; one that was made stays, filters and all. */
export async function bringStanding({ tables, settings, clock, ids }: StandingParts): Promise<void> {
  const missing: (typeof standingChannels)[number][] = [];
  for (const standing of standingChannels) {
    const isSet = standingOf(settings, standing.setting).endpoint !== '';
    if (isSet && (await channelStore(tables.read).standing(standing.setting)) === undefined) {
      missing.push(standing);
    }
  }
  if (missing.length === 0) {
    return;
  }
  await tables.write(async (tx) => {
    const store = channelStore(tx);
    for (const { setting, type, name: wanted } of missing) {
      if ((await store.standing(setting)) !== undefined) {
        continue;
      }
      const name = (await store.isTaken(nameKey(wanted))) ? `${wanted} (${setting})` : wanted;
      const now = clock.now();
      await store.insert({
        ...{ ref: ids.uuid(), name, name_key: nameKey(name), channel_type: type, standing: setting, endpoint_shown: '', match_severity_min: '' },
        ...{ match_scope_types: '[]', match_labels: '{}', enabled: 1, send_resolved: 1, created_at: now, updated_at: now },
      });
    }
  });
}
