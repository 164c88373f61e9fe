import type { ApprovalOwner, ApprovalStatus } from 'svc/contracts/approval';
import type { SkillClass } from 'svc/sdk';

export interface RequestRow {
  id: string;
  owner_kind: ApprovalOwner['kind'];
  owner_ref: string;
  session_id: string | null;
  tool_call_id: string | null;
  tool: string;
  class: SkillClass;
  signatures: 1 | 2;
  args: string;
  args_sha256: string;
  target_kind: 'manager' | 'device';
  target_id: number | null;
  target_name: string;
  rendered: string;
  persona: string | null;
  persona_version: number | null;
  requester_kind: string;
  requester_id: string;
  requester_name: string;
  requester_role: string;
  status: ApprovalStatus;
  reason: string | null;
  evidence_id: string | null;
  /** Process that has begun it. */
  process: string | null;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  begun_at: number | null;
  finished_at: number | null;
}

export interface SignatureRow {
  approval_id: string;
  user_id: number;
  name: string;
  decision: 'approved' | 'denied';
  comment: string;
  args_sha256: string;
  ip: string;
  at: number;
}

export interface ApprovalTables {
  approval_requests: RequestRow;
  approval_signatures: SignatureRow;
}
