import type { ModelRequest, ModelUsage } from 'svc/contracts/model';
import { type Clock, type Ids, type Settings, SvcError, type Tables } from 'svc/sdk';

import { tokenBound } from '../wire/tokens.ts';
import type { ModelTables, Reservation, Scope } from './tables.ts';
import { UsageStore } from './usage-store.ts';

export interface BudgetPorts {
  readonly tables: Tables<ModelTables>;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Id that differs from that of every earlier process of this data folder. */
  readonly process: number;
  /** Calls `work` after a time, unless the result is called before. */
  readonly after: (ms: number, work: () => void) => () => void;
}

/** Reservation for one call, held until its cost is known. */
export interface Held {
  /** Id sent with the request, so that a provider's own list can be compared. */
  readonly id: string;
  /** Max tokens of the answer: fewer than requested if a budget ends earlier. */
  readonly maxTokens: number;
  /** Once; undefined: the provider did nothing for it. */
  settle(usage: ModelUsage | undefined): Promise<void>;
}

interface Limit {
  readonly scope: Scope;
  readonly ref: string | undefined;
  /** True to count the day alone. */
  readonly daily: boolean;
  readonly setting: string;
  readonly what: string;
  /** Limit of this one alone, besides the setting's. */
  readonly own?: number | undefined;
}

/** Min tokens of an answer; fewer make no answer. */
const leastAnswer = 256;
/** Time for which a call waits for room that calls under way may leave. */
const longestTurnMs = 120_000;
const dayMs = 24 * 60 * 60_000;
const keepDays = 90;

/**
 * Budgets of models: per run, session, persona and day, checked before each call in the same
 * transaction as its reservation.
 */
export class Budget {
  readonly #ports: BudgetPorts;
  /** Wakes calls that wait for room, in the order in which they came. */
  readonly #waiting = new Set<() => void>();

  constructor(ports: BudgetPorts) {
    this.#ports = ports;
  }

  /**
   * Throws `budget_exceeded` unless question and answer fit into every budget. Where only calls under way
   * take the room, the call waits for its turn: each of them holds more than it will have used.
   */
  async reserve(
    request: Pick<ModelRequest, 'budget' | 'messages' | 'tools' | 'maxTokens'>,
    model: string,
    signal?: AbortSignal,
  ): Promise<Held> {
    const { clock } = this.#ports;
    const until = clock.monotonic() + longestTurnMs;
    for (;;) {
      const turn = this.#turn();
      try {
        const left = until - clock.monotonic();
        const held = await this.#reserve(request, model, left > 0 && signal?.aborted !== true);
        if (held !== undefined) {
          return held;
        }
        await turn.come(left, signal);
      } finally {
        turn.leave();
      }
    }
  }

  /** A place among the calls that wait; it is taken before the budget is looked at, so that no settled call is missed. */
  #turn(): { come(ms: number, signal: AbortSignal | undefined): Promise<void>; leave(): void } {
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.add(wake);
    return {
      come: async (ms, signal) => {
        const cancel = this.#ports.after(ms, wake);
        signal?.addEventListener('abort', wake, { once: true });
        await woken;
        signal?.removeEventListener('abort', wake);
        cancel();
      },
      leave: () => void this.#waiting.delete(wake),
    };
  }

  /** Undefined: there is no room now, but there may be once calls under way have ended. */
  async #reserve(
    {
      budget,
      messages,
      tools,
      maxTokens,
    }: Pick<ModelRequest, 'budget' | 'messages' | 'tools' | 'maxTokens'>,
    model: string,
    mayWait: boolean,
  ): Promise<Held | undefined> {
    const { tables, ids, process } = this.#ports;
    const day = this.today;
    const input = tokenBound({ messages, tools });
    const reservation = await tables.write(async (tx) => {
      const store = new UsageStore(tx);
      let room = maxTokens;
      for (const limit of limitsOf(budget)) {
        const most = mostOf(limit, this.#ports.settings.get<number>(limit.setting));
        if (most > 0) {
          const left =
            most - (await store.spent(limit.scope, limit.ref, limit.daily ? day : undefined));
          const needed = input + Math.min(maxTokens, leastAnswer);
          const underWay = await store.reserved(
            limit.scope,
            limit.ref,
            limit.daily ? day : undefined,
          );
          if (mayWait && left < needed && left + underWay >= needed) {
            return undefined;
          }
          this.#requireRoom(needed, limit, most, left);
          room = Math.min(room, left - input);
        }
      }
      const made: Reservation = {
        run: budget.run,
        session: budget.session,
        persona: budget.persona,
        id: ids.uuid(),
        process,
        day,
        model,
        input_tokens: input,
        output_tokens: room,
      };
      await store.reserve(made);
      return made;
    });
    if (reservation === undefined) {
      return undefined;
    }
    return {
      id: reservation.id,
      maxTokens: reservation.output_tokens,
      settle: (usage) => this.#settle(reservation, usage),
    };
  }

  /** Calls that an earlier process began and never settled count with all that they could have cost. */
  async settleLeft(): Promise<number> {
    const { tables, process } = this.#ports;
    return tables.write(async (tx) => {
      const store = new UsageStore(tx);
      const left = await store.leftBy(process);
      for (const reservation of left) {
        const { input_tokens, output_tokens } = reservation;
        await store.settle(reservation, {
          input_tokens,
          output_tokens,
          cached_tokens: 0,
          estimated: true,
        });
      }
      return left.length;
    });
  }

  async usageToday() {
    const { tables, settings, clock } = this.#ports;
    const day = this.today;
    const store = new UsageStore(tables.read);
    const rows = await store.byModel(day);
    const reserved = await store.reserved('model', undefined, day);
    const sum = (
      field: 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'estimated_tokens' | 'requests',
    ): number => rows.reduce((total, row) => total + row[field], 0);
    const [input, output, limit] = [
      sum('input_tokens'),
      sum('output_tokens'),
      settings.get<number>('llm.daily_token_limit'),
    ];
    return {
      date: day,
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      requests: sum('requests'),
      cached_tokens: sum('cached_tokens'),
      estimated_tokens: sum('estimated_tokens'),
      reserved_tokens: reserved,
      limit,
      remaining: limit === 0 ? null : Math.max(0, limit - input - output - reserved),
      resets_at: nextDay(clock.now()),
      by_model: rows.map(
        ({ ref, input_tokens, output_tokens, cached_tokens, estimated_tokens, requests }) => ({
          model: ref,
          input_tokens,
          output_tokens,
          total_tokens: input_tokens + output_tokens,
          cached_tokens,
          estimated_tokens,
          requests,
        }),
      ),
    };
  }

  /**
   * Deletes the usage of deleted personas; that of their models, runs and sessions still counts.
   */
  async forgetPersonas(names: readonly string[]): Promise<void> {
    if (names.length > 0) {
      await this.#ports.tables.write((tx) => new UsageStore(tx).forgetPersonas(names));
    }
  }

  async tidy(): Promise<void> {
    const oldest = dayOf(this.#ports.clock.now() - keepDays * dayMs);
    await this.#ports.tables.write((tx) => new UsageStore(tx).removeBefore(oldest));
  }

  /** UTC. */
  get today(): string {
    return dayOf(this.#ports.clock.now());
  }

  async #settle(reservation: Reservation, usage: ModelUsage | undefined): Promise<void> {
    try {
      await this.#ports.tables.write((tx) => new UsageStore(tx).settle(reservation, usage));
    } finally {
      this.#waiting.forEach((wake) => wake());
    }
  }

  #requireRoom(needed: number, limit: Limit, most: number, left: number): void {
    if (left >= needed) {
      return;
    }
    const { what, daily, own } = limit;
    const now = this.#ports.clock.now();
    const setting = most === own ? 'the budget that it was started with' : limit.setting;
    throw new SvcError(
      'budget_exceeded',
      left >= most
        ? `the token budget of ${what} is too small for this call: it may need ${needed} of ${most}; raise ${setting}`
        : `the token budget of ${what} is used up: ${Math.max(0, left)} of ${most} are left, and this call may need ${needed}; ${daily ? 'wait until 00:00 UTC, or ' : ''}raise ${setting}`,
      {
        reason: 'model.budget_exceeded',
        ...(daily && { retryAfterSeconds: Math.ceil((Date.parse(nextDay(now)) - now) / 1_000) }),
      },
    );
  }
}

/** 0: no limit. */
const mostOf = ({ own }: Limit, set: number): number =>
  own === undefined ? set : set === 0 ? own : Math.min(own, set);

/** Returns the limits in the order in which they are checked. */
function limitsOf({ run, session, persona, limit }: ModelRequest['budget']): readonly Limit[] {
  const all: readonly Limit[] = [
    {
      scope: 'run',
      ref: run,
      daily: false,
      setting: 'llm.run_token_limit',
      what: 'this run',
      own: limit,
    },
    {
      scope: 'session',
      ref: session,
      daily: false,
      setting: 'llm.session_token_limit',
      what: 'this session',
    },
    {
      scope: 'persona',
      ref: persona,
      daily: true,
      setting: 'llm.persona_token_limit',
      what: `${persona} for today`,
    },
    {
      scope: 'model',
      ref: undefined,
      daily: true,
      setting: 'llm.daily_token_limit',
      what: 'today',
    },
  ];
  return all.filter(({ ref }) => ref !== '');
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const nextDay = (at: number): string =>
  `${dayOf((Math.floor(at / dayMs) + 1) * dayMs)}T00:00:00.000Z`;
