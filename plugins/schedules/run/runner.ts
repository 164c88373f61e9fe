import type { ChatRuns, RunEnd } from 'svc/contracts/chat';
import { type FailedJob, GiveUp, type Job, type Jobs, TryLater } from 'svc/jobs';
import { formatDuration } from 'svc/query';
import {
  type Clock,
  type Counter,
  type Handle,
  isSvcError,
  messageOf,
  type Principal,
  type Settings,
  type Tables,
  timestamp,
} from 'svc/sdk';
import type { Kysely } from 'kysely';

import type { Authors } from '../author/authors.ts';
import { ScheduleStore } from '../store/schedule-store.ts';
import type { About, RunRow, ScheduleRow, ScheduleTables } from '../store/tables.ts';
import type { Delivery } from './delivery.ts';
import { type Carried, runQueue, type Starts, tellQueue, type Told } from './starts.ts';

export interface RunnerParts {
  readonly tables: Tables<ScheduleTables>;
  readonly jobs: Jobs<ScheduleTables>;
  readonly starts: Starts;
  readonly authors: Authors;
  readonly delivery: Delivery;
  readonly chat: Handle<ChatRuns>;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ended: Counter;
  readonly tokens: Counter;
}

/** Outcome of a run that has ended. */
interface Outcome {
  readonly state: 'done' | 'failed';
  readonly error?: string | undefined;
  readonly delivered?: string | undefined;
  /** False: its failure says nothing about the schedule. */
  readonly counts?: boolean;
  /** True: people would wait for an answer that a budget has kept back. */
  readonly tells?: boolean;
  readonly usage?: RunEnd['usage'] | undefined;
}

type RunJob = Job<Carried, ScheduleTables>;

const atOnce = 4;
const tries = 8;
/** Longest time that a run is waited for in one piece. */
const tryMs = 60 * 60_000;
const awayMs = 5_000;
const betweenMs = 500;
const dayMs = 86_400_000;
/** Fewer tokens make no answer. */
const leastTokens = 1_000;

/** Carries out runs: asks the agent as the author, waits for the answer, delivers it. Every step may be repeated after a crash. */
export class Runner {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    parts.jobs.queue<Carried>(runQueue, {
      atOnce,
      tries,
      timeoutMs: tryMs,
      cancellable: false,
      title: () => 'Run a schedule',
      work: (job) => this.#carryOut(job),
      onFailed: (tx, job) => this.#giveUp(tx, job),
    });
    parts.jobs.queue<Told>(tellQueue, {
      tries,
      title: () => 'Announce that a schedule was paused',
      work: (job) => this.#tell(job),
    });
  }

  async #carryOut(job: RunJob) {
    const store = new ScheduleStore(this.#parts.tables.read);
    const run = await store.run(job.payload.run);
    const schedule = run && (await store.find(run.schedule_id));
    if (run === undefined || schedule === undefined || run.ended_at !== null) {
      return undefined;
    }
    const { principal, objection } = this.#parts.authors.now(schedule);
    if (principal === undefined) {
      return this.#ending(
        schedule,
        run,
        { state: 'failed', error: objection, counts: false },
        (tx) => this.#parts.starts.stop(tx, schedule, objection, aboutOf(run).incident_id),
      );
    }
    if (!this.#parts.chat.available) {
      throw new TryLater('agents are not available', { afterMs: awayMs, counts: false });
    }
    const refusal =
      run.state === 'waiting' ? await this.#start(job, schedule, run, principal) : undefined;
    if (refusal !== undefined) {
      return this.#ending(schedule, run, { state: 'failed', ...refusal });
    }
    const end = await Promise.race([
      this.#parts.chat.get().settled(principal, run.id, job.signal),
      left(job.signal),
    ]);
    await job.write((tx) => new ScheduleStore(tx).changeRun(run.id, usedBy(end)));
    if (end.finish_reason === 'approval') {
      // Without one it is between two workers, and about to continue.
      return end.approvals.length === 0
        ? { state: 'waiting' as const, afterMs: betweenMs }
        : {
            state: 'parked' as const,
            write: (tx: Kysely<ScheduleTables>) =>
              new ScheduleStore(tx).changeRun(run.id, { state: 'approval' }),
          };
    }
    const outcome = await this.#outcome(schedule, run, principal, end);
    return this.#ending(schedule, run, { ...outcome, usage: end.usage });
  }

  /** Returns why the agent cannot be asked; undefined once its run is on disk. */
  async #start(
    job: RunJob,
    schedule: ScheduleRow,
    run: RunRow,
    principal: Principal,
  ): Promise<Pick<Outcome, 'error' | 'counts' | 'tells'> | undefined> {
    const limit = await this.#tokensLeft(schedule);
    if (limit < leastTokens) {
      const before = await new ScheduleStore(this.#parts.tables.read).lastEnded(schedule.id);
      return {
        error: 'the tokens of this schedule for today are used up',
        counts: false,
        // Once: every further run of the day is refused as well.
        tells: before?.state !== 'failed',
      };
    }
    const { incident_id: incident } = aboutOf(run);
    const chat = this.#parts.chat.get();
    try {
      await chat.openSession(principal, {
        id: run.session_id,
        title: `${schedule.name}, ${timestamp(run.slot_at).slice(0, 16).replace('T', ' ')}`,
        tags: ['schedule'],
        ...(schedule.agent !== null && { agent: schedule.agent }),
        ...(incident !== undefined && { related_incident_id: incident }),
      });
      await chat.start({
        principal,
        session_id: run.session_id,
        run_id: run.id,
        content: contentOf(schedule, run),
        agent: schedule.agent ?? undefined,
        context: aboutOf(run) as Readonly<Record<string, unknown>>,
        origin: 'chat',
        token_limit: limit,
      });
    } catch (error) {
      if (!isSvcError(error) || error.code === 'internal' || error.code === 'unavailable') {
        throw error;
      }
      if (error.code === 'rate_limited') {
        const afterMs = (error.retryAfterSeconds ?? 30) * 1_000;
        throw new TryLater(error.message, { afterMs, counts: false });
      }
      return { error: error.message };
    }
    const startedAt = Math.floor(this.#parts.clock.now());
    await job.write((tx) =>
      new ScheduleStore(tx).changeRun(run.id, { state: 'running', started_at: startedAt }),
    );
    return undefined;
  }

  /** Tokens that a schedule has left today, in UTC. */
  async #tokensLeft({ id, tokens_per_day: own }: ScheduleRow): Promise<number> {
    const { tables, settings, clock } = this.#parts;
    const today = Math.floor(clock.now() / dayMs) * dayMs;
    const used = (await new ScheduleStore(tables.read).totals([id], today)).get(id);
    return (own ?? settings.get<number>('schedules.tokens_per_day')) - (used?.tokens_today ?? 0);
  }

  async #outcome(
    schedule: ScheduleRow,
    run: RunRow,
    principal: Principal,
    end: RunEnd,
  ): Promise<Outcome> {
    if (end.finish_reason !== 'stop' && end.finish_reason !== 'length') {
      return {
        state: 'failed',
        error: end.error ?? `the run ended with ${end.finish_reason}`,
        tells: end.finish_reason === 'budget',
      };
    }
    const answer = { text: end.text, agent: end.agent, tokens: end.usage.total_tokens };
    try {
      const delivered = await this.#parts.delivery.deliver(schedule, run, answer, principal);
      return { state: 'done', delivered };
    } catch (error) {
      if (!isSvcError(error) || error.code === 'internal' || error.code === 'unavailable') {
        throw error;
      }
      return { state: 'failed', error: `the answer was not delivered: ${error.message}` };
    }
  }

  /** Ends a run with its job; a schedule that has failed several times in a row is paused. */
  #ending(
    { id }: ScheduleRow,
    run: RunRow,
    outcome: Outcome,
    also?: (tx: Kysely<ScheduleTables>) => Promise<void>,
  ) {
    return {
      write: async (tx: Kysely<ScheduleTables>): Promise<void> => {
        await this.#end(tx, id, run, outcome);
        await also?.(tx);
      },
      written: (): void => {
        const { ended, tokens } = this.#parts;
        ended.add(1, { state: outcome.state });
        tokens.add(outcome.usage?.input_tokens ?? 0, { direction: 'input' });
        tokens.add(outcome.usage?.output_tokens ?? 0, { direction: 'output' });
      },
    };
  }

  async #end(
    tx: Kysely<ScheduleTables>,
    scheduleId: number,
    run: RunRow,
    { state, error, delivered, counts = true, tells = false }: Outcome,
  ): Promise<void> {
    const { clock, settings, starts } = this.#parts;
    const store = new ScheduleStore(tx);
    const now = Math.floor(clock.now());
    await store.changeRun(run.id, {
      state,
      error: error ?? null,
      delivered: delivered ?? null,
      ended_at: now,
    });
    const schedule = await store.find(scheduleId);
    if (schedule === undefined) {
      return;
    }
    if (tells) {
      await starts.tell(tx, {
        schedule: scheduleId,
        text: `A run of the schedule "${schedule.name}" gave no answer: ${error ?? state}.`,
        incident: aboutOf(run).incident_id,
      });
    }
    if (!counts) {
      return;
    }
    const failures = state === 'done' ? 0 : schedule.failures + 1;
    const most = settings.get<number>('schedules.pause_after_failures');
    if (failures < most || schedule.state !== 'active') {
      await store.update(scheduleId, { failures });
      return;
    }
    const because = `${failures} runs in a row failed, the last one because ${error ?? state}`;
    await store.update(scheduleId, { failures, state: 'paused', because, updated_at: now });
    await starts.tell(tx, {
      schedule: scheduleId,
      text: `The schedule "${schedule.name}" was paused: ${because}.`,
      incident: aboutOf(run).incident_id,
    });
  }

  async #giveUp(tx: Kysely<ScheduleTables>, { payload, cause }: FailedJob<Carried>): Promise<void> {
    const run = await new ScheduleStore(tx).run(payload.run);
    if (run !== undefined) {
      await this.#end(tx, run.schedule_id, run, { state: 'failed', error: cause });
    }
  }

  async #tell({ id, payload }: Job<Told, ScheduleTables>): Promise<void> {
    const { tables, authors, delivery } = this.#parts;
    const schedule = await new ScheduleStore(tables.read).find(payload.schedule);
    if (schedule === undefined) {
      return;
    }
    try {
      const { principal } = authors.now(schedule);
      await delivery.tell(schedule, id, payload.text, payload.incident, principal);
    } catch (error) {
      throw isSvcError(error) && error.code !== 'internal' && error.code !== 'unavailable'
        ? new GiveUp(messageOf(error))
        : error;
    }
  }
}

const aboutOf = ({ about }: RunRow): About => JSON.parse(about) as About;

const usedBy = ({ agent, usage }: RunEnd): Partial<RunRow> => ({
  agent: agent ?? null,
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cached_tokens: usage.cached_tokens,
});

/** Returns the message to the agent: the question, and what started the run, in facts of svc alone. */
function contentOf({ question }: ScheduleRow, run: RunRow): string {
  const { incident_id: incident, edge_id: edge, change_id: change } = aboutOf(run);
  const at = timestamp(run.slot_at);
  const facts = [
    ...(incident === undefined
      ? []
      : [`This run was started by @incident:${incident}, which fired at ${at}.`]),
    ...(edge === undefined ? [] : [`This run was started by @edge:${edge}, last seen at ${at}.`]),
    ...(change === undefined
      ? []
      : [`This run was started by change ${change}, a deploy at ${at}.`]),
    ...(run.late_ms > 0
      ? [
          `This run is late: it was due at ${at}, ${formatDuration(Math.round(run.late_ms / 60_000) * 60_000)} ago.`,
        ]
      : []),
  ];
  return [question, facts.join(' ')].filter((part) => part !== '').join('\n\n');
}

const left = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
    }
  });
