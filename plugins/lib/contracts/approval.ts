import { defineEvent, defineService, type Principal, type SkillClass } from 'svc/sdk';

export type ApprovalStatus =
  | 'pending'
  | 'partially_signed'
  | 'approved'
  | 'executing'
  | 'executed'
  | 'failed'
  | 'unknown'
  | 'denied'
  | 'expired'
  | 'cancelled'
  | 'superseded';

/** Plugin that executes an approved call: it is informed of the decision and asks for `begin`. */
export interface ApprovalOwner {
  readonly kind: 'chat' | 'skill' | 'mcp';
  /** The run of a chat, the execution of a skill. */
  readonly ref: string;
  readonly session_id?: string;
  readonly tool_call_id?: string;
}

export interface ApprovalAsk {
  readonly owner: ApprovalOwner;
  readonly tool: string;
  readonly class: SkillClass;
  readonly signatures: 1 | 2;
  readonly args: Readonly<Record<string, unknown>>;
  readonly target: {
    readonly kind: 'manager' | 'device';
    readonly id: number | undefined;
    readonly name: string;
  };
  /** Text of what will run, secrets hidden; the digest covers them all the same. */
  readonly rendered: string;
  readonly persona: string | undefined;
  readonly requested_by: {
    readonly kind: string;
    readonly id: string;
    readonly name: string;
    readonly role: string;
  };
}

export interface Approval extends ApprovalAsk {
  readonly id: string;
  readonly status: ApprovalStatus;
  /** Hash of the canonical arguments, tool and target. */
  readonly args_sha256: string;
  readonly expires_at: number;
  readonly created_at: number;
  /** Why it was denied or failed, for people and for the model. */
  readonly reason: string | undefined;
}

export interface ApprovalBook {
  /**
   * Requests an approval; may join a write of the caller, so that question and approval are stored
   * together. An open one of the same owner and call is superseded.
   */
  request(ask: ApprovalAsk): Promise<Approval>;
  get(id: string): Promise<Approval | undefined>;
  /** Open ones and those decided lately, of one owner. */
  of(kind: ApprovalOwner['kind'], ref: string): Promise<readonly Approval[]>;
  /**
   * approved → executing, once: checks that the arguments are those that were signed, and the gate again with the roles of now.
   * Throws conflict when it is not approved any more, forbidden when policy has changed meanwhile.
   */
  begin(id: string, args: Readonly<Record<string, unknown>>): Promise<Approval>;
  /** executing → executed or failed. What never gets here is `unknown` after a restart, and is not tried again. */
  finish(
    id: string,
    outcome: { readonly ok: boolean; readonly reason?: string; readonly evidence_id?: string },
  ): Promise<void>;
  /** Cancels the approval because its run was cancelled. */
  cancel(id: string, reason: string): Promise<void>;
  /** Returns approvals that await signatures, oldest first. */
  open(): Promise<readonly Approval[]>;
  /** Why a signature of this person would not count now; undefined: it would. */
  objection(id: string, userId: number): Promise<string | undefined>;
}

/** Decision of a person on an approval. */
export interface Word {
  readonly principal: Principal;
  /** Origin: an address, or `im:` and the platform of a chat. */
  readonly ip: string;
  /** Hash of the arguments that they looked at. */
  readonly args_sha256: string;
  readonly comment: string;
}

/** Decisions of people who are signed in, or whose account is linked to a chat platform. Each is one transaction, in which everything is looked at again. */
export interface ApprovalDecisions {
  approve(id: string, word: Word): Promise<Approval>;
  deny(id: string, word: Word): Promise<Approval>;
}

export const Approvals = defineService<ApprovalBook>('approval.book');
export const ApprovalDecisions = defineService<ApprovalDecisions>('approval.decisions');

/**
 * Fired after the commit: no signature is awaited any more. Fired again after a restart for calls
 * that were approved and not begun.
 */
export const ApprovalSettled =
  defineEvent<Pick<Approval, 'id' | 'status' | 'owner' | 'target' | 'requested_by'>>(
    'approval.settled',
  );

/** Fired after the commit: signatures are awaited, and people may be notified. */
export const ApprovalRequested = defineEvent<Approval>('approval.requested');
