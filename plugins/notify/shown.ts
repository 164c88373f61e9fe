import { type Settings, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { mask, shownEndpoint } from './address.ts';
import type { Kinds } from './channel-types.ts';
import { channelOf } from './channel.ts';
import type { ChannelWithState } from './channel-store.ts';
import type { ChannelShown } from './schema.ts';
import { standingOf } from './standing.ts';

export type Shown = Static<typeof ChannelShown>;

/** A channel as the outside sees it: of its address the host, of its secret that there is one. */
export function shownChannel(row: ChannelWithState, kinds: Kinds, settings: Pick<Settings, 'get'>): Shown {
  const channel = channelOf(row);
  const standing = channel.standing === undefined ? undefined : standingOf(settings, channel.standing);
  const instant = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));
  return {
    id: channel.id,
    name: channel.name,
    channel_type: channel.type,
    endpoint: standing === undefined ? row.endpoint_shown : standing.endpoint === '' ? '' : shownEndpoint(standing.endpoint, kinds.find(channel.type)),
    secret: (standing === undefined ? row.secret !== null : standing.secret !== '') ? mask : null,
    match_severity_min: channel.severityMin,
    match_scope_types: [...channel.scopeTypes],
    match_labels: { ...channel.labels },
    enabled: channel.enabled,
    send_resolved: channel.sendResolved,
    template: channel.template ?? null,
    source: standing === undefined ? 'api' : 'settings',
    queued: row.queued,
    last_sent_at: instant(row.last_sent_at),
    last_error: row.last_error,
    last_error_at: instant(row.last_error_at),
    degraded: row.degraded_at !== null,
    degraded_reason: row.degraded_reason,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}
