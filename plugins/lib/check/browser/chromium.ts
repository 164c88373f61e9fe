import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { isSvcError, messageOf } from 'svc/sdk';

import type { Order, Place } from '../model/check.ts';
import { plain } from '../model/plain-text.ts';
import { DevTools } from './dev-tools.ts';
import { ForwardProxy } from './forward-proxy.ts';
import { PlaceFault } from './place-fault.ts';

/** Names of the program, the leanest first. */
export const chromiumNames = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
] as const;

const startMs = 30_000;
/** Time in which a picture is taken of a page that has failed. */
const graceMs = 20_000;
const maxOutput = 64 * 1024;
const longestSaid = 300;
/** Checks that wait for the browser of one place, and how long each of them does. */
const [maxWaiting, waitMs] = [20, 60_000];

interface RunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly converse: (to: Writable, from: Readable) => void;
}

export interface ChromiumParts {
  /** Returns the absolute path of the program; throws, or says in words why there is none. */
  readonly find: () => string;
  /** Runs it in a process group of its own, which ends with the run. */
  readonly run: (
    file: string,
    args: readonly string[],
    options: RunOptions,
  ) => Promise<{ readonly errors: string }>;
  /** Folder that belongs to the browser alone. */
  readonly folder: string;
  /** True if this process may not use the sandbox of Chromium, which refuses root. */
  readonly isRoot: boolean;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly nonce: () => string;
}

/** A browser of one probe. */
export interface Browser {
  readonly tools: DevTools;
  readonly proxy: Pick<ForwardProxy, 'failureOf' | 'refusal'>;
  readonly credential: { readonly username: string; readonly password: string };
  readonly pause: ChromiumParts['pause'];
}

/** The Chromium of one place, of which one runs at a time: it needs more memory than all other probes together. */
export class Chromium {
  readonly #parts: ChromiumParts;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(parts: ChromiumParts) {
    this.#parts = parts;
  }

  /** Removes what a process has left behind that was killed. */
  tidy(): void {
    rmSync(this.#parts.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Lends a browser with an empty profile, which ends with the work. */
  async lend<T>(
    { ip, timeout_ms: timeoutMs }: Pick<Order, 'ip' | 'timeout_ms'>,
    reach: Place['reach'],
    signal: AbortSignal,
    work: (browser: Browser) => Promise<T>,
  ): Promise<T> {
    const file = this.#parts.find();
    const free = await this.#turn();
    try {
      signal.throwIfAborted();
      return await this.#run(file, { ip, reach, timeoutMs, signal }, work);
    } finally {
      free();
    }
  }

  /** Resolves when no other browser runs, to what makes way for the next one. */
  async #turn(): Promise<() => void> {
    if (this.#waiting >= maxWaiting) {
      throw new PlaceFault(`${maxWaiting} checks already wait for the browser of this place`);
    }
    this.#waiting++;
    const before = this.#last;
    let free = (): void => undefined;
    this.#last = before.then(() => new Promise<void>((resolve) => (free = resolve)));
    // Whoever gives up leaves its turn to the next one.
    const passOn = (): void => void before.then(() => free());
    const given = new AbortController();
    const late = this.#parts.pause(waitMs, given.signal).then(() => {
      throw new PlaceFault(`the browser of this place is busy for more than ${waitMs / 1000} s`);
    });
    try {
      await Promise.race([before, late]);
      return passOn;
    } catch (error) {
      passOn();
      throw error;
    } finally {
      this.#waiting--;
      late.catch(() => undefined);
      given.abort();
    }
  }

  async #run<T>(
    file: string,
    {
      ip,
      reach,
      timeoutMs,
      signal,
    }: Pick<Order, 'ip'> & {
      readonly reach: Place['reach'];
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
    },
    work: (browser: Browser) => Promise<T>,
  ): Promise<T> {
    const { folder, run, pause, nonce, isRoot } = this.#parts;
    this.tidy();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const credential = { username: 'svc', password: nonce() };
    const proxy = await ForwardProxy.open({ reach: refusing(reach), ip, credential });
    const end = new AbortController();
    const stop = (): void => end.abort();
    signal.addEventListener('abort', stop, { once: true });
    let tools: DevTools | undefined;
    const ended = run(file, argumentsOf({ port: proxy.port, folder, isRoot }), {
      // The whole environment: what Chromium keeps, it keeps in its folder.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' },
      timeoutMs: startMs + timeoutMs + graceMs,
      maxBytes: maxOutput,
      signal: end.signal,
      converse: (to, from) => (tools = new DevTools(to, from)),
    });
    const gone = ended.then(
      ({ errors }) => {
        throw new PlaceFault(`Chromium does not run here: ${reasonIn(errors)}`);
      },
      (error: unknown) => {
        throw new PlaceFault(`Chromium does not run here: ${messageOf(error)}`);
      },
    );
    try {
      const ready = tools?.send('Browser.getVersion', {}, { signal: AbortSignal.timeout(startMs) });
      // Of one that ends at once, its own words say more than its silence.
      await Promise.race([gone, ready?.catch(async () => await gone)]);
      return await Promise.race([gone, work({ tools: tools!, proxy, credential, pause })]);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
      await ended.catch(() => undefined);
      await proxy.close();
      this.tidy();
    }
  }
}

/** Tells an address that the place may not talk to from one that cannot be reached. */
const refusing =
  (reach: Place['reach']): Place['reach'] =>
  async (...asked) => {
    try {
      return await reach(...asked);
    } catch (error) {
      const isRefusal =
        isSvcError(error) && (error.code === 'forbidden' || error.code === 'invalid_argument');
      throw isRefusal ? new PlaceFault(error.message, { cause: error }) : error;
    }
  };

interface Setting {
  readonly port: number;
  readonly folder: string;
  readonly isRoot: boolean;
}

/** Everything goes through the proxy, and nothing past it: neither names, nor this machine, nor calls between browsers. */
const argumentsOf = ({ port, folder, isRoot }: Setting): readonly string[] => [
  '--headless',
  '--remote-debugging-pipe',
  `--user-data-dir=${join(folder, 'profile')}`,
  `--proxy-server=http://127.0.0.1:${port}`,
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--dns-prefetch-disable',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-extensions',
  '--disable-breakpad',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--mute-audio',
  '--hide-scrollbars',
  '--password-store=basic',
  '--window-size=1280,800',
  '--renderer-process-limit=4',
  '--js-flags=--max-old-space-size=512',
  ...(isRoot ? ['--no-sandbox'] : []),
];

/** Returns the last thing that a program said about its end. */
function reasonIn(errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '');
  const fatal = lines.find((line) => /FATAL|ERROR|sandbox/i.test(line)) ?? lines.at(-1);
  return plain(fatal ?? 'it ends without a word').slice(0, longestSaid);
}
