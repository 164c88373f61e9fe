import { Ajv, type ValidateFunction } from 'ajv';
import type { EdgeSkill, SkillOutput } from 'svc/contracts/edge-skills';
import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import type { OfferedSkill, SkillAnswer, SkillOrder } from 'svc/edge-protocol';
import type { After } from 'svc/probe';
import type { SvcError } from 'svc/sdk';
import { type Clock, isSvcError, type Logger, messageOf, timestamp } from 'svc/sdk';

import { errors } from './errors.ts';
import type { SkillLog } from './skill-log.ts';

export interface SkillRunnerParts {
  /** Returns the current skills. */
  readonly skills: () => readonly EdgeSkill[];
  readonly policy: LocalPolicy;
  readonly journal: SkillLog;
  readonly clock: Clock;
  readonly after: After;
  readonly log: Logger;
}

const usualMaxMs = 30_000;
const maxAtOnce = 4;
const maxAnswerBytes = 240 * 1024;
/** Share of its time after which a skill that can return a partial answer should. */
const hurryAfter = 0.8;
/** Passed to the caller as they are: the question was wrong, or may not be asked. */
const refusals = new Set(['invalid_argument', 'forbidden', 'not_found']);

const orderSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['key', 'params', 'timeout_ms', 'audit_id'],
  properties: {
    key: { type: 'string', minLength: 1, maxLength: 64 },
    params: { type: 'object' },
    timeout_ms: { type: 'integer', minimum: 1, maximum: 600000 },
    audit_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
};

/** Lists and runs the skills of this machine for the manager, each written down here before and after. */
export class SkillRunner {
  readonly #parts: SkillRunnerParts;
  readonly #ajv = new Ajv({ useDefaults: true, strict: false, logger: false });
  readonly #checks = new WeakMap<object, ValidateFunction>();
  #working = 0;

  constructor(parts: SkillRunnerParts) {
    this.#parts = parts;
  }

  list(): { readonly skills: readonly OfferedSkill[] } {
    const skills = this.#parts.policy.current().skills.enabled ? this.#parts.skills() : [];
    return {
      skills: skills.map(({ key, name, description, class: kind, tier, schema }) => ({
        key,
        name,
        description,
        class: kind,
        scope: 'edge',
        tier,
        schema,
      })),
    };
  }

  /** `changing`: over the method that the tunnel runs once for each key. Only there is changed anything. */
  async execute(asked: unknown, changing: boolean, caller: AbortSignal): Promise<SkillAnswer> {
    const order = structuredClone(asked) as SkillOrder;
    this.#requireFit(orderSchema, order, 'the order');
    const { clock, journal, log } = this.#parts;
    const skill = this.#parts.skills().find(({ key }) => key === order.key);
    const { key, audit_id } = order;
    try {
      await journal.append(
        {
          at: timestamp(clock.now()),
          event: 'begin',
          audit_id,
          key,
          class: skill?.class,
          params: order.params,
        },
        changing,
      );
    } catch (error) {
      log.error(
        { event: 'edge-skills.log_failed', cause: messageOf(error) },
        'failed to write to the skill log; no skills will run until it succeeds',
      );
      throw errors.log_not_written({ cause: error });
    }
    const from = clock.monotonic();
    let answer: SkillAnswer | undefined;
    let refused: SvcError | undefined;
    try {
      answer = await this.#answer(skill, order, changing, caller, from);
      return answer;
    } catch (error) {
      refused = isSvcError(error)
        ? error
        : errors.broken({ cause: messageOf(error) }, { cause: error });
      throw refused;
    } finally {
      const status = answer?.status ?? (refused?.code === 'forbidden' ? 'denied' : 'refused');
      const error = answer?.error?.message ?? refused?.message;
      const end = {
        at: timestamp(clock.now()),
        event: 'end',
        audit_id,
        key,
        status,
        error,
        duration_ms: Math.round(clock.monotonic() - from),
      } as const;
      // It is done: withholding the answer for lack of this line would only cause it to be
      // requested again.
      await journal
        .append(end, changing)
        .catch((cause: unknown) =>
          log.error(
            { event: 'edge-skills.end_not_logged', cause: messageOf(cause) },
            "failed to write a skill's result to the skill log",
          ),
        );
    }
  }

  async #answer(
    skill: EdgeSkill | undefined,
    order: SkillOrder,
    changing: boolean,
    caller: AbortSignal,
    from: number,
  ): Promise<SkillAnswer> {
    if (!this.#parts.policy.current().skills.enabled) {
      throw errors.skills_not_allowed();
    }
    if (skill === undefined) {
      throw errors.no_skill({ key: order.key });
    }
    if ((skill.class !== 'safe') !== changing) {
      throw errors.other_method({
        key: skill.key,
        class: skill.class,
        detail: changing ? 'skill_execute' : 'skill_change',
      });
    }
    this.#requireFit(skill.schema, order.params, `the params of ${skill.key}`);
    if (this.#working >= maxAtOnce) {
      throw errors.too_many_skills({ maxAtOnce }, { retryAfterSeconds: 2 });
    }
    const { clock, log } = this.#parts;
    const done = (
      status: SkillAnswer['status'],
      output: SkillOutput | undefined,
      error: SkillAnswer['error'],
    ): SkillAnswer => ({
      status,
      result: output?.result ?? null,
      error,
      duration_ms: Math.round(clock.monotonic() - from),
      execution_id: order.audit_id,
      truncated: output?.readOn !== undefined,
      read_on: output?.readOn ?? null,
    });
    const timeoutMs = Math.min(order.timeout_ms, skill.maxMs ?? usualMaxMs);
    try {
      const output = await this.#inTime(skill, order, timeoutMs, caller);
      if (output === undefined) {
        return done('timeout', undefined, {
          code: 'unavailable',
          message: `${skill.key} did not end within ${timeoutMs} ms`,
        });
      }
      const answer = done('ok', output, null);
      const bytes = Buffer.byteLength(JSON.stringify(answer));
      return bytes <= maxAnswerBytes
        ? answer
        : done('error', undefined, {
            code: 'upstream_error',
            message: `the answer has ${bytes} bytes, but the limit is ${maxAnswerBytes}; request less`,
          });
    } catch (error) {
      if (caller.aborted || (isSvcError(error) && refusals.has(error.code))) {
        throw error;
      }
      if (!isSvcError(error)) {
        log.error(
          { event: 'edge-skills.failed', skill: skill.key, cause: messageOf(error) },
          'skill failed',
        );
      }
      return done('error', undefined, {
        code: isSvcError(error) ? error.code : 'internal',
        message: messageOf(error).slice(0, 2_000),
      });
    }
  }

  /**
   * Runs a skill with a time limit; undefined on timeout. A skill that ignores its signal keeps its
   * slot until it ends.
   */
  #inTime(
    skill: EdgeSkill,
    { params }: SkillOrder,
    timeoutMs: number,
    caller: AbortSignal,
  ): Promise<SkillOutput | undefined> {
    const { clock, after } = this.#parts;
    const begun = clock.monotonic();
    const abort = new AbortController();
    return new Promise((resolve, reject) => {
      const cancelled = (): void => {
        abort.abort(caller.reason);
        reject(errors.cancelled({ key: skill.key }));
      };
      const cancel = after(timeoutMs, () => {
        abort.abort(errors.timed_out());
        resolve(undefined);
      });
      caller.addEventListener('abort', cancelled, { once: true });
      this.#working++;
      const hurry = (): boolean => clock.monotonic() - begun > timeoutMs * hurryAfter;
      void (async () =>
        await skill.run(params as never, { signal: abort.signal, timeoutMs, hurry }))()
        .then(resolve, reject)
        .finally(() => {
          this.#working--;
          cancel();
          caller.removeEventListener('abort', cancelled);
        });
      if (caller.aborted) {
        cancelled();
      }
    });
  }

  #requireFit(schema: object, value: unknown, what: string): void {
    let check = this.#checks.get(schema);
    if (!check) {
      check = this.#ajv.compile(schema);
      this.#checks.set(schema, check);
    }
    if (!check(value)) {
      const [first] = check.errors ?? [];
      throw errors.params({
        what,
        instancePath: first?.instancePath || 'they',
        cause: first?.message ?? 'are not right',
      });
    }
  }
}
