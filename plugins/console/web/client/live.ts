import { api } from './api.ts';
import { Store } from '../browser/store.ts';

/** State of the live connection. `since`: time of the last message from svc. */
export type Connection =
  | { readonly state: 'joining' }
  | { readonly state: 'live' }
  | { readonly state: 'lost'; readonly since: number };

export const connection = new Store<Connection>({ state: 'joining' });

/** Set when svc serves another page than this one: a reload loads it. */
export const newerPage = new Store(false);

type Listener = { readonly kinds: readonly string[] | undefined; readonly tell: () => void };

const listeners = new Set<Listener>();
const retryMs = 500;
/** Max silence of the stream, which has a heartbeat. */
const silenceMs = 45_000;
/** Max time until it begins. */
const beginMs = 10_000;

let loadedPage: string | undefined;
/** True if a stream was open before: whatever happened until the next one was missed. */
let heard = false;
let running: AbortController | undefined;

/**
 * Subscribes to changes of some kinds, or of all if none is named; also called whenever changes may
 * have been missed.
 */
export function onChanged(kinds: readonly string[] | undefined, tell: () => void): () => void {
  const listener = { kinds, tell };
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Has everything that the page shows fetched again. */
export const askAgain = (): void => [...listeners].forEach(({ tell }) => tell());

/** Follows the one stream of the page, and takes it up again for as long as the reader is signed in. */
export function startLive(): () => void {
  running?.abort();
  const own = new AbortController();
  running = own;
  void follow(own.signal);
  return () => own.abort();
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now();
    // A stream that ends after a while may have been ended by its token: the next one starts before
    // a lost connection is reported.
    const isCut = await listen(signal).then(
      () => performance.now() - began < retryMs,
      () => true,
    );
    if (!signal.aborted && isCut) {
      lost();
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

function lost(): void {
  if (connection.value.state !== 'lost') {
    connection.set({ state: 'lost', since: Date.now() });
  }
}

async function listen(signal: AbortSignal): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), beginMs);
  const answer = await api
    .open('GET', '/console/live', { signal: AbortSignal.any([signal, silence.signal]) })
    .finally(() => clearTimeout(timer));
  timer = setTimeout(() => silence.abort(), silenceMs);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      text += value;
      const frames = text.split('\n\n');
      text = frames.pop()!;
      frames.forEach(take);
    }
  } finally {
    clearTimeout(timer);
  }
}

function take(frame: string): void {
  const field = (name: string): string | undefined =>
    new Map(frame.split('\n').map((line) => splitOnce(line))).get(name);
  const data = field('data');
  if (data === undefined) {
    return;
  }
  const event = field('event');
  if (event === 'hello') {
    const { page } = JSON.parse(data) as { page: string };
    loadedPage ??= page;
    newerPage.set(page !== loadedPage);
    const missed = heard;
    heard = true;
    connection.set({ state: 'live' });
    if (missed) {
      askAgain();
    }
  } else if (event === 'changed') {
    const { kinds } = JSON.parse(data) as { kinds: readonly string[] };
    // The answers of a plugin may change once it has been reloaded, whatever the page shows of it.
    const isAll = kinds.includes('plugins');
    [...listeners]
      .filter(
        (listener) =>
          isAll ||
          listener.kinds === undefined ||
          listener.kinds.some((kind) => kinds.includes(kind)),
      )
      .forEach(({ tell }) => tell());
  }
}

function splitOnce(line: string): [string, string] {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}
