import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createPipe } from 'node:net';
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Try {
  readonly stage: 'build' | 'load' | 'run';
  readonly name: string;
  /** Returns what the pack was told or made; anything from outside in it is an escape. */
  attempt(): Promise<string>;
}

/**
 * Marker in the content and name of a secret file, in the environment, and in the result of an
 * attempt that succeeded.
 */
export const loot = 'LOOT-7f3a9c';

/**
 * Outside that packs try to reach: a secret next to their folders, ports to connect to, a place to
 * write to.
 */
export class Ground {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-pack-escape-')));
  readonly secret = join(this.home, 'keys', `${loot}.key`);
  /** Path relative to the folder of a pack, which is two levels down. */
  readonly relative = `../../keys/${loot}.key`;
  readonly writable = join(this.home, 'writable');
  readonly pipe = join(this.home, 'door.sock');
  readonly #tcp = createServer((_request, reply) => void reply.end(loot));
  readonly #pipe = createPipe((socket) => void socket.on('error', () => undefined).end(loot));
  readonly #udp = createSocket('udp4');
  #knocks = 0;

  constructor() {
    mkdirSync(join(this.home, 'keys'));
    mkdirSync(this.writable);
    writeFileSync(this.secret, loot);
    writeFileSync(
      `${this.secret}.map`,
      JSON.stringify({
        version: 3,
        sources: [loot],
        sourcesContent: [loot],
        names: [],
        mappings: 'AAAA',
      }),
    );
    writeFileSync(join(this.home, 'keys', `${loot}.js`), `module.exports = '${loot}'`);
    process.env['PACK_ESCAPE'] = loot;
  }

  async open(): Promise<void> {
    this.#tcp.on('connection', () => (this.#knocks += 1));
    this.#pipe.on('connection', () => (this.#knocks += 1));
    this.#udp.on('message', () => (this.#knocks += 1));
    await new Promise<void>((resolve) => this.#tcp.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => this.#pipe.listen(this.pipe, resolve));
    await new Promise<void>((resolve) => this.#udp.bind(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#tcp.address() as AddressInfo).port;
  }

  get udpPort(): number {
    return this.#udp.address().port;
  }

  /** Why the last try was an escape; undefined when nothing came out and nothing was left. */
  escape(told: string): string | undefined {
    const written = readdirSync(this.writable);
    if (written.length > 0) {
      written.forEach((name) =>
        rmSync(join(this.writable, name), { recursive: true, force: true }),
      );
      return `wrote ${written.join(', ')}`;
    }
    if (this.#knocks > 0) {
      this.#knocks = 0;
      return 'opened a connection';
    }
    // A try names what it is after; only what it could not know counts.
    const found = told
      .replaceAll(this.secret, '')
      .replaceAll(this.secret.replace(/key$/, 'js'), '')
      .replaceAll(this.relative, '')
      .replaceAll(this.home, '')
      .includes(loot);
    return found ? `got ${told.slice(0, 200)}` : undefined;
  }

  async close(): Promise<void> {
    delete process.env['PACK_ESCAPE'];
    this.#tcp.closeAllConnections();
    await new Promise((resolve) => this.#tcp.close(resolve));
    await new Promise((resolve) => this.#pipe.close(resolve));
    await new Promise<void>((resolve) => this.#udp.close(() => resolve()));
    rmSync(this.home, { recursive: true, force: true });
  }
}
