import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const network = '10.213.78';
const path = '/usr/sbin:/sbin:/usr/bin:/bin';

/** Why this machine lends no network of namespaces; undefined: it does. */
export function noWire(): string | undefined {
  if (process.getuid?.() !== 0) {
    return 'only root can make network namespaces';
  }
  const tried = spawnSync('unshare', ['--net', 'test', '-w', '/dev/net/tun'], {
    env: { PATH: path },
  });
  return tried.status === 0
    ? undefined
    : 'the kernel lends no network namespace or no /dev/net/tun; load the module tun';
}

/** A network of its own in which each host is a namespace, the first that of this process; its lines lose and delay packets. */
export class Wire {
  readonly #hosts: readonly string[];
  readonly #program = join(tmpdir(), `svc-checks-wire-${process.pid}`);
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  private constructor(hosts: readonly string[]) {
    const source = fileURLToPath(new URL('checks-wire.c', import.meta.url));
    execFileSync('g++', ['-x', 'c', '-O1', '-o', this.#program, source]);
    this.#hosts = hosts;
    this.#spaces.forEach((space) => ip('netns', 'add', space));
    this.#child = spawn(this.#program, ['-', ...this.#spaces], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface(this.#child.stdout!);
  }

  static async open(hosts: readonly string[]): Promise<Wire> {
    const wire = new Wire(hosts);
    await once(wire.#lines, 'line');
    hosts.forEach((host, n) => {
      const inside = n === 0 ? [] : ['-n', spaceOf(host)];
      ip(...inside, 'addr', 'add', `${wire.address(host)}/24`, 'dev', `svcwire${n}`);
      ip(...inside, 'link', 'set', `svcwire${n}`, 'up');
      ip(...inside, 'link', 'set', 'lo', 'up');
    });
    return wire;
  }

  get #spaces(): readonly string[] {
    return this.#hosts.slice(1).map(spaceOf);
  }

  address(host: string): string {
    return `${network}.${this.#hosts.indexOf(host) + 1}`;
  }

  /** The command that runs a program on a host. */
  inside(host: string): readonly string[] {
    return ['ip', 'netns', 'exec', spaceOf(host)];
  }

  /** Sets the line between two hosts: percentage of packets that it loses, and its delay in milliseconds. */
  async set(a: string, b: string, loss: number, delayMs = 0): Promise<void> {
    const done = once(this.#lines, 'line');
    const [from, to] = [a, b].map((host) => this.#hosts.indexOf(host));
    this.#child.stdin!.write(`${from} ${to} ${loss} ${delayMs}\n`);
    await done;
  }

  /** Sets all lines of a host. */
  async setAll(host: string, loss: number, delayMs = 0): Promise<void> {
    for (const other of this.#hosts.filter((one) => one !== host)) {
      await this.set(host, other, loss, delayMs);
    }
  }

  async close(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.stdin!.end();
    await gone;
    this.#spaces.forEach((space) => ip('netns', 'del', space));
    rmSync(this.#program);
  }
}

const spaceOf = (host: string): string => `svc-checks-${host}`;

const ip = (...args: readonly string[]): void =>
  void execFileSync('ip', args, { env: { PATH: path } });
