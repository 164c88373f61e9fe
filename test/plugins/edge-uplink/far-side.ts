import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { SvcError } from 'svc/sdk';
import {
  makeCredentials,
  openSession,
  openSweeper,
  serverHandshake,
  sweepMs,
  type TunnelMethod,
  type TunnelSession,
  TunnelRefusal,
} from 'svc/tunnel';
import { WebSocketServer } from 'ws';

import { systemClock, systemIds } from '../../../core/boot/time.ts';
import { WebSocketTransport } from '../../../plugins/lib/tunnel/message/web-socket.ts';

export interface Push {
  readonly path: string;
  readonly user: string;
  readonly body: string;
}

const ids = systemIds(systemClock);
const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The manager's side of tunnel and data plane, which misbehaves as a test wants. */
export async function startManager(t: TestContext) {
  const made = makeCredentials(ids);
  const keys = [made];
  const told: { event: string; payload: Record<string, unknown> }[] = [];
  const pushes: Push[] = [];
  const hellos: { agent_id: string; caps: readonly string[]; state: unknown; purpose: string }[] =
    [];
  const behaviour: {
    push: (push: Push, response: ServerResponse) => void;
    accept: boolean;
    deaf: boolean;
    takesPushes: boolean;
    spreadMs: number;
  } = {
    push: (_push, response) => response.writeHead(204).end(),
    accept: true,
    deaf: false,
    takesPushes: false,
    spreadMs: 0,
  };
  let session: TunnelSession | undefined;
  const listener =
    (event: string) => (payload: Record<string, unknown> | Record<string, unknown>[]) =>
      [payload].flat().forEach((one) => told.push({ event, payload: one }));
  const events = new Map(
    ['plugin_health', 'host_info', 'policy', 'buffer', 'upgrade_state', 'lamp'].map((event) => [
      event,
      listener(event),
    ]),
  );
  const tell = {
    handle({ event, payload }: { event: string; payload: Record<string, unknown> }) {
      if (behaviour.deaf) {
        throw new SvcError('unavailable', 'not now');
      }
      events.get(event)!(payload);
      return {};
    },
  };
  /** Push of an edge that has not introduced itself in a request. */
  const push = {
    handle({ to, body }: { to: string; body: string }) {
      const text = Buffer.from(body, 'base64').toString();
      pushes.push({ path: to, user: '', body: text });
      if (text === 'poison') {
        throw new SvcError('invalid_argument', 'no such sample');
      }
      if (text === 'haste' && pushes.filter((one) => one.body === text).length < 3) {
        throw new SvcError('rate_limited', 'too fast', { retryAfterSeconds: 0 });
      }
      return {};
    },
  };
  const methods = new Map<string, TunnelMethod>([
    ['tell', tell],
    ['push', push],
  ]);
  const sweeper = openSweeper(systemClock, (error) => {
    throw error;
  });
  const timer = setInterval(() => sweeper.tick(), sweepMs);

  const http = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const basic = Buffer.from(
        (request.headers.authorization ?? '').replace('Basic ', ''),
        'base64',
      ).toString();
      const push = {
        path: request.url!,
        user: basic.split(':')[0]!,
        body: Buffer.concat(chunks).toString(),
      };
      pushes.push(push);
      behaviour.push(push, response);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (!behaviour.accept) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => void greet(new WebSocketTransport(ws)));
  });

  async function greet(transport: WebSocketTransport): Promise<void> {
    try {
      const { hello, state } = await serverHandshake(transport, {
        sweeper,
        ids,
        find: (accessKey) => (accessKey === made.access_key ? keys : []),
        admit: () => ({
          edge_id: 7,
          takes_pushes: behaviour.takesPushes,
          spread_ms: behaviour.spreadMs,
        }),
      });
      hellos.push({ ...hello, state });
      if (hello.purpose === 'probe') {
        transport.close(1000, 'proved');
        return;
      }
      session = openSession(transport, {
        side: 'manager',
        sweeper,
        log,
        random: Math.random,
        handlers: { events, methods },
      });
    } catch (error) {
      if (!(error instanceof TunnelRefusal)) {
        throw error;
      }
    }
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  t.after(async () => {
    clearInterval(timer);
    sockets.clients.forEach((client) => client.terminate());
    http.closeAllConnections();
    http.close();
    await once(http, 'close');
  });
  return {
    url,
    told,
    pushes,
    hellos,
    behaviour,
    keys,
    credentials: {
      manager: url,
      tunnel_path: '/internal/tunnel',
      edge_id: 7,
      name: 'lamp post',
      access_key: made.access_key,
      secret_key: made.secret_key,
    },
    /** The tunnel that is up now; waits for one. */
    async session(): Promise<TunnelSession> {
      await until('an edge is connected', () => session?.live === true);
      return session!;
    },
    /** Terminates connections like a killed process. */
    vanish: () => sockets.clients.forEach((client) => client.terminate()),
    events: (event: string) =>
      told.filter((one) => one.event === event).map(({ payload }) => payload),
  };
}

export async function until(what: string, holds: () => boolean, withinMs = 60_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; !holds();) {
    if (Date.now() > deadline) {
      throw new Error(`within ${withinMs / 1000} s: ${what}`);
    }
    await pause(25);
  }
}
