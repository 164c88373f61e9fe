import type { Approval, ApprovalBook } from 'svc/contracts/approval';
import type { DeviceDirectory } from 'svc/contracts/device';
import type { DirectoryContract } from 'svc/contracts/iam';
import type {
  CallPlan,
  SkillExecutor,
  SkillRunner,
  ToolCall,
  ToolOutcome,
} from 'svc/contracts/skill';
import { type Handle, isSvcError, type Logger, messageOf, type Principal } from 'svc/sdk';

import { errors } from './errors.ts';

export interface ExecutionParts {
  readonly runner: SkillRunner;
  readonly approvals: Handle<ApprovalBook>;
  readonly people: Handle<DirectoryContract>;
  readonly devices: Handle<DeviceDirectory>;
  readonly uuid: () => string;
  readonly log: Logger;
}

/** Calls by hand: run at once, or opened as an approval and run once it is signed. */
export class Executions implements SkillExecutor {
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  async execute(call: ToolCall): Promise<ToolOutcome | { readonly approval_id: string }> {
    const { runner } = this.#parts;
    const plan = await runner.plan(call);
    const { answer } = plan;
    return answer.verdict === 'approval'
      ? { approval_id: await this.#ask(call, plan, answer.signatures) }
      : await runner.run(call);
  }

  /**
   * Runs what was signed once; if its target is unreachable it stays approved, and is tried at the
   * next announcement.
   */
  async settle(id: string, signal: AbortSignal): Promise<void> {
    const { approvals, devices, log } = this.#parts;
    const book = approvals.get();
    const approval = await book.get(id);
    const principal = approval?.status === 'approved' ? this.#requester(approval) : undefined;
    if (!approval || !principal) {
      return;
    }
    const { kind, id: deviceId } = approval.target;
    if (
      kind === 'device' &&
      (!devices.available || (await devices.get().onlineEdge(deviceId!)) === undefined)
    ) {
      log.info(
        { approval_id: id, device_id: deviceId },
        'approved call is waiting for its device to come online',
      );
      return;
    }
    try {
      await book.begin(id, approval.args);
    } catch (error) {
      // Another has begun it, or the policy has changed: the approval says which.
      log.info({ approval_id: id, cause: messageOf(error) }, 'approved call not started');
      return;
    }
    const call: ToolCall = {
      principal,
      key: approval.tool,
      params: approval.args,
      device_id: deviceId,
      origin: 'api',
      approval: id,
      idempotencyKey: id,
      timeoutMs: approvedMs,
      signal,
    };
    await book.finish(id, await this.#outcome(call));
  }

  async #outcome(call: ToolCall): Promise<{ ok: boolean; reason?: string; evidence_id?: string }> {
    try {
      const { status, error, evidence } = await this.#parts.runner.run(call);
      return {
        ok: status === 'ok',
        ...(error !== undefined && { reason: error }),
        ...(evidence && { evidence_id: evidence.id }),
      };
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      return { ok: false, reason: error.message };
    }
  }

  async #ask(
    call: ToolCall,
    { tool, params, target, rendered }: CallPlan,
    signatures: 1 | 2,
  ): Promise<string> {
    const { approvals, uuid } = this.#parts;
    if (!approvals.available) {
      throw errors.no_approvals({ key: tool.key });
    }
    const { kind, id, name, email, role } = call.principal;
    const { id: approval } = await approvals.get().request({
      owner: { kind: 'skill', ref: uuid() },
      tool: tool.key,
      class: tool.class,
      signatures,
      args: params,
      target,
      rendered,
      persona: undefined,
      requested_by: { kind, id, name: name ?? email ?? id, role },
    });
    return approval;
  }

  /**
   * Returns the requester as the account is now; undefined if accounts cannot be queried, or the
   * account is gone, which the gate reports better.
   */
  #requester({ requested_by: { kind, id, name, role } }: Approval): Principal | undefined {
    if (kind === 'operator') {
      return { kind, id, name, role, grants: ['*'] };
    }
    const { people } = this.#parts;
    if (!people.available) {
      return undefined;
    }
    const person = people.get().live(Number(id));
    const {
      email,
      role: roleNow,
      grants,
      orgs,
      selectors,
    } = person ?? { email: '', role, grants: [], orgs: [], selectors: [] };
    return {
      kind: 'user',
      id,
      name,
      email,
      role: roleNow,
      grants,
      ...(orgs && { orgs }),
      ...(selectors && { selectors }),
    };
  }
}

/** No request waits for it. */
const approvedMs = 600_000;
