import {
  type Clock,
  type Counter,
  type DeliveryPolicy,
  type Disposer,
  type Ids,
  type Logger,
  messageOf,
  type Outbox,
  SvcError,
  type Tables,
} from '../sdk/index.ts';
import type { CoreTables } from '../storage/index.ts';
import { Dispatcher } from './dispatcher.ts';
import { OutboxRows } from './rows.ts';
import { type Account, TopicHandler } from './topic.ts';

export interface OutboxOptions {
  readonly tables: Tables<CoreTables>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Hides secrets in the errors that stay in the table. */
  readonly redact: (text: string) => string;
  readonly random?: () => number;
  /** Tries at the same time, per topic; default 4. */
  readonly concurrency?: number;
  /** How often due retries are looked for; default 1 s. New messages do not wait for it. */
  readonly pollMs?: number;
  /** Default 10 s. */
  readonly graceMs?: number;
  /** Counts tries by `topic` and `outcome`. */
  readonly tries?: Counter;
}

const maxPayloadBytes = 1024 * 1024;
const maxName = 200;

/** The durable queue of the service; every plugin sees its own topics only. */
export class Outboxes {
  readonly #options: OutboxOptions & Pick<Required<OutboxOptions>, 'random'>;
  readonly #rows: OutboxRows;
  readonly #dispatcher: Dispatcher;

  constructor(options: OutboxOptions) {
    const {
      tables,
      clock,
      log,
      concurrency = 4,
      pollMs = 1_000,
      graceMs = 10_000,
      tries,
    } = options;
    this.#options = { random: Math.random, ...options };
    this.#rows = new OutboxRows(tables);
    this.#dispatcher = new Dispatcher(this.#rows, {
      clock,
      log,
      concurrency,
      pollMs,
      graceMs,
      tries,
    });
  }

  /** Handlers of all topics, for the census. */
  get handlers(): number {
    return this.#dispatcher.handlers;
  }

  /** Begins to deliver, with what an earlier process has left. */
  start(): Promise<void> {
    return this.#dispatcher.start();
  }

  stop(): Promise<void> {
    return this.#dispatcher.stop();
  }

  /** The outbox of one generation. Its handlers work while `serves` says so, and leave with its scope. */
  forPlugin(
    pluginId: string,
    own: (label: string, undo: Disposer) => Disposer,
    run: Account['run'],
    serves: Account['serves'] = () => true,
  ): Outbox {
    return {
      enqueue: (_tx, topic, payload, options) => this.#enqueue(pluginId, topic, payload, options),
      deliver: (topic, handler, policy = {}) => {
        const full = named('topic', `${pluginId}/${topic}`);
        const handling = new TopicHandler(
          full,
          handler as never,
          policy as DeliveryPolicy<unknown>,
          { run, serves },
          this.#options,
        );
        own(`outbox ${topic}`, () => this.#dispatcher.leave(handling));
        this.#dispatcher.handle(handling);
      },
    };
  }

  /** Called inside the caller's write, which this joins: a row of core in the transaction of the plugin. */
  async #enqueue(
    pluginId: string,
    topic: string,
    payload: unknown,
    { key, delayMs = 0 }: { readonly key?: string; readonly delayMs?: number } = {},
  ): Promise<string> {
    const { ids, clock } = this.#options;
    const id = ids.uuid();
    const now = clock.now();
    await this.#rows.insert({
      id,
      topic: named('topic', `${pluginId}/${topic}`),
      key: key === undefined ? null : named('key', key),
      payload: written(payload, topic),
      enqueued_at: now,
      attempt: 0,
      due_at: now + Math.max(0, Math.ceil(delayMs)),
      lease_until: null,
      state: 'waiting',
      last_error: null,
    });
    this.#dispatcher.expect();
    return id;
  }
}

function named(what: string, name: string): string {
  if (name === '' || name.length > maxName) {
    throw new SvcError(
      'invalid_argument',
      `a ${what} of the outbox has 1 to ${maxName} characters, not ${name.length}`,
      { reason: 'outbox.name_length' },
    );
  }
  return name;
}

function written(payload: unknown, topic: string): string {
  let text: string;
  try {
    text = JSON.stringify(payload) ?? 'null';
  } catch (error) {
    throw new SvcError(
      'invalid_argument',
      `a message of ${topic} cannot be written as JSON: ${messageOf(error)}`,
      {
        reason: 'outbox.payload_no_json',
        cause: error,
      },
    );
  }
  if (Buffer.byteLength(text) > maxPayloadBytes) {
    throw new SvcError(
      'invalid_argument',
      `a message of ${topic} has ${Buffer.byteLength(text)} bytes, ${maxPayloadBytes} are allowed`,
      {
        reason: 'outbox.payload_too_large',
        status: 413,
      },
    );
  }
  return text;
}
