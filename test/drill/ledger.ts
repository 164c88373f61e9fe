import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';

import type { WholeHouse } from '../whole-house.ts';
import { parcelOf, readBack, type Signal, signals } from './telemetry-crash-model.ts';

/** Requests the current host; throws or returns 5xx while none is running. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

const email = 'drill@example.org';
const password = 'a long enough passphrase';
const lanes = 5;
const furnishMs = 120_000;

/** Environment of a host that is written to: it has an administrator, who signs in. */
export const ledgerEnvironment = (passwordFile: string): Readonly<Record<string, string>> => ({
  SVC_ADMIN_EMAIL: email,
  SVC_ADMIN_PASSWORD_FILE: passwordFile,
  SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  SVC_ALERT_EVAL_INTERVAL: '2s',
  SVC_ALERT_COOLDOWN: '0s',
  SVC_INVESTIGATE_ASSIST: 'false',
});
export { password as ledgerPassword };

interface Kept {
  readonly telemetry: Record<Signal, Set<number>>;
  /** Edges by name. */
  readonly edges: Set<string>;
  readonly users: Set<string>;
  readonly incidents: Set<number>;
  /** Session by message. */
  readonly messages: Map<string, number>;
  setting: number;
}

/**
 * Record of everything written to svc and acknowledged, of every kind; with a check of what is
 * there.
 */
export class Ledger {
  readonly #ask: Ask;
  /** Telemetry that is written, too: none where the stores do not outlive what happens. */
  readonly #signals: readonly Signal[];
  readonly #epoch = Date.now() - 6 * 3_600_000;
  readonly #kept: Kept = {
    telemetry: { metrics: new Set(), logs: new Set(), traces: new Set() },
    edges: new Set(),
    users: new Set(),
    incidents: new Set(),
    messages: new Map(),
    setting: 0,
  };
  #number = 0;
  #setting = 0;
  /** Changes of the setting that were given up: each may yet be done, also after the next one. */
  readonly #givenUp = new Set<number>();
  /** Answer to the last change of the setting, for the report of a loss. */
  #answered = '';
  #session: number | undefined;
  #token: string | undefined;
  refused = 0;

  constructor(ask: Ask, kept: readonly Signal[] = signals) {
    this.#ask = ask;
    this.#signals = kept;
  }

  get acknowledged(): Readonly<Record<string, number>> {
    const { telemetry, edges, users, incidents, messages } = this.#kept;
    const pushes = Object.fromEntries(
      this.#signals.map((signal) => [signal, telemetry[signal].size]),
    );
    return {
      ...pushes,
      edges: edges.size,
      users: users.size,
      incidents: incidents.size,
      messages: messages.size,
      settings: this.#kept.setting,
    };
  }

  /** A rule that fires for each lane of `drill_heat` that is hot. */
  async furnish(): Promise<void> {
    const rule = {
      rule_key: 'drill_heat',
      name: 'Drill',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'global',
      join_mode: 'all',
      severity: 'warning',
    };
    // On a busy machine a house that has just begun may ask to come again.
    for (const deadline = performance.now() + furnishMs; ; await pause(1_000)) {
      const answer = await this.#post('/api/v1/alert-rules', {
        ...rule,
        dimensions: ['lane'],
        conditions: [{ expr: 'drill_heat > 0' }],
      });
      if (answer.ok) {
        return;
      }
      const said = await answer.text();
      if (answer.status !== 503 || performance.now() > deadline) {
        throw new Error(`the rule of the drill was refused: ${said}`);
      }
    }
  }

  /**
   * Writes one of each kind; expensive ones, such as a user with a password, less often. A write
   * whose answer was lost is not acknowledged.
   */
  async write(): Promise<void> {
    const number = this.#number++;
    for (const signal of this.#signals) {
      const { path, type, encoding, body } = parcelOf(signal, number, this.#epoch);
      const headers = {
        'content-type': type,
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      };
      const answer = await this.#tried(path, { method: 'POST', headers, body });
      if (answer !== undefined && answer.status < 300) {
        this.#kept.telemetry[signal].add(number);
      }
    }
    await this.#heat(number);
    await this.#rows(number);
    if (number % 5 === 0) {
      await this.#say(number);
    }
  }

  /** Lanes are hot and cold by turns, so that incidents begin and end. */
  async #heat(number: number): Promise<void> {
    const hot = Array.from(
      { length: lanes },
      (_, lane) =>
        `drill_heat{lane="${lane}"} ${Math.floor(number / 20) % lanes === lane ? 1 : 0}\n`,
    ).join('');
    await this.#tried('/api/v1/import/prometheus', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: hot,
    });
    const shown = await this.#told<Items<{ id: number }>>('/api/v1/alerts/incidents?limit=50');
    shown?.items.forEach(({ id }) => this.#kept.incidents.add(id));
  }

  async #rows(number: number): Promise<void> {
    const made = await this.#post('/api/v1/edges', { name: `edge-${number}` }).catch(
      () => undefined,
    );
    if (made?.status === 201) {
      this.#kept.edges.add(`edge-${number}`);
    }
    const value = ++this.#setting;
    const set = await this.#tried('/api/v1/system-settings/self/slow_ms', {
      method: 'PUT',
      headers: json,
      body: JSON.stringify({ value }),
    });
    if (set === undefined) {
      this.#givenUp.add(value);
    } else if (set.ok) {
      this.#kept.setting = value;
      this.#answered = `${set.status} ${await set.text().catch(messageOf)}`;
    }
    if (number % 10 === 0) {
      const user = {
        email: `user-${number}@example.org`,
        display_name: 'drill',
        role: 'viewer',
        password,
      };
      const added = await this.#post('/api/v1/users', user).catch(() => undefined);
      if (added?.status === 201) {
        this.#kept.users.add(user.email);
      }
    }
  }

  /** A message to the scripted model, whose answer is not waited for. */
  async #say(number: number): Promise<void> {
    const token = await this.#signedIn();
    const headers = { ...json, authorization: `Bearer ${token}` };
    if (token === undefined) {
      return;
    }
    if (number % 50 === 0 || this.#session === undefined) {
      this.#session = (
        await this.#told<{ id: number }>('/api/v1/chat/sessions', {
          method: 'POST',
          headers,
          body: '{}',
        })
      )?.id;
      this.#token = this.#session === undefined ? undefined : token;
    }
    if (this.#session !== undefined) {
      const content = `Message ${number} of the drill.`;
      const path = `/api/v1/chat/sessions/${this.#session}/messages/stream`;
      const sent = await this.#tried(path, {
        method: 'POST',
        headers,
        body: JSON.stringify({ content }),
      });
      if (sent?.ok === true) {
        this.#kept.messages.set(content, this.#session);
      }
      await sent?.body?.cancel().catch(() => undefined);
    }
  }

  async #signedIn(): Promise<string | undefined> {
    if (this.#token === undefined) {
      const [headers, body] = [{ ...json, authorization: '' }, JSON.stringify({ email, password })];
      this.#token = (
        await this.#told<{ access_token: string }>('/api/v1/auth/login', {
          method: 'POST',
          headers,
          body,
        })
      )?.access_token;
    }
    return this.#token;
  }

  /** Drops the session: a clock may have advanced meanwhile. */
  signOut(): void {
    this.#token = undefined;
  }

  /** Returns what was acknowledged and is missing, by kind and name. */
  async lost(): Promise<readonly string[]> {
    const { telemetry, edges, users, incidents, messages } = this.#kept;
    const expected = {
      ...Object.fromEntries(signals.map((signal) => [signal, new Set(telemetry[signal])])),
    } as Record<Signal, Set<number>>;
    const [theirEdges, theirUsers, theirIncidents, setting] = [
      new Set(edges),
      new Set(users),
      new Set(incidents),
      this.#kept.setting,
    ];
    const lost: string[] = [];
    const missing = (kind: string, wanted: Iterable<unknown>, there: ReadonlySet<unknown>): void =>
      void lost.push(
        ...[...wanted].filter((one) => !there.has(one)).map((one) => `${kind} ${String(one)}`),
      );
    const house = { fetch: this.#ask } as WholeHouse;
    for (const signal of this.#signals) {
      missing(
        signal,
        expected[signal],
        await readBack(house, signal, { from: 0, to: this.#number, epoch: this.#epoch }),
      );
    }
    missing(
      'edge',
      theirEdges,
      new Set((await this.#all<{ name: string }>('/api/v1/edges')).map(({ name }) => name)),
    );
    missing(
      'user',
      theirUsers,
      new Set((await this.#all<{ email: string }>('/api/v1/users')).map((user) => user.email)),
    );
    missing(
      'incident',
      theirIncidents,
      new Set((await this.#all<{ id: number }>('/api/v1/alerts/incidents')).map(({ id }) => id)),
    );
    const settings = await this.#all<{ category: string; key: string; value: number }>(
      '/api/v1/system-settings',
    );
    const listed = settings.find(({ category, key }) => category === 'self' && key === 'slow_ms');
    if ((listed?.value ?? 0) < setting && !this.#givenUp.has(listed?.value ?? 0)) {
      lost.push(`setting ${setting}, answered ${this.#answered}, listed ${JSON.stringify(listed)}`);
    }
    missing('message', messages.keys(), await this.#said(new Set(messages.values())));
    return lost;
  }

  async #said(sessions: ReadonlySet<number>): Promise<ReadonlySet<string>> {
    const said = new Set<string>();
    if (sessions.size > 0) {
      this.signOut();
      // On a busy machine a sign-in may be asked to come again.
      for (
        const deadline = performance.now() + furnishMs;
        (await this.#signedIn()) === undefined && performance.now() < deadline;
      ) {
        await pause(1_000);
      }
      const authorization = `Bearer ${this.#token}`;
      for (const session of sessions) {
        const all = await this.#all<{ content: string }>(
          `/api/v1/chat/sessions/${session}/messages`,
          { authorization },
        );
        all.forEach(({ content }) => said.add(content));
      }
    }
    return said;
  }

  async #all<T>(
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<readonly T[]> {
    const items: T[] = [];
    for (let cursor = ''; ;) {
      const answer = await this.#ask(
        `${path}?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        { headers },
      );
      const page = (await answer.json()) as Items<T> & { readonly next_cursor?: string };
      if (!answer.ok) {
        throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(page).slice(0, 300)}`);
      }
      items.push(...page.items);
      cursor = page.next_cursor ?? '';
      if (cursor === '') {
        return items;
      }
    }
  }

  #post(path: string, body: object): Promise<Response> {
    return this.#ask(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
  }

  /** Returns the answer; undefined if it was refused, or truncated. */
  async #told<T>(path: string, init?: RequestInit): Promise<T | undefined> {
    const answer = await this.#tried(path, init);
    return answer?.ok === true
      ? await (answer.json() as Promise<T>).catch(() => undefined)
      : undefined;
  }

  async #tried(path: string, init: RequestInit = {}): Promise<Response | undefined> {
    const answer = await this.#ask(path, init).catch(() => undefined);
    if (answer === undefined || answer.status >= 300) {
      this.refused++;
    }
    return answer;
  }
}

interface Items<T> {
  readonly items: readonly T[];
}

const json = { 'content-type': 'application/json' };

/** Writes until stopped; resolves after the last write. */
export function writing(ledger: Ledger, everyMs: number): { end(): Promise<void> } {
  let ended = false;
  const work = (async () => {
    while (!ended) {
      await ledger.write();
      await pause(everyMs);
    }
  })();
  return {
    end: async () => {
      ended = true;
      await work;
    },
  };
}
