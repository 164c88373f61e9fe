import { createHash } from 'node:crypto';

import type { ImApp, ImEvent, ImReceived } from 'svc/contracts/imbridge';
import {
  byteRoute,
  type Call,
  type Clock,
  type Counter,
  type Ids,
  type RouteDeclaration,
  type Tables,
} from 'svc/sdk';

import type { Apps } from '../apps/apps.ts';
import type { MessageQueue } from '../store/message-queue.ts';
import { MessageStore, type NewMessage } from '../store/message-store.ts';
import { ByProvider, CallbackQuery } from '../apps/schema.ts';
import type { AppRow, ImTables } from '../store/tables.ts';
import { asksForForm } from '../talk/actions.ts';
import { errors } from './errors.ts';

export interface IntakeParts {
  readonly apps: Apps;
  readonly tables: Pick<Tables<ImTables>, 'read'>;
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly received: Counter;
  readonly maxWaiting: () => number;
}

type Arrived = Pick<
  Call<{ readonly provider: string }, Readonly<Record<string, unknown>>, Uint8Array>,
  'params' | 'query' | 'headers' | 'body'
>;

/** Intake of platform messages, which are acknowledged once they are on disk. */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #decoy: ImApp;
  #known: { readonly at: number; readonly rows: Promise<readonly AppRow[]> } | undefined;
  #open: { readonly at: number; count: number } | undefined;
  #waiting: NewMessage[] = [];
  #next: Promise<ReadonlySet<string>> | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  /** Number of messages in this second, and in the previous one. */
  #second = { at: 0, last: 0, count: 0 };

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    const [secret, token, key] = [
      parts.ids.token(24),
      parts.ids.token(24),
      Buffer.from(parts.ids.token(48)).toString('base64').slice(0, 43),
    ];
    this.#decoy = {
      id: 'none',
      app_id: 'none',
      app_secret: secret,
      verify_token: token,
      encrypt_key: key,
      endpoint: '',
    };
  }

  /** Apps may have changed. */
  refresh(): void {
    this.#known = undefined;
  }

  /**
   * The app that the address names; without a name the only one of its provider. Which one it is, is never found by trying
   * secrets. Undefined where that leaves none.
   */
  async appFor(provider: string, id: string | undefined): Promise<AppRow | undefined> {
    const { clock, apps } = this.#parts;
    if (this.#known === undefined || clock.monotonic() - this.#known.at > keptMs) {
      this.#known = { at: clock.monotonic(), rows: apps.enabled() };
      this.#known.rows.catch(() => this.refresh());
    }
    const all = (await this.#known.rows).filter((row) => row.provider === provider);
    return id === undefined
      ? all.length === 1
        ? all[0]
        : undefined
      : all.find((row) => row.id === id);
  }

  /** Stores what happened, each thing once however often it comes. */
  async take(app: AppRow, arrived: readonly ImEvent[]): Promise<void> {
    const { clock, ids, received } = this.#parts;
    const events = await this.#ours(app, arrived);
    if (events.length === 0) {
      return;
    }
    await this.#requireRoom(events.length);
    const now = Math.floor(clock.now());
    const rows = events.map((event): NewMessage => {
      const kind = event.kind === 'message' ? 'message' : 'action';
      const lane = asksForForm(event.text) ? `${app.id}|form:${event.key}` : laneOf(app, event);
      return {
        id: ids.uuid(),
        app_id: app.id,
        event_key: `${event.kind}:${event.key}`.slice(0, 300),
        kind,
        conversation: event.conversation,
        lane,
        sender: event.sender,
        ...(event.message !== undefined && {
          message: event.message.slice(0, 200),
          digest: createHash('sha256').update(event.text).digest('base64url').slice(0, 22),
        }),
        payload: JSON.stringify(event),
        run_id: ids.uuid(),
        created_at: now,
      };
    });
    const added = await this.#stored(rows);
    const fresh = rows.filter(({ id }) => added.has(id)).length;
    received.add(fresh, { provider: app.provider, result: 'accepted' });
    received.add(rows.length - fresh, { provider: app.provider, result: 'repeated' });
    this.#open!.count += fresh;
  }

  /** Leaves out what people say to each other: a thread in which nobody has spoken to us is none of ours. */
  async #ours(app: AppRow, events: readonly ImEvent[]): Promise<readonly ImEvent[]> {
    const store = new MessageStore(this.#parts.tables.read);
    const ours: ImEvent[] = [];
    for (const event of events) {
      if (event.continues !== true || (await store.lastSaid(laneOf(app, event))) !== undefined) {
        ours.push(event);
      }
    }
    return ours;
  }

  /** True if so much arrives that processing should wait a little. */
  get isBusy(): boolean {
    const now = this.#parts.clock.monotonic();
    return now - this.#second.at < busyMs
      ? this.#second.last > busyCount || this.#second.count > busyCount
      : false;
  }

  /** Stores messages; those that arrive during a write share the next one. */
  #stored(rows: readonly NewMessage[]): Promise<ReadonlySet<string>> {
    this.#count(rows.length);
    this.#waiting.push(...rows);
    this.#next ??= this.#writing.then(
      () => this.#flush(),
      () => this.#flush(),
    );
    return this.#next;
  }

  #flush(): Promise<ReadonlySet<string>> {
    const rows = this.#waiting;
    [this.#waiting, this.#next] = [[], undefined];
    const write = this.#parts.queue.add(rows);
    this.#writing = write;
    return write;
  }

  #count(more: number): void {
    const now = this.#parts.clock.monotonic();
    if (now - this.#second.at >= 1_000) {
      this.#second = {
        at: now,
        last: now - this.#second.at < 2 * busyMs ? this.#second.count : 0,
        count: 0,
      };
    }
    this.#second.count += more;
  }

  /**
   * Throws if too many messages wait. Counted by this process: from the database each second, plus
   * what arrived since.
   */
  async #requireRoom(more: number): Promise<void> {
    const { clock, tables, maxWaiting } = this.#parts;
    if (this.#open === undefined || clock.monotonic() - this.#open.at > 1_000) {
      this.#open = { at: clock.monotonic(), count: await new MessageStore(tables.read).open() };
    }
    if (this.#open.count + more > maxWaiting()) {
      throw errors.full({ retryAfterSeconds: 15 });
    }
  }

  /** Returns the content of a callback, or that it is invalid. */
  async receive(
    method: 'GET' | 'POST',
    { params, query, headers, body }: Arrived,
  ): Promise<ImReceived> {
    const { apps, clock, received } = this.#parts;
    const fields = Object.fromEntries(
      Object.entries(query).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
    );
    const callback = { method, headers, query: fields, body, now: clock.now() };
    const app = await this.appFor(params.provider, fields['app']);
    const platform = apps.platform(params.provider);
    if (app !== undefined && platform === undefined) {
      throw errors.no_platform({ provider: app.provider });
    }
    if (app === undefined || platform === undefined || app.mode !== 'callback') {
      // As much work as for an existing app, so that the time does not reveal which exist.
      platform?.receive(this.#decoy, callback);
      received.add(1, {
        provider: platform === undefined ? 'unknown' : params.provider,
        result: 'refused',
      });
      return { outcome: 'refused' };
    }
    const answer = platform.receive(apps.open(app), callback);
    if (answer.outcome === 'refused') {
      received.add(1, { provider: app.provider, result: 'refused' });
    } else if (answer.outcome === 'events') {
      await this.take(app, answer.events);
    }
    return answer;
  }
}

/** Messages of a thread are processed in their order. */
const laneOf = ({ id }: AppRow, { thread }: ImEvent): string => `${id}|${thread}`;

const keptMs = 2_000;
const busyMs = 1_500;
const busyCount = 100;
/** No platform sends more; the proof of some is inside the JSON, so strangers' is parsed as well. */
const maxBytes = 256 * 1024;

/**
 * Wording of callback errors: strangers learn nothing about the reason; the platform learns when to
 * come back. The supported methods are no secret.
 */
const silent: RouteDeclaration['wording'] = ({ status, code, message }) =>
  status === 405
    ? { type: 'application/json; charset=utf-8', body: JSON.stringify({ error: code, message }) }
    : { status: status >= 500 || status === 429 ? status : 401, type: 'text/plain', body: '' };

export function callbackRoutes(intake: Intake): readonly RouteDeclaration[] {
  const declared = (method: 'GET' | 'POST') =>
    byteRoute({
      method,
      path: '/api/v1/im/{provider}/events',
      access: 'public',
      summary:
        method === 'POST'
          ? 'Receive events from a chat platform; authenticated by its signature'
          : "Answer a chat platform's verification request for the callback URL",
      description:
        'Requires ?app= with the id of the app. Events that are unsigned, too old or from another app get a 401 with an empty body.',
      params: ByProvider,
      query: CallbackQuery,
      ...(method === 'POST' && { consumes: ['*/*'], maxBodyBytes: maxBytes }),
      produces: 'application/json',
      audited: false,
      wording: silent!,
      errors: ['unauthorized', 'unavailable'],
      async handle(call) {
        const answer = await intake.receive(method, call);
        if (answer.outcome === 'refused') {
          throw errors.unproven();
        }
        call.setHeader(
          'content-type',
          (answer.type ?? 'application/json').replace(/[^\w/;=+. -]/g, ''),
        );
        return answer.body ?? '{}';
      },
    });
  return [declared('POST'), declared('GET')];
}
