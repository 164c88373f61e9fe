import 'reflect-metadata';

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type House, startHouse } from '../../core/boot/house.ts';
import { productFromSource } from '../../core/boot/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rooms = readdirSync(join(root, 'plugins')).filter((id) => existsSync(join(root, 'plugins', id, 'plugin.json')));

describe('a house from which a room is taken away', () => {
  for (const room of rooms) {
    test(`serves on without ${room}, says what is missing, and takes the room back while it runs`, async (t) => {
      const { house, away, product } = await houseWithout(t, room);
      const ready = await fetch(`${house.url}/readyz`);
      assert.equal(ready.status, 200, await ready.text());

      const blocked = house.host.list().filter(({ state }) => state !== 'active');
      for (const plugin of blocked) {
        assert.equal(plugin.state, 'blocked', `${plugin.id} is ${plugin.state}: ${plugin.cause}`);
        assert.match(plugin.cause!, /needs service [a-z.]+/);
      }
      for (const { mount } of house.registry.current.outages) {
        const answer = await fetch(house.url + mount, { headers: { authorization: `Bearer ${house.operatorToken}` } });
        const { error, message } = (await answer.json()) as { error: string; message: string };
        assert.deepEqual([answer.status, error], [503, 'unavailable']);
        assert.match(message, /is blocked: it needs service/);
      }
      await everyRouteAnswers(house);

      renameSync(away, join(product, 'plugins', room));
      await until(
        `${room} and all that need it are active again`,
        () => house.host.list().length === rooms.length && house.host.list().every(({ state }) => state === 'active'),
      );
      await everyRouteAnswers(house);
    });
  }
});

async function houseWithout(t: TestContext, room: string): Promise<{ house: House; away: string; product: string }> {
  const product = mkdtempSync(join(tmpdir(), 'svc-rooms-'));
  for (const folder of ['plugins', 'agents', 'skills', 'config']) {
    cpSync(join(root, folder), join(product, folder), { recursive: true });
  }
  const away = join(product, `away-${room}`);
  renameSync(join(product, 'plugins', room), away);
  const house = await startHouse({
    product: { ...productFromSource(root), root: product },
    environment: { SVC_HTTP_ADDR: '127.0.0.1:0', SVC_DATA_DIR: join(product, 'data') },
    writeLog: () => undefined,
    checkResponses: true,
  });
  t.after(async () => {
    await house.stop('the test has ended');
    rmSync(product, { recursive: true, force: true });
  });
  return { house, away, product };
}

/** Asks every declared route for something that need not exist: an answer with a meaning is enough, a failure is not. */
async function everyRouteAnswers(house: House): Promise<void> {
  for (const { value } of house.registry.current.routes.values()) {
    if (value.kind === 'socket' || value.kind === 'events') {
      continue;
    }
    const path = value.path.replaceAll(/\{[^}]+\}/g, '999999');
    const answer = await fetch(house.url + path, {
      method: value.method,
      headers: { authorization: `Bearer ${house.operatorToken}`, ...(value.method !== 'GET' && { 'content-type': 'application/json' }) },
      ...(value.method !== 'GET' && value.body && { body: '{}' }),
    });
    const body = await answer.text();
    assert.ok(answer.status < 500, `${value.method} ${path} answered ${answer.status}: ${body}`);
    // A protocol that words its errors itself may say nothing at all of what is not there.
    assert.ok(answer.status !== 404 || body.includes('not_found') || value.wording !== undefined, `${value.method} ${path} is gone`);
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !holds();) {
    assert.ok(Date.now() < deadline, `within 10 s: ${what}`);
    await pause(20);
  }
}
