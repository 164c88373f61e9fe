import type { IncidentStatus, Severity } from '../kit/status.tsx';

/**
 * Resources as the public API returns them; only the fields that pages show. Shapes used by one
 * area's pages are declared there.
 */
export interface Incident {
  readonly id: number;
  readonly rule: string;
  readonly rule_id: number | null;
  readonly rule_name: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  readonly scope_type: 'host' | 'global' | 'monitoring_pipeline';
  readonly scope_id: string;
  readonly device_id: string | null;
  readonly device_name: string | null;
  readonly summary: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runbook_url: string;
  readonly value: number | null;
  readonly worst_value: number | null;
  readonly firing_instances: number;
  readonly threshold: number | null;
  readonly event_count: number;
  readonly fired_at: string;
  readonly last_fired_at: string;
  readonly acknowledged_at: string | null;
  readonly acknowledged_by: string | null;
  readonly silenced_until: string | null;
  readonly resolved_at: string | null;
  readonly updated_at: string;
}

export interface Device {
  readonly id: number;
  readonly display_name: string;
  readonly hostname: string | null;
  readonly os: string | null;
  readonly os_version: string | null;
  readonly arch: string | null;
  readonly kernel_version: string | null;
  readonly ip_address: string | null;
  readonly cpu_count: number | null;
  readonly mem_total_bytes: number | null;
  readonly disk_total_bytes: number | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
  readonly online: boolean;
  readonly last_seen_at: string;
  readonly node_id: number | null;
  readonly updated_at: string;
}

export interface AuditRow {
  readonly id: number;
  readonly occurred_at: string;
  readonly actor: {
    readonly type: string;
    readonly id: string;
    readonly name: string | null;
    readonly email: string | null;
  };
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly status: 'success' | 'failure' | 'denied';
  readonly ip: string;
  readonly user_agent: string;
  readonly http_status: number;
  readonly error: string | null;
  readonly request_id: string;
  readonly changes: { readonly before: unknown; readonly after: unknown } | null;
}
