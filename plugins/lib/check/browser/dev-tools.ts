import type { Readable, Writable } from 'node:stream';

import { isObject } from '../model/is-object.ts';
import { PlaceFault } from './place-fault.ts';

/** Longest message of a browser: a picture of a page is far shorter. */
const maxMessage = 16 * 1024 * 1024;

type Params = Readonly<Record<string, unknown>>;

/** Something that happened in the browser. */
export interface BrowserEvent {
  readonly method: string;
  readonly params: Params;
  readonly sessionId?: string;
}

interface Waiting {
  readonly resolve: (result: Params) => void;
  readonly reject: (error: Error) => void;
}

/** Refusal of a command by the browser, such as that the document it was about is gone. */
export class CommandError extends Error {}

/** Speaks the DevTools protocol with a browser over its pipes: JSON, each message ended by a zero byte. */
export class DevTools {
  readonly #to: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: ((event: BrowserEvent) => void)[] = [];
  #heard: Buffer[] = [];
  #heardBytes = 0;
  #lastId = 0;
  #end: Error | undefined;

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    from.on('data', (piece: Buffer) => this.#hear(piece));
    from.once('close', () => this.end('the browser has ended'));
  }

  on(listener: (event: BrowserEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Gives a command; `signal` ends the wait for its result. */
  send(
    method: string,
    params: Params,
    { session, signal }: { readonly session?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Params> {
    if (this.#end !== undefined) {
      return Promise.reject(this.#end);
    }
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(id);
        reject(new Error('there was no more time'));
      };
      const settled =
        <T>(work: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', stop);
          work(value);
        };
      signal?.addEventListener('abort', stop, { once: true });
      this.#waiting.set(id, { resolve: settled(resolve), reject: settled(reject) });
      this.#to.write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
      void (signal?.aborted && stop());
    });
  }

  /** Fails everything that waits, and whatever comes after. */
  end(why: string): void {
    this.#end ??= new PlaceFault(why);
    for (const { reject } of this.#waiting.values()) {
      reject(this.#end);
    }
    this.#waiting.clear();
  }

  #hear(piece: Buffer): void {
    let rest = piece;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      const message = Buffer.concat([...this.#heard, rest.subarray(0, end)]);
      this.#heard = [];
      this.#heardBytes = 0;
      rest = rest.subarray(end + 1);
      this.#take(message.toString('utf8'));
    }
    this.#heardBytes += rest.length;
    if (this.#heardBytes > maxMessage) {
      this.#heard = [];
      this.end('the browser sends a message without an end');
    } else if (rest.length > 0) {
      this.#heard.push(rest);
    }
  }

  #take(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      // Nothing that follows could be trusted to be whole.
      this.end('the browser sends what is no JSON');
      return;
    }
    if (!isObject(message)) {
      return;
    }
    const { id, result, error, method, params, sessionId } = message;
    if (typeof method === 'string') {
      const event = {
        method,
        params: isObject(params) ? params : {},
        ...(typeof sessionId === 'string' && { sessionId }),
      };
      this.#listeners.forEach((listener) => listener(event));
      return;
    }
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (isObject(error)) {
      waiting?.reject(new CommandError(String(error['message'])));
    } else {
      waiting?.resolve(isObject(result) ? result : {});
    }
  }
}
