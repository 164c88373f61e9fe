import type { Generated, Kysely, Selectable } from 'kysely';

export interface NotifyTables {
  notify_channels: {
    id: Generated<number>;
    ref: string;
    name: string;
    name_key: string;
    channel_type: string;
    standing: string | null;
    endpoint: string | null;
    secret: string | null;
    endpoint_shown: string;
    match_severity_min: string;
    match_scope_types: string;
    match_labels: string;
    enabled: number;
    send_resolved: number;
    template: string | null;
    group_by: Generated<string>;
    group_wait: Generated<number>;
    group_interval: Generated<number>;
    repeat_interval: Generated<number>;
    fallback_channel_id: number | null;
    created_at: number;
    updated_at: number;
  };
  notify_states: {
    channel_id: number;
    last_sent_at: number | null;
    last_error: string | null;
    last_error_at: number | null;
    failures: Generated<number>;
    degraded_at: number | null;
    degraded_reason: string | null;
    blocked_until: number | null;
    recent: Generated<string>;
  };
  notify_notices: {
    id: string;
    incident_id: number;
    fire_seq: number;
    kind: string;
    body: string;
    accepted_at: number;
  };
  notify_deliveries: {
    seq: Generated<number>;
    id: string;
    notice_id: string | null;
    channel_id: number;
    channel_name: string;
    incident_id: number;
    fire_seq: number;
    kind: 'firing' | 'resolved' | 'reminder' | 'digest' | 'test';
    severity: number;
    state: 'queued' | 'sending' | 'sent' | 'failed' | 'folded';
    digest: number | null;
    got: Generated<number>;
    unclear: Generated<number>;
    attempts: Generated<number>;
    due_at: number;
    wait_ms: Generated<number>;
    owner: string | null;
    error: string | null;
    accepted_at: number;
    finished_at: number | null;
    recorded: Generated<number>;
    announced: Generated<number>;
    group_key: string;
    delayed_at: number | null;
    delay_recorded: Generated<number>;
  };
  notify_words: { delivery_id: string; title: string; lines: string; path: string };
  notify_page_keys: { ref: string; key: string };
  notify_groups: { channel_id: number; group_key: string; sent_at: number };
}

export type ChannelRow = Selectable<NotifyTables['notify_channels']>;
export type StateRow = Selectable<NotifyTables['notify_states']>;
export type Delivery = Selectable<NotifyTables['notify_deliveries']>;

/** Either the committed state or a transaction. */
export type Notify = Kysely<NotifyTables>;
