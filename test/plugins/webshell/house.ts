import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

import { DeviceDirectory } from 'svc/contracts/device';
import { SvcError } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';

import { password, type SignedIn } from '../../trust/household.ts';
import { type Loose, openTerminal, type OpenOptions, type Terminal } from './terminal.ts';

/** Edges that are all online, and lead straight to a port of this machine. */
export function directFleet(port: () => number) {
  const up = new Set<number>();
  const sockets = new Set<Socket>();
  const asked: { service: string; meta: unknown }[] = [];
  const allowed = { webshell: true };
  return {
    up,
    sockets,
    asked,
    allowed,
    online: () => up,
    present: () => up,
    get: (id: number) =>
      up.has(id)
        ? {
            id,
            name: `edge ${id}`,
            status: 'online',
            agent_version: '1.0.0',
            device_id: null,
            last_seen_at: null,
          }
        : undefined,
    list: () => [],
    capabilities: (id: number) =>
      up.has(id) ? { methods: [], streams: ['tcp'], webshell: allowed.webshell } : undefined,
    call: () => Promise.reject(new Error('not asked here')),
    openStream: (_edge: number, service: string, meta: unknown) =>
      new Promise<Socket>((resolve, reject) => {
        asked.push({ service, meta });
        const socket = connect(port(), '127.0.0.1');
        socket.setNoDelay(true);
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        socket.once('error', (cause) =>
          reject(new SvcError('unavailable', 'nothing listens there', { cause })),
        );
        socket.once('connect', () => resolve(socket));
      }),
  };
}

export const rooms = ['iam', 'session', 'audit', 'setting', 'device', 'webshell'] as const;

export interface ShellHouse {
  readonly house: TestHost;
  readonly fleet: ReturnType<typeof directFleet>;
  readonly clock: { ahead: number };
  ask(
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Loose; text: string }>;
  person(name: string, role?: string): Promise<SignedIn>;
  device(edge: number): Promise<number>;
  ticket(who: SignedIn, device: number, user?: string): Promise<string>;
  open(device: number, options: OpenOptions): Promise<Terminal>;
  trail(action: string): Promise<Loose[]>;
}

export async function shellHouse(
  t: Pick<TestContext, 'after'>,
  port: () => number,
  options: Partial<TestHostOptions> = {},
): Promise<ShellHouse> {
  const fleet = directFleet(port);
  const clock = { ahead: 0 };
  const house = await startTestHost(t, {
    plugins: rooms,
    services: { 'edge.fleet': fleet },
    clock: {
      now: () => Date.now() + clock.ahead,
      monotonic: () => performance.now() + clock.ahead,
    },
    ...options,
  });
  for (const { id, state, cause } of house.host.list()) {
    assert.equal(state, 'active', `${id}: ${cause}`);
  }
  const ask: ShellHouse['ask'] = async (method, path, token = house.token, body, headers = {}) => {
    const answer = await house.fetch(`/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      body:
        text === '' || !answer.headers.get('content-type')?.startsWith('application/json')
          ? undefined
          : JSON.parse(text),
    };
  };
  const must = async (...args: Parameters<typeof ask>) => {
    const answer = await ask(...args);
    assert.ok(answer.status < 300, `${args[0]} ${args[1]}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const directory = house.service(DeviceDirectory);
  const people: ShellHouse['person'] = async (name, role = 'shells') => {
    const email = `${name}@example.org`;
    if (role === 'shells' && (await ask('GET', '/roles/shells')).status !== 200) {
      await must('POST', '/roles', undefined, {
        name: 'shells',
        description: 'Opens shells',
        grants: ['webshell'],
      });
    }
    await must('POST', '/users', undefined, { email, display_name: name, role, password });
    const {
      user,
      access_token: access,
      refresh_token: refresh,
    } = await must('POST', '/auth/login', undefined, { email, password });
    return { id: user.id, email, access, refresh };
  };
  return {
    house,
    fleet,
    clock,
    ask,
    person: people,
    async device(edge) {
      fleet.up.add(edge);
      const uuid = `00000000-0000-4000-8000-${String(edge).padStart(12, '0')}`;
      const bound = await directory.bind({
        edge_id: edge,
        machine_uuid: uuid,
        host_info: { hostname: `host-${edge}` },
      });
      return bound.device_id;
    },
    ticket: async (who, device, user) =>
      (
        await must(
          'POST',
          '/webshell/tickets',
          who.access,
          { device_id: device, ...(user !== undefined && { user }) },
          { origin: house.url },
        )
      ).ticket,
    open: (device, wish) =>
      openTerminal(`${house.url.replace('http', 'ws')}/api/v1/devices/${device}/shell`, wish),
    trail: async (action) =>
      (await must('GET', `/admin/audit-logs?action=${action}&limit=200`)).items,
  };
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds());) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
