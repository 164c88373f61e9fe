import type { Severity } from 'svc/contracts/notify';
import { formatDuration } from 'svc/query';
import { type Settings, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { mask, shownEndpoint } from './address.ts';
import type { ChannelTypeRegistry } from '../types/channel-types.ts';
import type { ChannelWithState } from '../store/channel-store.ts';
import type { Grouping } from '../message/grouping.ts';
import type { ChannelShown } from './schema.ts';
import { addressOfSetting } from './settings-channels.ts';
import type { ChannelRow } from '../store/tables.ts';

export type ScopeType = 'host' | 'global' | 'monitoring_pipeline';

/** A channel without its secrets. */
export interface Channel {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  /** The setting its address comes from. */
  readonly setting: string | undefined;
  readonly severityMin: Severity | '';
  readonly scopeTypes: readonly ScopeType[];
  readonly labels: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  readonly sendResolved: boolean;
  readonly template: string | undefined;
  readonly grouping: Grouping;
  /** The channel that gets what this one cannot be sent. */
  readonly fallback: number | undefined;
}

export const channelOf = (row: ChannelRow): Channel => ({
  id: row.id,
  name: row.name,
  type: row.channel_type,
  setting: row.standing ?? undefined,
  severityMin: row.match_severity_min as Channel['severityMin'],
  scopeTypes: JSON.parse(row.match_scope_types) as ScopeType[],
  labels: JSON.parse(row.match_labels) as Record<string, string>,
  enabled: row.enabled === 1,
  sendResolved: row.send_resolved === 1,
  template: row.template ?? undefined,
  grouping: {
    by: JSON.parse(row.group_by) as string[],
    waitMs: row.group_wait,
    intervalMs: row.group_interval,
    repeatMs: row.repeat_interval,
  },
  fallback: row.fallback_channel_id ?? undefined,
});

export type Shown = Static<typeof ChannelShown>;

/** A channel as the outside sees it: of its address the host, of its secret that there is one. */
export function shownChannel(
  row: ChannelWithState,
  types: ChannelTypeRegistry,
  settings: Pick<Settings, 'get'>,
): Shown {
  const channel = channelOf(row);
  const fromSetting =
    channel.setting === undefined ? undefined : addressOfSetting(settings, channel.setting);
  const instant = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));
  return {
    id: channel.id,
    name: channel.name,
    channel_type: channel.type,
    endpoint:
      fromSetting === undefined
        ? row.endpoint_shown
        : fromSetting.endpoint === ''
          ? ''
          : shownEndpoint(fromSetting.endpoint, types.find(channel.type)),
    secret: (fromSetting === undefined ? row.secret !== null : fromSetting.secret !== '')
      ? mask
      : null,
    match_severity_min: channel.severityMin,
    match_scope_types: [...channel.scopeTypes],
    match_labels: { ...channel.labels },
    enabled: channel.enabled,
    send_resolved: channel.sendResolved,
    template: channel.template ?? null,
    group_by: [...channel.grouping.by],
    group_wait: formatDuration(channel.grouping.waitMs),
    group_interval: formatDuration(channel.grouping.intervalMs),
    repeat_interval: formatDuration(channel.grouping.repeatMs),
    fallback_channel_id: channel.fallback ?? null,
    source: fromSetting === undefined ? 'api' : 'settings',
    queued: row.queued,
    delayed: row.delayed,
    last_sent_at: instant(row.last_sent_at),
    last_error: row.last_error,
    last_error_at: instant(row.last_error_at),
    degraded: row.degraded_at !== null,
    degraded_reason: row.degraded_reason,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}
