import type { Approval } from 'svc/contracts/approval';
import { isSecretName, redactText } from 'svc/probe';
import { timestamp } from 'svc/sdk';

import type { RequestRow, SignatureRow } from './tables.ts';

/** Converts a row for other plugins. */
export const approvalOf = (row: RequestRow): Approval => ({
  id: row.id,
  status: row.status,
  owner: {
    kind: row.owner_kind,
    ref: row.owner_ref,
    ...(row.session_id !== null && { session_id: row.session_id }),
    ...(row.tool_call_id !== null && { tool_call_id: row.tool_call_id }),
  },
  tool: row.tool,
  class: row.class,
  signatures: row.signatures,
  args_sha256: row.args_sha256,
  rendered: redactText(row.rendered),
  args: JSON.parse(row.args) as Approval['args'],
  target: { kind: row.target_kind, id: row.target_id ?? undefined, name: row.target_name },
  persona: row.persona ?? undefined,
  requested_by: {
    kind: row.requester_kind,
    id: row.requester_id,
    name: row.requester_name,
    role: row.requester_role,
  },
  expires_at: row.expires_at,
  created_at: row.created_at,
  reason: row.reason ?? undefined,
});

const instant = (at: number | null): string | null => (at === null ? null : timestamp(at));

/**
 * Converts a row for those who may read it: secrets are hidden, though the signed digest covers
 * them.
 */
export const itemOf = (row: RequestRow) => ({
  visible: true,
  id: row.id,
  status: row.status,
  tool: row.tool,
  class: row.class,
  required_signatures: row.signatures,
  args: hidden(JSON.parse(row.args)) as Record<string, unknown>,
  args_sha256: row.args_sha256,
  rendered: redactText(row.rendered),
  target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
  owner: row.owner_kind,
  run_id: row.owner_ref,
  session_id: row.session_id,
  tool_call_id: row.tool_call_id,
  persona: row.persona,
  persona_version: row.persona_version,
  reason: row.reason,
  result_evidence_id: row.evidence_id,
  requested_by: {
    kind: row.requester_kind,
    id: row.requester_id,
    name: row.requester_name,
    role: row.requester_role,
  },
  created_at: timestamp(row.created_at),
  expires_at: timestamp(row.expires_at),
  decided_at: instant(row.decided_at),
  begun_at: instant(row.begun_at),
  finished_at: instant(row.finished_at),
});

/** Converts a row for everyone else: that it exists, its status and its expiry. */
export const outlineOf = (row: RequestRow): ReturnType<typeof itemOf> => ({
  visible: false,
  id: row.id,
  status: row.status,
  tool: '',
  class: row.class,
  required_signatures: row.signatures,
  args: {},
  args_sha256: '',
  rendered:
    'visible to the requester, to people who may sign it (approval:sign) and to holders of approval:read',
  target: { kind: row.target_kind, id: null, name: '' },
  owner: row.owner_kind,
  run_id: '',
  session_id: null,
  tool_call_id: null,
  persona: null,
  persona_version: null,
  reason: null,
  result_evidence_id: null,
  requested_by: { kind: '', id: '', name: '', role: '' },
  created_at: timestamp(row.created_at),
  expires_at: timestamp(row.expires_at),
  decided_at: instant(row.decided_at),
  begun_at: instant(row.begun_at),
  finished_at: instant(row.finished_at),
});

export const signatureOf = ({
  user_id,
  name,
  decision,
  comment,
  args_sha256,
  ip,
  at,
}: SignatureRow) => ({
  user_id,
  name,
  decision,
  comment,
  args_sha256,
  method: ip.startsWith('im:') ? ('chat' as const) : ('session' as const),
  at: timestamp(at),
});

function hidden(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    return isSecretName(name) ? '[redacted]' : redactText(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) => hidden(item, name));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([field, item]) => [field, hidden(item, field)]))
    : value;
}
