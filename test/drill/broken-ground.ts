import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const password = 'a long enough passphrase';
const email = 'admin@example.org';
const startMs = 120_000;
const nobody = 65_534;
const diskMb = 480;

/** Something under svc that is not as it should be. */
interface Ground {
  readonly name: string;
  /** Damages the place before the start; `disk` is mounted at the folder that holds `data`. */
  readonly spoil: (place: Place) => void | Promise<void>;
  readonly launch?: (place: Place) => {
    readonly program?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly uid?: number;
  };
  readonly mend?: (place: Place) => void;
  /** Serves: signs in and reads, and changes what `writes` says. Otherwise ends with one sentence that says this. */
  readonly expects: { readonly writes: 201 | 503 } | { readonly sentence: RegExp };
}

interface Place {
  readonly disk: string;
  readonly data: string;
  readonly password: string;
  port: number;
}

const serving = (port: number): string => `http://127.0.0.1:${port}`;

export const grounds: readonly Ground[] = [
  {
    name: 'disk full to the last byte',
    spoil: ({ disk }) => fill(disk, 0),
    mend: ({ disk }) => rmSync(join(disk, 'filler')),
    expects: { writes: 503 },
  },
  {
    name: 'disk nearly full',
    spoil: ({ disk }) => fill(disk, 100),
    mend: ({ disk }) => rmSync(join(disk, 'filler')),
    expects: { writes: 503 },
  },
  {
    name: 'data folder on a disk that is read-only',
    spoil: ({ disk }) => void execFileSync('mount', ['-o', 'remount,ro', disk]),
    mend: ({ disk }) => void execFileSync('mount', ['-o', 'remount,rw', disk]),
    expects: { sentence: /read-only: make it writable/ },
  },
  {
    name: 'disk that reports input/output errors',
    spoil: () => undefined,
    launch: ({ data }) => ({
      program: [
        'strace',
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-P',
        join(data, 'svc.db-wal'),
        '-e',
        'inject=fsync,fdatasync:error=EIO',
        process.execPath,
      ],
    }),
    expects: { writes: 503 },
  },
  {
    name: 'data folder of another user',
    spoil: ({ disk }) => chmodSync(disk, 0o755),
    launch: () => ({ uid: nobody }),
    expects: { sentence: /run svc as the owner of the data folder/ },
  },
  {
    name: 'master key that is gone',
    spoil: ({ data }) => rmSync(join(data, 'keys/secret.key')),
    expects: { sentence: /is gone: restore .* from a backup/ },
  },
  {
    name: 'clock ten years ahead',
    spoil: () => undefined,
    launch: () => ({ program: ['faketime', '-f', '+3650d', process.execPath] }),
    expects: { writes: 201 },
  },
  {
    name: 'port that is taken',
    spoil: async (place) => {
      place.port = await taken();
    },
    expects: { sentence: /in use by another process; stop it or set SVC_HTTP_ADDR/ },
  },
];

/** Ways in which the ground is broken × start, sign in, read, alert: the best that can be done, and a sentence that says what to do. */
export async function run({ only }: { readonly only?: readonly string[] } = {}): Promise<Outcome> {
  if (process.getuid?.() !== 0) {
    return { ok: true, skipped: 'mounting small disks takes root' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-ground-'));
  const given = join(folder, 'given');
  writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
  try {
    await furnish(given, join(folder, 'password'));
    const cases: Row[] = [];
    for (const ground of grounds.filter(({ name }) => only === undefined || only.includes(name))) {
      const row = await stand(ground, given, folder);
      say(JSON.stringify(row));
      cases.push(row);
    }
    return { ok: cases.every(({ ok }) => ok === true), grounds: cases };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A data folder that has been in use and was killed. */
async function furnish(data: string, passwordFile: string): Promise<void> {
  const port = await free();
  const house = launch({
    data,
    port,
    environment: { SVC_ADMIN_EMAIL: email, SVC_ADMIN_PASSWORD_FILE: passwordFile },
  });
  try {
    if (!(await house.serves())) {
      throw new Error(`a house on good ground did not start: ${house.output()}`);
    }
  } finally {
    await house.kill();
  }
  // What was given up when the disk filled up, while it served.
  rmSync(join(data, 'ballast'), { force: true });
}

async function stand(ground: Ground, given: string, folder: string): Promise<Row> {
  const disk = mkdtempSync(join(folder, 'disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', disk]);
  const place: Place = {
    disk,
    data: join(disk, 'data'),
    password: join(folder, 'password'),
    port: await free(),
  };
  try {
    cpSync(given, place.data, { recursive: true });
    await ground.spoil(place);
    const { program, environment, uid } = ground.launch?.(place) ?? {};
    const house = launch({
      data: place.data,
      port: place.port,
      ...(program && { program }),
      ...(environment && { environment }),
      ...(uid && { uid }),
    });
    try {
      return await look(ground, house, place);
    } finally {
      await house.kill();
      ground.mend?.(place);
    }
  } finally {
    execFileSync('umount', ['-l', disk]);
  }
}

async function look({ name, expects }: Ground, house: House, { port }: Place): Promise<Row> {
  const began = performance.now();
  const isUp = await house.serves();
  const readyMs = Math.round(performance.now() - began);
  const said = house.output().trim().split('\n');
  if (!isUp) {
    const sentence = said.find((line) => line.startsWith('svc: ')) ?? said.at(-1) ?? '';
    const isOne =
      'sentence' in expects &&
      expects.sentence.test(sentence) &&
      said.filter((line) => line.startsWith('svc: ')).length === 1 &&
      !/\bat .*:\d+:\d+/.test(house.output());
    return { ground: name, ok: isOne, start: 'ends', says: sentence.slice(0, 300) };
  }
  const signIn = await ask(port, 'POST', '/api/v1/auth/login', undefined, { email, password });
  const token = signIn.body?.access_token as string | undefined;
  const reads = await Promise.all(
    [
      '/api/v1/me',
      '/api/v1/devices',
      '/api/v1/alerts/incidents',
      '/prometheus/api/v1/query?query=1',
    ].map((path) => ask(port, 'GET', path, token)),
  );
  const before = await cycle(port, token);
  const write = await ask(port, 'POST', '/api/v1/edges', token, { name: 'x' });
  const turns = await until(async () => (await cycle(port, token)) !== before);
  const ready = await ask(port, 'GET', '/readyz', undefined);
  const statuses = reads.map(({ status }) => status);
  const ok =
    'writes' in expects &&
    signIn.status === 200 &&
    statuses.every((status) => status === 200) &&
    write.status === expects.writes &&
    turns;
  const tells =
    write.status === 201 ? '' : JSON.stringify(write.body?.['message'] ?? write.text).slice(0, 300);
  return {
    ground: name,
    ok,
    start: `${readyMs} ms`,
    'sign in': signIn.status,
    reads: statuses.join(' '),
    write: write.status,
    alerts: turns,
    readyz: ready.status,
    says: tells,
  };
}

async function cycle(port: number, token: string | undefined): Promise<unknown> {
  const { body } = await ask(port, 'GET', '/api/v1/alerts/runtime-info', token);
  return (body?.['last_cycle'] as { started_at?: unknown } | undefined)?.started_at;
}

interface House {
  serves(): Promise<boolean>;
  output(): string;
  kill(): Promise<void>;
}

interface Launch {
  readonly data: string;
  readonly port: number;
  readonly program?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly uid?: number;
}

function launch({ data, port, program = [process.execPath], environment, uid }: Launch): House {
  const [command, ...args] = program;
  const child = spawn(command!, [...args, join(root, 'bin/svc'), 'serve'], {
    cwd: root,
    detached: true,
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      SVC_DATA_DIR: data,
      SVC_HTTP_ADDR: `127.0.0.1:${port}`,
      SVC_EDGE_LOCAL: 'false',
      SVC_LOG_LEVEL: 'error',
      SVC_ALERT_EVAL_INTERVAL: '5s',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  let output = '';
  [child.stdout, child.stderr].forEach((stream) =>
    stream.on('data', (text: Buffer) => (output += text.toString())),
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let ended = false;
  void gone.then(() => (ended = true));
  return {
    output: () => output,
    async serves() {
      for (
        const deadline = Date.now() + startMs;
        Date.now() < deadline && !ended;
        await pause(100)
      ) {
        if (
          (await ask(port, 'GET', '/healthz', undefined).catch(() => undefined))?.status === 200 &&
          output.includes('Ready in')
        ) {
          return true;
        }
      }
      return false;
    },
    async kill() {
      if (!ended) {
        // With what watches it.
        process.kill(-child.pid!, 'SIGKILL');
        await gone;
      }
    },
  };
}

async function ask(
  port: number,
  method: string,
  path: string,
  token: string | undefined,
  body?: object,
) {
  const answer = await fetch(serving(port) + path, {
    method,
    signal: AbortSignal.timeout(30_000),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  let value: Record<string, unknown> | undefined;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Not every answer is JSON.
  }
  return { status: answer.status, text, body: value };
}

/** Leaves so many megabytes. */
function fill(disk: string, leaveMb: number): void {
  spawnSync('dd', [
    'if=/dev/zero',
    `of=${join(disk, 'filler')}`,
    'bs=64k',
    'conv=notrunc',
    'oflag=append',
    `count=${leaveMb === 0 ? 1 << 20 : (diskMb - leaveMb) * 16}`,
  ]);
}

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + 40_000; Date.now() < deadline; await pause(250)) {
    if (await holds()) {
      return true;
    }
  }
  return false;
}

async function free(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function taken(): Promise<number> {
  const server = createServer((socket) => void socket.destroy())
    .listen(0, '127.0.0.1')
    .unref();
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as { port: number }).port;
}
