import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type RunningCore, boot } from '../../core/boot/boot.ts';
import { productFromSource } from '../../core/boot/settings/product.ts';
import type { Bundle, Bundler } from '../../core/host/index.ts';
import { sourceBundler } from '../../bin/bundler/sources.ts';
import { watchFolders } from '../../bin/serve/watcher/watch.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rooms = readdirSync(join(root, 'plugins')).filter((id) => runsOn(id).includes('manager'));
const half = Math.ceil(rooms.length / 2);
/** Plugins in two halves, for test files that run in parallel. */
export const halves = [rooms.slice(0, half), rooms.slice(half)] as const;

interface Manifest {
  readonly runs_on?: readonly string[];
  readonly requires?: readonly { readonly service: string }[];
  readonly optional?: readonly { readonly service: string }[];
  readonly provides?: readonly { readonly service: string }[];
}

function manifestOf(id: string): Manifest | undefined {
  const file = join(root, 'plugins', id, 'plugin.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
}

/** Returns the platforms of a plugin; those of the agent have a host of their own. */
function runsOn(id: string): readonly string[] {
  const manifest = manifestOf(id);
  return manifest === undefined ? [] : (manifest.runs_on ?? ['manager']);
}

/** Max plugins missing together. */
const maxMissing = 6;

/**
 * Returns these plugins in groups that may be missing together: none of a group needs another of it, and no plugin
 * misses two of them, so that each is missed as if it were the only one.
 */
function groupsOf(ids: readonly string[]): readonly (readonly string[])[] {
  const needs = new Map(rooms.map((id) => [id, needsOf(id)]));
  const apart = (a: string, b: string): boolean =>
    !needs.get(a)!.has(b) &&
    !needs.get(b)!.has(a) &&
    ![...needs.values()].some((needed) => needed.has(a) && needed.has(b));
  const groups: string[][] = [];
  for (const id of ids) {
    const group = groups.find(
      (members) => members.length < maxMissing && members.every((member) => apart(id, member)),
    );
    if (group === undefined) {
      groups.push([id]);
    } else {
      group.push(id);
    }
  }
  return groups;
}

function needsOf(id: string): ReadonlySet<string> {
  const { requires = [], optional = [] } = manifestOf(id)!;
  const services = new Set([...requires, ...optional].map(({ service }) => service));
  return new Set(
    rooms.filter((other) =>
      manifestOf(other)!.provides?.some(({ service }) => services.has(service)),
    ),
  );
}

const ownRooms = ({ host }: RunningCore): ReturnType<RunningCore['host']['list']> =>
  host.list().filter(({ id }) => rooms.includes(id));

/**
 * Each of these rooms leaves a house that serves, and comes back: one house for all of them, and a
 * group at a time, since asking every route takes longer than all the rest.
 */
export function serveWhileLeaving(leaving: readonly string[]): void {
  let house: RunningCore;
  let stop = (): Promise<void> => Promise.resolve();
  // Hooks run in the order they were added: the house stops before its product goes.
  after(() => stop());
  const { product, away, back } = ownProduct();
  before(async () => {
    house = await houseOf((stopHouse) => (stop = stopHouse), product);
  });
  for (const group of groupsOf(leaving)) {
    const names = group.join(', ');
    test(`serves on when ${names} leave, says what is missing, and takes them back`, async () => {
      const asked = new Set<string>();
      group.forEach(away);
      try {
        await until(`gone: ${names}`, () => ownRooms(house).every(({ id }) => !group.includes(id)));
        await house.host.settled();
        await assertServesOn(house, asked);
      } finally {
        group.forEach(back);
      }
      await untilWhole(house, names);
      await everyRouteAnswers(house, asked);
    });
  }
}

/** Each of these plugins is missing at a start, and is put back while the host serves. */
export function serveWithout(missing: readonly string[]): void {
  const { product, away, back } = ownProduct();
  for (const group of groupsOf(missing)) {
    const names = group.join(', ');
    test(`starts without ${names}, says what is missing, and takes them in while it runs`, async (t) => {
      group.forEach(away);
      const house = await houseOf((stop) => t.after(stop), product);
      const asked = new Set<string>();
      try {
        await assertServesOn(house, asked);
      } finally {
        group.forEach(back);
      }
      await untilWhole(house, names);
      await everyRouteAnswers(house, asked);
    });
  }
}

interface OwnProduct {
  readonly product: string;
  away(room: string): void;
  back(room: string): void;
}

/** A copy of the product, whose rooms can be moved away. */
function ownProduct(): OwnProduct {
  const product = mkdtempSync(join(tmpdir(), 'svc-rooms-'));
  const placeOf = (room: string): string => join(product, 'plugins', room);
  const awayOf = (room: string): string => join(product, `away-${room}`);
  before(() => {
    for (const folder of ['plugins', 'agents', 'skills', 'config', 'vault']) {
      cpSync(join(root, folder), join(product, folder), { recursive: true });
    }
  });
  after(() => rmSync(product, { recursive: true, force: true }));
  return {
    product,
    away: (room) => renameSync(placeOf(room), awayOf(room)),
    back: (room) => renameSync(awayOf(room), placeOf(room)),
  };
}

async function assertServesOn(house: RunningCore, asked: Set<string>): Promise<void> {
  await untilReady(house);
  assertBlocked(house);
  await assertOutages(house);
  await everyRouteAnswers(house, asked);
}

/**
 * Bundles each room of the copy as the room of the checkout that it is, which other tests have
 * bundled before and will again: a copy is in a new place each time.
 */
const bundlerFor =
  (product: string) =>
  (cacheDir: string): Bundler => {
    const bundler = sourceBundler(cacheDir);
    const original = (file: string): string => join(root, relative(product, file));
    const copied = (file: string): string => {
      const place = relative(root, file);
      return place.startsWith('plugins/') && !place.startsWith('plugins/lib/')
        ? join(product, place)
        : file;
    };
    const ofCopy = (bundle: Bundle, entry: string): Bundle => ({
      ...bundle,
      filename: entry,
      inputs: bundle.inputs.map(copied),
    });
    return {
      ...bundler,
      plugin: async (entry, manifest) =>
        ofCopy(await bundler.plugin(original(entry), manifest), entry),
      thread: async (entry, manifest) =>
        ofCopy(await bundler.thread(original(entry), manifest), entry),
    };
  };

/** A store that is busy with a reload may answer a health check late, once. */
async function untilReady({ url }: RunningCore): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (let ready = await fetch(`${url}/readyz`); ready.status !== 200;) {
    assert.ok(Date.now() < deadline, `within 60 s: ${await ready.text()}`);
    await pause(200);
    ready = await fetch(`${url}/readyz`);
  }
}

const untilWhole = (house: RunningCore, room: string): Promise<void> =>
  until(
    `${room} and all that need it are active again`,
    () =>
      ownRooms(house).length === rooms.length &&
      ownRooms(house).every(({ state }) => state === 'active'),
  );

async function houseOf(
  atEnd: (stop: () => Promise<void>) => void,
  product: string,
): Promise<RunningCore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-rooms-data-'));
  let house: RunningCore | undefined = await boot({
    bundler: bundlerFor(product),
    watch: watchFolders,
    product: { ...productFromSource(root), root: product },
    environment: { SVC_HTTP_ADDR: '127.0.0.1:0', SVC_DATA_DIR: dataDir },
    writeLog: () => undefined,
    checkResponses: true,
  });
  atEnd(async () => {
    await house!.stop('the test has ended');
    // The runner keeps a test, and so this function, until the last one has ended.
    house = undefined;
    rmSync(dataDir, { recursive: true, force: true });
  });
  return house;
}

/** Asserts that each inactive plugin lacks a service, and says which. */
function assertBlocked(house: RunningCore): void {
  for (const { id, state, cause } of ownRooms(house).filter(
    (plugin) => plugin.state !== 'active',
  )) {
    assert.equal(state, 'blocked', `${id} is ${state}: ${cause}`);
    assert.match(cause!, /needs service [a-z.]+/);
  }
}

async function assertOutages({ registry, url, operatorToken }: RunningCore): Promise<void> {
  for (const { mount } of registry.current.outages) {
    const answer = await fetch(url + mount, {
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    const { error, message } = (await answer.json()) as { error: string; message: string };
    assert.deepEqual([answer.status, error], [503, 'unavailable']);
    assert.match(message, /is blocked: it needs service/);
  }
}

/** Asks every declared route that was not asked yet for something that need not exist: an answer with a meaning is enough, a failure is not. */
async function everyRouteAnswers(house: RunningCore, asked: Set<string>): Promise<void> {
  for (const [name, { value }] of house.registry.current.routes) {
    if (value.kind === 'socket' || value.kind === 'events' || asked.has(name)) {
      continue;
    }
    asked.add(name);
    const path = value.path.replaceAll(/\{[^}]+\}/g, '999999');
    const answer = await fetch(house.url + path, {
      method: value.method,
      headers: {
        authorization: `Bearer ${house.operatorToken}`,
        ...(value.method !== 'GET' && { 'content-type': 'application/json' }),
      },
      ...(value.method !== 'GET' && value.body && { body: '{}' }),
    });
    const body = await answer.text();
    assert.ok(answer.status < 500, `${value.method} ${path} answered ${answer.status}: ${body}`);
    // A protocol that words its errors itself may say nothing at all of what is not there.
    assert.ok(
      answer.status !== 404 || body.includes('not_found') || value.wording !== undefined,
      `${value.method} ${path} is gone`,
    );
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !holds();) {
    assert.ok(Date.now() < deadline, `within 60 s: ${what}`);
    await pause(20);
  }
}
