import assert from 'node:assert/strict';

import { WebSocket } from 'ws';

// oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
export type Loose = any;

export interface OpenOptions {
  readonly ticket?: string;
  readonly bearer?: string;
  readonly origin?: string;
  /** First frame, or what an open frame has besides the defaults; if absent, none is sent. */
  readonly first?: object;
  /** Local address to connect from. */
  readonly localAddress?: string;
  /** Query after the path. */
  readonly query?: string;
  /** Tells how far it has come, as a browser does. */
  readonly acks?: boolean;
}

/** Error for an answer other than an upgrade. */
export class Refused extends Error {
  readonly status: number;
  readonly body: { error?: string; message?: string };

  constructor(status: number, text: string) {
    super(`${status} ${text}`);
    this.status = status;
    this.body = JSON.parse(text) as { error?: string; message?: string };
  }
}

/** The browser's side. */
export interface Terminal {
  readonly ws: WebSocket;
  readonly frames: { readonly type: string; readonly [field: string]: Loose }[];
  /** All that was shown so far. */
  readonly bytes: () => Buffer;
  text(): string;
  type(text: string | Uint8Array): void;
  say(frame: object | string): void;
  frame(type: string): Promise<Loose>;
  shows(text: string | RegExp): Promise<void>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function openTerminal(
  url: string,
  { ticket, bearer, origin, localAddress, first, query = '', acks = false }: OpenOptions,
): Promise<Terminal> {
  const protocols = ['svc.shell.v1', ...(ticket === undefined ? [] : [`svc.ticket.${ticket}`])];
  const ws = new WebSocket(url + query, protocols, {
    headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
    ...(origin !== undefined && { origin }),
    ...(localAddress !== undefined && { localAddress }),
  });
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve);
    ws.once('error', reject);
    ws.once('unexpected-response', (_request, answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      answer.on('end', () => reject(new Refused(answer.statusCode!, text)));
    });
  });
  assert.equal(ws.protocol, 'svc.shell.v1');
  ws.on('error', () => {});
  const frames: Terminal['frames'] = [];
  let chunks: Buffer[] = [];
  let shown = 0;
  let ended: { code: number; reason: string } | undefined;
  const watchers = new Set<() => void>();
  const changed = (): void => watchers.forEach((look) => look());
  ws.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      chunks.push(data);
      shown += data.length;
      if (acks) {
        ws.send(JSON.stringify({ type: 'ack', bytes: shown }));
      }
    } else {
      const frame = JSON.parse(data.toString('utf8')) as Terminal['frames'][number];
      shown = frame.type === 'attached' ? frame.from : shown;
      frames.push(frame);
    }
    changed();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    ws.once('close', (code, reason) => {
      ended = { code, reason: reason.toString('utf8') };
      resolve(ended);
      changed();
    }),
  );
  const bytes = (): Buffer => {
    chunks = [Buffer.concat(chunks)];
    return chunks[0]!;
  };
  const wait = <T>(what: string, find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(
        () =>
          finish(() =>
            reject(
              new Error(
                `within 30 s: ${what}; so far ${JSON.stringify(frames)} ${bytes().toString('utf8').slice(-500)}`,
              ),
            ),
          ),
        30_000,
      );
      const finish = (end: () => void): void => {
        clearTimeout(late);
        watchers.delete(look);
        end();
      };
      const look = (): void => {
        const found = find();
        if (found !== undefined) {
          finish(() => resolve(found));
        } else if (ended !== undefined) {
          finish(() =>
            reject(
              new Error(
                `closed with ${ended!.code} ${ended!.reason} before ${what}; ${JSON.stringify(frames)}`,
              ),
            ),
          );
        }
      };
      watchers.add(look);
      look();
    });
  const terminal: Terminal = {
    ws,
    frames,
    bytes,
    text: () => bytes().toString('utf8'),
    type: (text) => ws.send(typeof text === 'string' ? Buffer.from(text) : text, { binary: true }),
    say: (frame) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    frame: (type) => wait(`a frame ${type}`, () => frames.find((frame) => frame.type === type)),
    shows: async (text) =>
      void (await wait(
        `showing ${String(text)}`,
        () =>
          (typeof text === 'string'
            ? terminal.text().includes(text)
            : text.test(terminal.text())) || undefined,
      )),
    closed,
  };
  if (first !== undefined) {
    terminal.say({
      ...('type' in first ? {} : { type: 'open', term: 'xterm-256color' }),
      cols: 80,
      rows: 24,
      ...(acks && { acks: true }),
      ...first,
    });
  }
  return terminal;
}
