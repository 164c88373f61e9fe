import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';
import { storedIn } from '../../kit/stored.ts';

export type Texts = Readonly<Record<string, string | Uint8Array>>;

/**
 * Plugins that marketplace needs around it: readers of personas and skills, and those that grant
 * permissions.
 */
export const rooms = [
  'marketplace',
  'packs',
  'drop-ins',
  'persona',
  'gate',
  'skill',
  'mcp',
  'setting',
] as const;

export async function startMarket(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<TestHost> {
  const house = await startTestHost(t, {
    plugins: [...rooms],
    services: {
      'iam.directory': { live: () => undefined },
      'audit.trail': { append: async () => undefined },
    },
    ...options,
  });
  const down = house.host.list().filter(({ state }) => state !== 'active');
  assert.deepEqual(
    down.map(({ id, state, cause }) => `${id} ${state}: ${cause}`),
    [],
  );
  t.after(() =>
    house.lines
      .filter((line) => /"level":"error"/.test(line))
      .forEach((line) => process.stderr.write(`${line}\n`)),
  );
  return house;
}

/** A folder that goes with the test. */
export function folderFor(t: Pick<TestContext, 'after'>, files: Texts = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-market-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  putFiles(folder, files);
  return folder;
}

export function putFiles(folder: string, files: Texts): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

export const skillText = (name: string, body = 'Look at the disk first.'): string =>
  `---\nname: ${name}\ndescription: Teaches ${name}.\n---\n\n${body}\n`;

export const personaText = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Knows ${name}.\nwhen_to_use: Questions on ${name}.\n${more}---\n\nAnswer on ${name}.\n`;

export const manifest = (id: string, more: object = {}): string =>
  JSON.stringify({
    id,
    version: '1.0.0',
    title: id,
    description: `The pack ${id}.`,
    kind: 'pack',
    engines: { host: '^1.0.0' },
    ...more,
  });

export interface TarEntry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  /** One letter of tar: 0 file, 5 folder, 2 symbolic link… */
  readonly kind?: string;
  readonly link?: string;
  /** Size in the header, if it lies. */
  readonly size?: number | string;
  readonly sum?: number;
}

export function tar(entries: readonly TarEntry[], end = true): Buffer {
  const blocks = entries.flatMap(({ name, data = '', kind = '0', link = '', size, sum }) => {
    const body = Buffer.from(data);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100, 'latin1');
    header.write('0000644\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(
      typeof size === 'string' ? size : `${(size ?? body.length).toString(8).padStart(11, '0')}\0`,
      124,
      'latin1',
    );
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write(kind, 156);
    header.write(link, 157, 100);
    header.write('ustar\0' + '00', 257, 'latin1');
    const total = sum ?? header.reduce((all, byte) => all + byte, 0);
    header.write(`${total.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(end ? 1024 : 0)]);
}

export const tgz = (files: Texts): Buffer =>
  gzipSync(tar(Object.entries(files).map(([name, data]) => ({ name, data }))));

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

export interface Reply {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  readonly body: any;
}

export async function ask(
  house: TestHost,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const raw = body instanceof Uint8Array;
  const reply = await house.fetch(`/api/v1/marketplace${path}`, {
    method,
    headers: { ...(raw && { 'content-type': 'application/gzip' }), ...headers },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
}

export const upload = (house: TestHost, files: Texts | Buffer, query = ''): Promise<Reply> =>
  ask(house, 'POST', `/upload${query}`, Buffer.isBuffer(files) ? files : tgz(files));

/** The hash that confirms the preview in the answer. */
export const confirmOf = ({
  details = [],
}: {
  details?: { path: string; message: string }[];
}): string => details.find(({ path }) => path === '/confirm')?.message ?? 'none';

/** Resolves when nothing of an uninstalled pack is left to be cleaned. */
export async function cleaned({ dataDir }: Pick<TestHost, 'dataDir'>): Promise<void> {
  const db = storedIn(dataDir, { readonly: true });
  try {
    const left = db.prepare('select count(*) from marketplace_changes').pluck();
    for (const deadline = Date.now() + 60_000; left.get() !== 0; await sleep(20)) {
      assert.ok(Date.now() < deadline, 'what packs have left is cleaned');
    }
  } finally {
    db.close();
  }
}

/** Sends it again with the hash of the preview that came back. */
export async function uploadConfirmed(
  house: TestHost,
  files: Texts | Buffer,
  reason = '',
): Promise<Reply> {
  const { status, body } = await upload(house, files);
  assert.equal(status, 409, JSON.stringify(body));
  return await upload(
    house,
    files,
    `?confirm=${confirmOf(body)}${reason === '' ? '' : `&reason=${encodeURIComponent(reason)}`}`,
  );
}
