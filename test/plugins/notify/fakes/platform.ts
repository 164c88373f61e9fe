import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A request as a platform sees it. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  readonly body: any;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Occasional misbehaviour of a platform instead of an answer. */
export type Quirk = Reply | 'slow' | 'silent' | 'reset' | 'redirect' | 'huge' | 'hang up';

export interface Platform {
  readonly url: string;
  /** Whatever came, taken or not. */
  readonly requests: Received[];
  /** Messages that the platform has accepted. */
  readonly taken: Received[];
  /** The same, and those whose answer broke off after a head that said 200. */
  readonly agreed: Received[];
  /** Instead of the next answers. */
  next(...quirks: Quirk[]): void;
  /** Instead of all answers from now on; undefined ends that. */
  always(quirk: Quirk | undefined): void;
}

/** A platform on loopback: `judge` takes a request or says what is wrong with it, as strictly as the real one. */
export async function startPlatform(
  t: Pick<TestContext, 'after'>,
  judge: (request: Received) => Reply & { readonly taken: boolean },
): Promise<Platform> {
  const requests: Received[] = [];
  const taken: Received[] = [];
  const agreed: Received[] = [];
  const quirks: Quirk[] = [];
  let constant: Quirk | undefined;

  const server = createServer((req, res) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of req as AsyncIterable<Buffer>) {
        parts.push(part);
      }
      const text = Buffer.concat(parts).toString('utf8');
      const request: Received = {
        method: req.method!,
        url: new URL(req.url!, 'http://fake'),
        headers: req.headers,
        text,
        body: parsed(text),
      };
      requests.push(request);
      const quirk = quirks.shift() ?? constant;
      if (quirk !== undefined) {
        if (quirk === 'slow' || quirk === 'reset') {
          agreed.push(request);
        }
        behave(quirk, req, res);
        return;
      }
      const reply = judge(request);
      if (reply.taken) {
        taken.push(request);
        agreed.push(request);
      }
      answer(res, reply);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    taken,
    agreed,
    next: (...more) => void quirks.push(...more),
    always: (quirk) => void (constant = quirk),
  };
}

function behave(quirk: Quirk, req: IncomingMessage, res: ServerResponse): void {
  switch (quirk) {
    case 'slow':
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{');
      return;
    case 'silent':
      return;
    case 'reset':
      res.writeHead(200, { 'content-length': '1000' });
      res.write('{"errcode"');
      setTimeout(() => req.socket.resetAndDestroy(), 5);
      return;
    case 'hang up':
      req.socket.destroy();
      return;
    case 'redirect':
      answer(res, { status: 302, headers: { location: 'http://127.0.0.1:1/elsewhere' } });
      return;
    case 'huge':
      answer(res, { status: 200, body: 'x'.repeat(5 * 1024 * 1024) });
      return;
    default:
      answer(res, quirk);
  }
}

const answer = (res: ServerResponse, { status, headers = {}, body = '' }: Reply): void =>
  void res.writeHead(status, headers).end(body);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const json = (
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

export const isJson = ({ method, headers, body }: Received): boolean =>
  method === 'POST' &&
  (headers['content-type'] ?? '').startsWith('application/json') &&
  body !== undefined;

/** Names beyond these make a strict platform refuse. */
export const only = (value: object, ...names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));
