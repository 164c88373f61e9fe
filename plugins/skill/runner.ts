import { isDeepStrictEqual } from 'node:util';

import type { ApprovalBook } from 'svc/contracts/approval';
import type { DeviceDirectory } from 'svc/contracts/device';
import type { CallOrigin, GateAnswer, GateContract } from 'svc/contracts/gate';
import type { CallPlan, SkillRunner, Tool, ToolCall, ToolOutcome } from 'svc/contracts/skill';
import type { ScopeSource } from 'svc/query';
import {
  type Clock,
  type Counter,
  type Handle,
  type Ids,
  isSvcError,
  type Logger,
  messageOf,
  nearest,
  SvcError,
  withDeadline,
} from 'svc/sdk';

import { errors } from './errors.ts';
import type { Execution, ExecutionTrail } from './execution-trail.ts';
import { aboutTools, type OwnTools } from './own-tools.ts';
import type { ParamsCheck } from './params-check.ts';
import type { Presenter } from './presenter.ts';
import type { Registry, Runnable } from './registry.ts';
import { guardedText, hiddenPart } from './guard/result-guard.ts';
import { rendered, type Target, targetOf } from './target.ts';

export interface RunnerParts {
  readonly registry: Registry;
  readonly own: OwnTools;
  readonly gate: GateContract;
  readonly check: ParamsCheck;
  readonly presenter: Presenter;
  readonly trail: ExecutionTrail;
  readonly devices: Handle<DeviceDirectory>;
  readonly scopes: Handle<ScopeSource>;
  readonly approvals: Handle<ApprovalBook>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly runs: Counter;
}

interface Prepared extends Omit<Execution, 'id'> {
  readonly runnable: Runnable;
  readonly answer: GateAnswer;
}

const [usualMs, maxMs] = [30_000, 600_000];
const longestError = 4_000;
/** Errors about a wrong or forbidden question, which are passed to the caller unchanged. */
/** Origins of calls whose results agents cite to people. */
const isTold: ReadonlySet<CallOrigin> = new Set(['chat', 'background', 'im']);
const refusals = new Set(['invalid_argument', 'forbidden', 'not_found']);

export class Runner implements SkillRunner {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  async plan(call: ToolCall): Promise<CallPlan> {
    const { tool, params, target, answer } = await this.#prepare(call);
    return { tool, params, answer, target: target.shown, rendered: rendered(tool, params, target) };
  }

  async run(call: ToolCall): Promise<ToolOutcome> {
    const prepared = await this.#prepare(call);
    await this.#admit(prepared);
    const { clock, ids, trail } = this.#parts;
    const execution: Execution = { ...prepared, id: ids.uuid() };
    const from = clock.monotonic();
    const took = (): number => Math.round(clock.monotonic() - from);
    await trail.begin(execution);
    try {
      const outcome = await this.#carryOut(execution, prepared.runnable, took);
      await trail.end(execution, {
        status: outcome.status === 'ok' ? 'success' : 'failure',
        error: outcome.error,
        duration_ms: outcome.duration_ms,
      });
      this.#parts.runs.add(1, { class: prepared.tool.class, status: outcome.status });
      return outcome;
    } catch (error) {
      const denied = isSvcError(error) && error.code === 'forbidden';
      await trail.end(execution, {
        status: denied ? 'denied' : 'failure',
        error: messageOf(error),
        duration_ms: took(),
      });
      this.#parts.runs.add(1, { class: prepared.tool.class, status: 'refused' });
      throw error;
    }
  }

  /**
   * Runs a safe tool for another one, with all that a call goes through but its presentation: the
   * result of the other one is presented.
   */
  async look(call: ToolCall): Promise<unknown> {
    const prepared = await this.#prepare(call);
    await this.#admit(prepared);
    const { tool, runnable } = prepared;
    if (tool.class !== 'safe') {
      throw errors.look_changes({ key: tool.key });
    }
    const signal = call.signal ?? new AbortController().signal;
    return this.#invoke({ ...prepared, id: this.#parts.ids.uuid() }, runnable, usualMs, signal);
  }

  async #prepare(call: ToolCall): Promise<Prepared> {
    const { registry, check, gate } = this.#parts;
    const skills = await registry.shownTo(call.principal);
    const found = skills.runnable(call.key);
    if (!found) {
      const near = nearest(
        call.key,
        skills.tools().map(({ key }) => key),
      );
      throw errors.no_tool({
        key: call.key.slice(0, 100),
        detail: near === undefined ? '' : `; perhaps ${near} is meant`,
      });
    }
    const { tool, runnable } = found;
    const { principal, origin, persona, tainted } = call;
    const question = {
      principal,
      tool,
      origin,
      persona,
      ...(tainted !== undefined && { tainted }),
    };
    // A caller without permission learns nothing of its params, nor of devices.
    const right = gate.decide(question);
    if (right.verdict === 'refused') {
      throw refusedBy(right.message);
    }
    const params = check.fit(tool, call.params);
    const target = await targetOf(tool, call, this.#parts);
    const answer = gate.decide({ ...question, args: params, ...targetIn(target.gated) });
    return { tool, runnable, params, target, call, answer: signable(answer, tool, params) };
  }

  async #admit({ tool, params, answer, call, target }: Prepared): Promise<void> {
    if (answer.verdict === 'refused') {
      throw refusedBy(answer.message);
    }
    if (call.approval !== undefined) {
      const { approvals } = this.#parts;
      const approval = approvals.available ? await approvals.get().get(call.approval) : undefined;
      const covers =
        approval?.status === 'executing' &&
        approval.tool === tool.key &&
        approval.target.id === target.shown.id &&
        // With the defaults of now: one that its server has added since was signed by nobody.
        isDeepStrictEqual(approval.args, params) &&
        (answer.verdict === 'run' || approval.signatures >= answer.signatures);
      if (!covers) {
        throw errors.approval_mismatch({ approval: call.approval, key: tool.key });
      }
    } else if (answer.verdict === 'approval') {
      const people = answer.signatures === 1 ? 'one person' : 'two people';
      throw errors.approval_needed({ key: tool.key, people });
    }
  }

  async #carryOut(
    execution: Execution,
    runnable: Runnable,
    took: () => number,
  ): Promise<ToolOutcome> {
    const { id, tool, call } = execution;
    const about = { execution_id: id, trust: tool.trust };
    const failed = (status: 'error' | 'timeout', message: string): ToolOutcome => ({
      ...about,
      status,
      result: null,
      error: guardedText(message).slice(0, longestError),
      duration_ms: took(),
      evidence: undefined,
    });
    const timeoutMs = Math.max(1, Math.min(maxMs, Math.floor(call.timeoutMs ?? usualMs)));
    const abort = new AbortController();
    const signal = call.signal ? AbortSignal.any([call.signal, abort.signal]) : abort.signal;
    const late = Symbol('late');
    try {
      const result = await withDeadline(
        this.#invoke(execution, runnable, timeoutMs, signal),
        timeoutMs,
        () => {
          abort.abort(errors.timed_out({ key: tool.key }));
          return late;
        },
      );
      if (result === late) {
        const effect =
          tool.class === 'safe'
            ? ''
            : '; whether it has taken effect is not known, so look before it is tried again';
        return failed('timeout', `${tool.key} did not end within ${timeoutMs} ms${effect}`);
      }
      const shown = await this.#parts.presenter.present(result, {
        tool,
        principal: call.principal,
        keep: call.approval !== undefined,
        // What people are told by agents can be looked up; tools about tools find nothing out.
        cited: isTold.has(call.origin) && !aboutTools.has(tool.key) && tool.source !== 'manual',
        params: { ...deviceOf(execution.target), ...execution.params },
      });
      return { ...about, ...shown, status: 'ok', error: undefined, duration_ms: took() };
    } catch (error) {
      if (isSvcError(error) && refusals.has(error.code)) {
        throw error;
      }
      if (!isSvcError(error)) {
        this.#parts.log.error(
          { event: 'skill.failed', tool: tool.key, execution_id: id, cause: messageOf(error) },
          'skill failed',
        );
      }
      return failed(
        isSvcError(error) && error.reason === 'skill.edge_timeout' ? 'timeout' : 'error',
        messageOf(error),
      );
    }
  }

  async #invoke(
    { id, tool, params, target, call }: Execution,
    runnable: Runnable,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { principal, approval } = call;
    switch (runnable.by) {
      case 'room':
        return this.#parts.own.run({ ...call, signal }, params);
      case 'plugin':
        return runnable.skill.run(params, { principal, signal });
      case 'source': {
        const edge = await target.edge();
        if (target.shown.kind === 'device' && edge === undefined) {
          throw errors.not_reached({ name: target.shown.name, id: `${target.shown.id}` });
        }
        const idempotencyKey =
          call.idempotencyKey ?? approval ?? (tool.class === 'safe' ? undefined : id);
        return runnable.source.run(tool.key, params, {
          principal,
          device_id: target.shown.id,
          edge_id: edge,
          timeoutMs,
          signal,
          idempotencyKey,
          approval,
          class: tool.class,
        });
      }
    }
  }
}

/** Returns on which device a call ran: without it, evidence of a host does not say of which one. */
const deviceOf = ({ shown }: Target): object =>
  shown.id === undefined ? {} : { device_id: shown.id };

/** Refuses to have a call signed of which those who sign would not see every part. */
function signable(answer: GateAnswer, { key }: Tool, params: Prepared['params']): GateAnswer {
  const place = answer.verdict === 'approval' ? hiddenPart(params) : undefined;
  return place === undefined
    ? answer
    : {
        verdict: 'refused',
        step: 'arguments',
        message: `the argument ${place.slice(0, 200)} of ${key} contains a secret or invisible characters, which the people who sign the call would not see; leave that part out, or ask a person to make this change`,
      };
}

const refusedBy = (message: string): SvcError =>
  new SvcError('forbidden', message, { reason: 'skill.refused' });

const targetIn = <T>(target: T | undefined): { target?: T } =>
  target === undefined ? {} : { target };
