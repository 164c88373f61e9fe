import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import { startSshd } from '../plugins/webshell/sshd.ts';
import { openTerminal, type Terminal } from '../plugins/webshell/terminal.ts';

/**
 * Shells on Debian's SSH server through an agent and a service, each in its own process: how soon a keystroke comes back, alone and
 * beside three shells that print without end; what a browser that reads nothing costs; and whether 200 MB arrive as they are.
 * `direct` leaves out the agent and its tunnel.
 */
export async function run({
  samples = 400,
  seconds = 60,
  megabytes = 200,
  direct = false,
}: {
  readonly samples?: number;
  readonly seconds?: number;
  readonly megabytes?: number;
  readonly direct?: boolean;
} = {}): Promise<Outcome> {
  const [load = 0] = loadavg();
  const ends: (() => unknown)[] = [];
  const sshd = await startSshd({
    after: (end: () => unknown) => void ends.unshift(end),
    skip: (why?: string) => console.error(why),
  });
  if (!sshd) {
    throw new Error('this needs openssh-server');
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-shell-'));
  const child = fork(
    join(import.meta.dirname, 'webshell-child.ts'),
    [String(sshd.port), folder, direct ? 'direct' : 'agent'],
    {
      execArgv: ['--import', 'tsx', '--expose-gc'],
    },
  );
  try {
    const [{ url, token, device }] = (await told(child)) as [
      { url: string; token: string; device: number },
    ];
    const open = async (acks = false): Promise<Terminal> => {
      const first = { user: sshd.user, auth: { type: 'key', private_key: sshd.privateKey } };
      const shell = await openTerminal(
        `${url.replace('http', 'ws')}/api/v1/devices/${device}/shell`,
        { bearer: token, first, acks },
      );
      await shell.frame('ready');
      return shell;
    };
    const typing = await open();
    const alone = await echo(typing, samples);
    const noisy = [await open(), await open(), await open()];
    let printed = 0;
    noisy.forEach((shell) => {
      shell.ws.removeAllListeners('message');
      shell.ws.on('message', (bytes: Buffer) => (printed += bytes.length));
      shell.type('yes\n');
    });
    await pause(2_000);
    await usage(child);
    const rate = async (work: Promise<unknown>): Promise<number> => {
      const from = { bytes: printed, at: performance.now() };
      await work;
      return Math.round((printed - from.bytes) / (performance.now() - from.at) / 100) / 10;
    };
    const echoing = echo(typing, samples);
    const rateBeside = await rate(echoing);
    const beside = await echoing;
    const { loopP99 } = await usage(child);
    await pause(1_500);
    const rateAlone = await rate(pause(3_000));
    noisy.forEach((shell) => shell.say({ type: 'close' }));
    typing.say({ type: 'close' });
    await pause(2_000);

    const before = await usage(child);
    const silent = await open();
    silent.ws.pause();
    silent.type('yes\n');
    let most = 0;
    const busyBefore = await usage(child);
    const shown: number[] = [];
    for (const end = Date.now() + seconds * 1_000; Date.now() < end; await pause(1_000)) {
      most = Math.max(most, (await usage(child)).rssMb);
      shown.push(await printedBy(`${url}/api/v1/webshell/sessions?limit=1`, token));
    }
    const isBlocked = shown.at(-1) === shown[Math.floor(shown.length / 2)];
    const busy = (await usage(child)).cpu.user - busyBefore.cpu.user;
    silent.ws.terminate();

    const text = await transfer(await open(true), join(folder, 'text'), megabytes, () => page);
    const bulk = await transfer(await open(true), join(folder, 'bytes'), megabytes, () =>
      randomBytes(page.length),
    );
    const growth = Math.round((most - before.rssMb) * 10) / 10;
    return {
      ok: beside.p99 < 20 && growth < 20 && isBlocked && text.same && bulk.same,
      'echo alone p50, ms': alone.p50,
      'echo alone p99, ms': alone.p99,
      'echo beside three shells that print without end p50, ms': beside.p50,
      'the same p99, ms (goal 20)': beside.p99,
      'MB/s of the three meanwhile': rateBeside,
      'MB/s of the three while nobody types': rateAlone,
      'the loop of the service meanwhile p99, ms': Math.round(loopP99 * 10) / 10,
      'a browser that reads nothing, MB (goal 20)': growth,
      'its shell waits': isBlocked,
      'CPU of the service meanwhile, cores': Math.round(busy / 1e4 / seconds) / 100,
      'bytes arrive as they are': text.same && bulk.same,
      'MB/s of text': text.rate,
      'MB/s of random bytes': bulk.rate,
      'load of the machine at the beginning': Math.round(load * 10) / 10,
    };
  } finally {
    child.disconnect();
    child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    for (const end of ends) {
      await end();
    }
  }
}

interface Usage {
  readonly rssMb: number;
  readonly cpu: { readonly user: number };
  /** Event loop lag since the last query. */
  readonly loopP99: number;
}

/** Bytes that the newest shell has printed. */
async function printedBy(sessions: string, token: string): Promise<number> {
  const answer = await fetch(sessions, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { items: { bytes_out: number }[] }).items[0]!.bytes_out;
}

/** Returns the next message of the service; undefined once it has ended. */
async function told(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const end = (): void => ended.abort(new Error('the service has ended'));
  child.once('exit', end);
  try {
    return await once(child, 'message', { signal: ended.signal });
  } finally {
    child.off('exit', end);
  }
}

async function usage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  return ((await told(child)) as [Usage])[0];
}

/** Types a letter, waits until it is shown, and again. */
async function echo(shell: Terminal, samples: number): Promise<{ p50: number; p99: number }> {
  const took: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const shown = once(shell.ws, 'message');
    const from = performance.now();
    shell.type('x');
    await shown;
    took.push(performance.now() - from);
    await pause(20);
  }
  shell.type('\u0015');
  await pause(200);
  took.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(took[Math.floor(share * (took.length - 1))]! * 100) / 100;
  return { p50: at(0.5), p99: at(0.99) };
}

const page = Buffer.alloc(
  1024 * 1024,
  'drwxr-xr-x  2 root root  4096 Nov 22 07:10 a folder, as a listing shows it\n',
);

/** Checks what `cat` prints, separated from the terminal's own output by where it begins. */
async function transfer(
  shell: Terminal,
  path: string,
  megabytes: number,
  next: () => Buffer,
): Promise<{ same: boolean; rate: number }> {
  const wanted = createHash('sha256');
  await pipeline(async function* () {
    for (let part = 0; part < megabytes; part += 1) {
      const bytes = next();
      wanted.update(bytes);
      yield bytes;
    }
  }, createWriteStream(path));
  const size = megabytes * page.length;
  const got = createHash('sha256');
  const marker = 'BEGIN-HERE';
  let head: Buffer | undefined = Buffer.alloc(0);
  let taken = 0;
  let acknowledged = 0;
  shell.ws.removeAllListeners('message');
  const all = new Promise<void>((done) =>
    shell.ws.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) {
        return;
      }
      acknowledged += data.length;
      shell.say({ type: 'ack', bytes: acknowledged });
      let piece = data;
      if (head) {
        head = Buffer.concat([head, data]);
        const at = head.indexOf(marker);
        if (at < 0) {
          return;
        }
        piece = head.subarray(at + marker.length);
        head = undefined;
      }
      const mine = piece.subarray(0, size - taken);
      got.update(mine);
      taken += mine.length;
      if (taken === size) {
        done();
      }
    }),
  );
  const from = performance.now();
  shell.type(`stty raw -echo; printf 'BEGIN-H''ERE'; cat ${path}\n`);
  await Promise.race([all, pause(300_000)]);
  const rate = Math.round(taken / (performance.now() - from) / 100) / 10;
  shell.say({ type: 'close' });
  return { same: wanted.digest('hex') === got.digest('hex'), rate };
}
