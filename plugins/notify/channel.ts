import type { Severity } from './contract.ts';
import type { ChannelRow } from './tables.ts';

export type ScopeType = 'host' | 'global' | 'monitoring_pipeline';

/** A channel without its secrets. */
export interface Channel {
  readonly id: number;
  readonly ref: string;
  readonly name: string;
  readonly type: string;
  /** The setting its address comes from. */
  readonly standing: string | undefined;
  readonly severityMin: Severity | '';
  readonly scopeTypes: readonly ScopeType[];
  readonly labels: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  readonly sendResolved: boolean;
  readonly template: string | undefined;
  readonly updatedAt: number;
}

export const channelOf = (row: ChannelRow): Channel => ({
  id: row.id,
  ref: row.ref,
  name: row.name,
  type: row.channel_type,
  standing: row.standing ?? undefined,
  severityMin: row.match_severity_min as Channel['severityMin'],
  scopeTypes: JSON.parse(row.match_scope_types) as ScopeType[],
  labels: JSON.parse(row.match_labels) as Record<string, string>,
  enabled: row.enabled === 1,
  sendResolved: row.send_resolved === 1,
  template: row.template ?? undefined,
  updatedAt: row.updated_at,
});
