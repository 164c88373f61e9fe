import { createHash } from 'node:crypto';

import type { EdgeCapabilities, EdgeFleet, FleetSkills, SkillRequest } from 'svc/contracts/edge';
import { type OfferedSkill, SkillAnswer, SkillList, type SkillOrder } from 'svc/edge-protocol';
import { redactValue } from 'svc/probe';
import {
  type AuditTrailContract,
  type Clock,
  covers,
  type Handle,
  type Ids,
  isSvcError,
  messageOf,
  type Principal,
  type Tables,
} from 'svc/sdk';

import { namesOnly, readsArguments } from './arguments.ts';
import { errors } from './errors.ts';
import { shapeCheck } from './record/shape-check.ts';
import type { EdgeTables } from './record/tables.ts';

export interface SkillParts {
  readonly fleet: EdgeFleet;
  readonly tables: Tables<EdgeTables>;
  readonly trail: Handle<AuditTrailContract>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

interface Execution {
  readonly edgeId: number;
  readonly key: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly id: string;
  readonly approval: string | undefined;
}

interface Outcome {
  readonly status: 'success' | 'failure' | 'denied';
  readonly error?: string;
  readonly after: Readonly<Record<string, unknown>>;
}

const [listMs, usualMs, graceMs, maxMs] = [10_000, 30_000, 5_000, 600_000];
const action = 'skill:execute';

/** Skills of machines, for those who may use them; each execution is in the trail. What an edge says of its skills is an outsider's word. */
export class RemoteSkills implements FleetSkills {
  readonly #parts: SkillParts;
  readonly #isList = shapeCheck<SkillList>(SkillList);
  readonly #isAnswer = shapeCheck<SkillAnswer>(SkillAnswer);
  /** Skills listed by each connection; the next one may be of another version. */
  readonly #known = new WeakMap<EdgeCapabilities, readonly OfferedSkill[]>();

  constructor(parts: SkillParts) {
    this.#parts = parts;
  }

  async list(edgeId: number, signal?: AbortSignal): Promise<readonly OfferedSkill[]> {
    const { fleet } = this.#parts;
    const capabilities = fleet.capabilities(edgeId);
    const answer: unknown = await fleet.call(
      edgeId,
      'skill_list',
      {},
      { timeoutMs: listMs, signal },
    );
    if (!this.#isList(answer)) {
      throw errors.skill_list_answer({ edgeId });
    }
    if (capabilities) {
      this.#known.set(capabilities, answer.skills);
    }
    return answer.skills;
  }

  async execute(
    edgeId: number,
    key: string,
    params: Readonly<Record<string, unknown>>,
    request: SkillRequest,
  ): Promise<SkillAnswer> {
    const { clock, ids } = this.#parts;
    const { principal, signal } = request;
    const execution = {
      edgeId,
      key,
      params,
      principal,
      approval: request.approval,
      id: executionId(edgeId, request) ?? ids.uuid(),
    };
    const from = clock.monotonic();
    const took = (): number => Math.round(clock.monotonic() - from);
    try {
      const skill = await this.#find(edgeId, key, signal);
      requireGrant(skill, principal, request.approval);
      if (skill.class !== 'safe') {
        // No row, no change.
        await this.#record(execution, {
          status: 'success',
          after: { class: skill.class, phase: 'begin' },
        });
      }
      const answer = await this.#ask(execution, skill, request);
      const failure =
        answer.status === 'ok' ? {} : { error: answer.error?.message ?? answer.status };
      const after = {
        class: skill.class,
        phase: 'end',
        status: answer.status,
        duration_ms: took(),
      };
      await this.#record(execution, {
        status: answer.status === 'ok' ? 'success' : 'failure',
        ...failure,
        after,
      });
      return answer;
    } catch (error) {
      const denied = isSvcError(error) && error.code === 'forbidden';
      await this.#record(execution, {
        status: denied ? 'denied' : 'failure',
        error: messageOf(error),
        after: { phase: 'end', duration_ms: took() },
      });
      throw error;
    }
  }

  async #find(edgeId: number, key: string, signal: AbortSignal | undefined): Promise<OfferedSkill> {
    const capabilities = this.#parts.fleet.capabilities(edgeId);
    const known = capabilities && this.#known.get(capabilities)?.find((skill) => skill.key === key);
    const skill = known ?? (await this.list(edgeId, signal)).find((one) => one.key === key);
    if (!skill) {
      throw errors.no_skill({ edgeId, key });
    }
    return skill;
  }

  async #ask(
    { edgeId, key, params, principal, id }: Execution,
    skill: OfferedSkill,
    { timeoutMs: wished = usualMs, signal }: SkillRequest,
  ): Promise<SkillAnswer> {
    const changes = skill.class !== 'safe';
    const timeoutMs = Math.max(1, Math.min(maxMs, Math.floor(wished)));
    const order: SkillOrder = { key, params, timeout_ms: timeoutMs, audit_id: id };
    const call = { timeoutMs: timeoutMs + graceMs, signal, ...(changes && { idempotencyKey: id }) };
    const answer: unknown = await this.#parts.fleet.call(
      edgeId,
      changes ? 'skill_change' : 'skill_execute',
      order,
      call,
    );
    if (!this.#isAnswer(answer)) {
      throw errors.skill_answer({ edgeId });
    }
    // By the field and not by the key: another version, or a plugin of the owner, may list processes elsewhere.
    return readsArguments(principal) ? answer : { ...answer, result: namesOnly(answer.result) };
  }

  async #record(
    { edgeId, key, params, principal, id, approval }: Execution,
    { status, error, after }: Outcome,
  ): Promise<void> {
    const { fleet, tables, trail, clock } = this.#parts;
    await tables.write(async (tx) => {
      if (trail.available) {
        await trail.get().append(tx, {
          occurredAt: clock.now(),
          principal,
          ip: '',
          userAgent: '',
          action,
          status,
          httpStatus: 0,
          error,
          requestId: id,
          before: null,
          resourceType: 'edge',
          resourceId: String(edgeId),
          after: {
            skill: key,
            device_id: fleet.get(edgeId)?.device_id ?? null,
            params: redactValue(params),
            execution_id: id,
            ...(approval !== undefined && { approval_id: approval }),
            ...after,
          },
        });
      }
    });
  }
}

/** The same for the same wish of the same person, so that the edge knows it again; apart from those of all others. */
function executionId(
  edgeId: number,
  { principal, idempotencyKey: key }: SkillRequest,
): string | undefined {
  return key === undefined
    ? undefined
    : createHash('sha256')
        .update(JSON.stringify([principal.kind, principal.id, edgeId, key]))
        .digest('base64url');
}

/**
 * Checks the permission: safe skills take that for devices or for this skill; those that make
 * changes take the whole area.
 */
function requireGrant(
  { key, class: kind }: OfferedSkill,
  { grants, role }: Principal,
  approval: string | undefined,
): void {
  const may = (wanted: string): boolean => grants.some((grant) => covers(grant, wanted));
  if (kind === 'dangerous' && approval === undefined) {
    throw errors.two_approvals({ key });
  }
  const wanted = kind === 'safe' ? ['device:read', `skill:${key}`] : ['skill:*'];
  if (!wanted.some(may)) {
    throw errors.skill_not_allowed({ role, key, kind, wanted: wanted.join(' or ') });
  }
}
