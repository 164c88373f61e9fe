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

/** The durable queue of the house; every plugin sees its own topics only. */
export interface Outboxes {
  /** The outbox of one generation. Its handlers work while `serves` says so, and leave with its scope. */
  forPlugin(pluginId: string, own: (label: string, undo: Disposer) => Disposer, run: Account['run'], serves?: Account['serves']): Outbox;
  /** Begins to deliver, with what an earlier process has left. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Handlers of all topics, for the census. */
  readonly handlers: number;
}

const maxPayloadBytes = 1024 * 1024;
const maxName = 200;

export function createOutboxes(options: OutboxOptions): Outboxes {
  const { tables, clock, ids, log, redact, random = Math.random, concurrency = 4, pollMs = 1_000, graceMs = 10_000, tries } = options;
  const rows = new OutboxRows(tables);
  const dispatcher = new Dispatcher(rows, { clock, log, concurrency, pollMs, graceMs, tries });
  return {
    forPlugin: (pluginId, own, run, serves = () => true) => ({
      async enqueue(_tx, topic, payload, { key, delayMs = 0 } = {}) {
        const id = ids.uuid();
        const now = clock.now();
        // Called inside the caller's write, which this joins: a row of the house in the transaction of the plugin.
        await rows.insert({
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
        dispatcher.expect();
        return id;
      },
      deliver(topic, handler, policy = {}) {
        const full = named('topic', `${pluginId}/${topic}`);
        const told = new TopicHandler(full, handler as never, policy as DeliveryPolicy<unknown>, { run, serves }, { clock, log, redact, random });
        own(`outbox ${topic}`, () => dispatcher.leave(told));
        dispatcher.handle(told);
      },
    }),
    start: () => dispatcher.start(),
    stop: () => dispatcher.stop(),
    get handlers() {
      return dispatcher.handlers;
    },
  };
}

function named(what: string, name: string): string {
  if (name === '' || name.length > maxName) {
    throw new SvcError('invalid_argument', `a ${what} of the outbox has 1 to ${maxName} characters, not ${name.length}`);
  }
  return name;
}

function written(payload: unknown, topic: string): string {
  let text: string;
  try {
    text = JSON.stringify(payload) ?? 'null';
  } catch (error) {
    throw new SvcError('invalid_argument', `a message of ${topic} cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
  if (Buffer.byteLength(text) > maxPayloadBytes) {
    throw new SvcError('invalid_argument', `a message of ${topic} has ${Buffer.byteLength(text)} bytes, ${maxPayloadBytes} are allowed`, { status: 413 });
  }
  return text;
}
