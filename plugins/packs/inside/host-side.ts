import { type OutboundReply, type PackContext, SvcError } from 'svc/sdk';

import { errors } from '../wire/errors.ts';
import { type FromChild, maxAsks, type ToChild } from '../wire/wire.ts';

interface Ask {
  readonly method: string;
  readonly input: unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** Interface of a pack to svc: its settings as they change, and requests that svc answers. */
export class HostSide {
  readonly context: PackContext;
  readonly #say: (ask: FromChild & { t: 'ask' }) => void;
  readonly #settings = new Map<string, unknown>();
  readonly #watchers = new Map<string, ((value: never) => void)[]>();
  readonly #open = new Map<number, Ask>();
  /** Requests beyond the concurrency limit. */
  readonly #waiting: Ask[] = [];
  #last = 0;

  constructor(say: (ask: FromChild & { t: 'ask' }) => void) {
    this.#say = say;
    this.context = Object.freeze({
      settings: Object.freeze({
        get: <T>(key: string): T => this.#setting(key) as T,
        watch: <T>(key: string, listener: (value: T) => void): void => {
          this.#setting(key);
          this.#watchers.set(key, [...(this.#watchers.get(key) ?? []), listener]);
        },
      }),
      fetch: (
        url: string,
        { body, ...request }: { readonly body?: string | Uint8Array | undefined } = {},
      ) =>
        this.#ask<OutboundReply>('fetch', {
          ...request,
          url,
          ...(body !== undefined &&
            (typeof body === 'string'
              ? { text: body }
              : { base64: Buffer.from(body).toString('base64') })),
        }),
      db: Object.freeze({
        all: <T>(sql: string, ...values: readonly unknown[]) =>
          this.#ask<readonly T[]>('all', [sql, ...values]),
        run: (sql: string, ...values: readonly unknown[]) =>
          this.#ask<{ changes: number; lastId: number }>('run', [sql, ...values]),
        batch: (statements: readonly (readonly unknown[])[]) =>
          this.#ask<void>('batch', statements),
      }),
    });
  }

  settle(settings: Readonly<Record<string, unknown>>): void {
    Object.entries(settings).forEach(([key, value]) => this.#settings.set(key, value));
  }

  changed(key: string, value: unknown): void {
    this.#settings.set(key, value);
    this.#watchers.get(key)?.forEach((listener) => listener(value as never));
  }

  hear({ id, value, error }: ToChild & { t: 'answer' }): void {
    const ask = this.#open.get(id);
    this.#open.delete(id);
    if (error) {
      ask?.reject(new SvcError(error.code, error.message));
    } else {
      ask?.resolve(value as never);
    }
    this.#next();
  }

  #setting(key: string): unknown {
    if (!this.#settings.has(key)) {
      throw errors.no_setting({ key });
    }
    return this.#settings.get(key);
  }

  #ask<R>(method: string, input: unknown): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ method, input, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    while (this.#open.size < maxAsks && this.#waiting.length > 0) {
      const ask = this.#waiting.shift()!;
      const id = (this.#last += 1);
      this.#open.set(id, ask);
      this.#say({ t: 'ask', id, method: ask.method, input: ask.input });
    }
  }
}
