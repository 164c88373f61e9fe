import type { Tool, ToolCall } from 'svc/contracts/skill';
import { redactValue } from 'svc/probe';
import type { AuditTrailContract, Clock, Handle, Tables } from 'svc/sdk';

import type { SkillTables } from './tables.ts';
import type { Target } from './target.ts';

export interface TrailParts {
  readonly tables: Tables<SkillTables>;
  readonly trail: Handle<AuditTrailContract>;
  readonly clock: Clock;
}

export interface Execution {
  readonly id: string;
  readonly tool: Tool;
  readonly params: Readonly<Record<string, unknown>>;
  readonly target: Target;
  readonly call: ToolCall;
}

export interface ExecutionEnd {
  readonly status: 'success' | 'failure' | 'denied';
  readonly error?: string | undefined;
  readonly duration_ms: number;
}

/**
 * Records executions that no other row covers: the route writes one for a manual call, the edge
 * plugin for what runs there.
 */
export class ExecutionTrail {
  readonly #parts: TrailParts;

  constructor(parts: TrailParts) {
    this.#parts = parts;
  }

  /** No row, no change. */
  begin(execution: Execution): Promise<void> {
    return execution.tool.class === 'safe'
      ? Promise.resolve()
      : this.#append(execution, 'success', undefined, { phase: 'begin' });
  }

  end(execution: Execution, { status, error, duration_ms }: ExecutionEnd): Promise<void> {
    return this.#append(execution, status, error, { phase: 'end', duration_ms });
  }

  async #append(
    execution: Execution,
    status: ExecutionEnd['status'],
    error: string | undefined,
    more: object,
  ): Promise<void> {
    const { tables, trail, clock } = this.#parts;
    const { id, tool, params, target, call } = execution;
    if (
      tool.source === 'edge' ||
      (call.origin === 'api' && call.approval === undefined) ||
      !trail.available
    ) {
      return;
    }
    const { principal, origin, persona, approval } = call;
    await tables.write((tx) =>
      trail.get().append(tx, {
        occurredAt: clock.now(),
        principal,
        ip: '',
        userAgent: '',
        action: 'skill:execute',
        status,
        httpStatus: 0,
        error,
        requestId: id,
        before: null,
        resourceType: 'skill',
        resourceId: tool.key,
        after: {
          class: tool.class,
          params: redactValue(params),
          device_id: target.shown.id ?? null,
          origin,
          persona: persona?.name ?? null,
          approval_id: approval ?? null,
          execution_id: id,
          ...more,
        },
      }),
    );
  }
}
