import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Board } from 'svc/sdk';

import { addressOf, type Json, settingHouse } from './house.ts';

const folders: string[] = [];
after(() => folders.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

/** Returns a data folder for consecutive hosts. */
function folder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-setting-'));
  folders.push(dataDir);
  return dataDir;
}

describe('the list of settings', () => {
  test('shows every declared key with its value, its source, and all that a form needs', async (t) => {
    const { item } = await settingHouse(t);
    assert.deepEqual(await item('torch.brightness', 'vera'), {
      category: 'torch',
      key: 'brightness',
      value: 10,
      sensitive: false,
      source: 'default',
      description: 'How bright.',
      schema: { type: 'integer', minimum: 1, maximum: 100 },
      env: null,
      default: 10,
      writable: true,
      updated_at: null,
      updated_by: null,
    });
  });

  test('is read in pages, in the order of the names', async (t) => {
    const { ask, house } = await settingHouse(t);
    assert.equal((await fetch(`${house.url}/api/v1/system-settings`)).status, 401);
    const all = house.service(Board).list();
    const names: string[] = [];
    let cursor = '';
    do {
      const { body } = await ask(
        'GET',
        `/api/v1/system-settings?limit=4${cursor && `&cursor=${cursor}`}`,
        {},
      );
      names.push(...body.items.map(({ category, key }: Json) => `${category}.${key}`));
      cursor = body.next_cursor;
      assert.equal(body.total, all.length);
    } while (cursor !== '');
    assert.deepEqual(
      names,
      all.map(({ key }) => key),
    );
  });

  test('shows whoever is no administrator what is declared for everybody: no path, no address, no secret', async (t) => {
    const { ask, house } = await settingHouse(t);
    for (const as of ['bob', 'vera'] as const) {
      const { body } = await ask('GET', '/api/v1/system-settings', { as });
      assert.deepEqual(
        body.items.map(({ category, key }: Json) => `${category}.${key}`),
        ['torch.brightness'],
      );
      assert.deepEqual([body.total, body.next_cursor], [1, '']);
    }
    assert.equal(
      (await ask('GET', '/api/v1/system-settings?limit=200', { as: 'bot' })).body.total,
      house.service(Board).list().length,
    );
  });

  test('makes visible that the environment goes before the database, the database before the file, the file before the default', async (t) => {
    const dataDir = folder();
    const sourceOf = async (
      environment: Record<string, string>,
      change?: (house: Awaited<ReturnType<typeof settingHouse>>) => Promise<unknown>,
    ) => {
      const setting = await settingHouse(t, { dataDir, environment });
      await change?.(setting);
      const { value, source, problem, writable } = await setting.item('log.level');
      await setting.house.stop();
      return [value, source, writable, problem];
    };
    assert.deepEqual(await sourceOf({}), ['info', 'default', true, undefined]);
    writeFileSync(join(dataDir, 'svc.yaml'), 'log:\n  level: warn\n');
    assert.deepEqual(await sourceOf({}), ['warn', 'file', true, undefined]);
    assert.deepEqual(await sourceOf({}, ({ set }) => set('log.level', 'error')), [
      'error',
      'database',
      true,
      undefined,
    ]);
    assert.deepEqual(await sourceOf({ SVC_LOG_LEVEL: 'debug' }), [
      'debug',
      'env',
      false,
      'SVC_LOG_LEVEL in the environment has the last word; the stored value has no effect',
    ]);
    assert.deepEqual(await sourceOf({}, ({ ask }) => ask('DELETE', addressOf('log.level'))), [
      'warn',
      'file',
      true,
      undefined,
    ]);
  });
});

describe('a change', () => {
  test('reaches the plugins that run at once: the value, the listener, and an event without the value', async (t) => {
    const { ask, set, house } = await settingHouse(t);
    const { status, body, headers } = await set('torch.brightness', 70);
    assert.equal(status, 200);
    assert.deepEqual(
      [body.value, body.source, body.updated_by],
      [70, 'database', 'ada@example.org'],
    );
    assert.ok(headers.get('etag')?.startsWith(`"${body.updated_at};`));
    assert.equal((await ask('GET', '/api/v1/torch')).body.now['torch.brightness'], 70);

    assert.equal((await ask('DELETE', addressOf('torch.brightness'))).status, 204);
    await house.settled();
    let seen: Json;
    for (const deadline = Date.now() + 5_000; ; await pause(5)) {
      seen = (await ask('GET', '/api/v1/torch')).body;
      if (seen.events.length === 2) {
        break;
      }
      assert.ok(Date.now() < deadline, JSON.stringify(seen));
    }
    assert.deepEqual(seen.watched, [
      ['torch.brightness', 70],
      ['torch.brightness', 10],
    ]);
    assert.deepEqual(seen.events, [{ key: 'torch.brightness' }, { key: 'torch.brightness' }]);
  });

  test('is there from the first line of every plugin after a restart, and after its plugin was reloaded or switched off and on', async (t) => {
    const dataDir = folder();
    const first = await settingHouse(t, { dataDir });
    await first.set('torch.brightness', 33);
    await first.house.stop();

    const { ask, house, item, set } = await settingHouse(t, { dataDir });
    const found = async (): Promise<unknown> =>
      (await ask('GET', '/api/v1/torch')).body.found['torch.brightness'];
    assert.equal(await found(), 33);
    await set('torch.brightness', 44);
    await house.reload('torch');
    assert.equal(await found(), 44);
    await house.reload('setting');
    assert.equal((await item('torch.brightness')).value, 44);

    await house.host.disable('torch');
    assert.equal(await item('torch.brightness'), undefined, 'nobody declares it');
    assert.equal((await set('torch.brightness', 50)).status, 404);
    await house.host.enable('torch');
    assert.equal(await found(), 44);
  });

  test('survives in force when the room of settings is switched off', async (t) => {
    const { ask, house, set } = await settingHouse(t);
    await set('torch.brightness', 44);
    await house.host.disable('setting');
    assert.equal((await ask('GET', '/api/v1/system-settings')).status, 503);
    assert.equal((await ask('GET', '/api/v1/torch')).body.now['torch.brightness'], 44);
    await house.host.enable('setting');
    assert.equal((await ask('GET', '/api/v1/system-settings')).status, 200);
  });

  test('is only for administrators', async (t) => {
    const { ask } = await settingHouse(t);
    for (const as of ['bob', 'vera'] as const) {
      assert.equal(
        (await ask('PUT', addressOf('torch.brightness'), { as, body: { value: 1 } })).status,
        403,
      );
      assert.equal((await ask('DELETE', addressOf('torch.brightness'), { as })).status, 403);
    }
    assert.equal((await ask('GET', '/api/v1/torch')).body.now['torch.brightness'], 10);
  });

  test('is refused when somebody else was quicker, and one of two at once wins', async (t) => {
    const { ask, set } = await settingHouse(t);
    const { body: first } = await set('torch.brightness', 20);
    const tag = `"${first.updated_at}"`;
    const both = await Promise.all([
      set('torch.brightness', 30, tag),
      set('torch.brightness', 40, tag),
    ]);
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
    const lost = both.find(({ status }) => status === 409)!;
    assert.match(lost.body.message, /This object was changed after you loaded it; load it again/);
    const won = both.find(({ status }) => status === 200)!;
    assert.ok(won.body.updated_at > first.updated_at);
    assert.equal(
      (await ask('DELETE', addressOf('torch.brightness'), { ifMatch: tag })).status,
      409,
    );
    assert.equal(
      (await ask('DELETE', addressOf('torch.brightness'), { ifMatch: `"${won.body.updated_at}"` }))
        .status,
      204,
    );
    const gone = await set('torch.brightness', 50, `"${won.body.updated_at}"`);
    assert.equal(gone.status, 409);
    assert.match(gone.body.message, /No value is stored for this setting any more/);
  });

  test('many at once leave in force what is stored last', async (t) => {
    const { ask, set, item } = await settingHouse(t);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        index % 5 === 4
          ? ask('DELETE', addressOf('torch.brightness'))
          : set('torch.brightness', index + 1),
      ),
    );
    const { value } = await item('torch.brightness');
    assert.equal((await ask('GET', '/api/v1/torch')).body.now['torch.brightness'], value);
    await set('torch.brightness', 99);
    assert.equal((await item('torch.brightness')).value, 99);
  });

  test('leaves one audit row with what was and what is', async (t) => {
    const { ask, set, audit } = await settingHouse(t);
    await set('torch.brightness', 20);
    await set('torch.brightness', 500);
    await ask('DELETE', addressOf('torch.brightness'));
    assert.deepEqual(
      audit.map(({ action, resourceId, status, before, after }) => [
        action,
        resourceId,
        status,
        before,
        after,
      ]),
      [
        [
          'setting:update',
          'torch.brightness',
          'success',
          { value: 10, source: 'default' },
          { value: 20, source: 'database' },
        ],
        ['setting:update', 'torch.brightness', 'failure', undefined, undefined],
        [
          'setting:delete',
          'torch.brightness',
          'success',
          { value: 20, source: 'database' },
          undefined,
        ],
      ],
    );
  });
});

test('what cannot be set', async (t) => {
  const { set, ask } = await settingHouse(t);
  for (const [what, name, value, status, sentence] of [
    [
      'an unknown key',
      'torch.brightnes',
      1,
      404,
      /Setting "torch\.brightnes" does not exist; did you mean torch\.brightness\?/,
    ],
    [
      'an unknown key that resembles none',
      'zzz.qqqqqqqq',
      1,
      404,
      /^Setting "zzz\.qqqqqqqq" does not exist\.$/,
    ],
    ['a key of the language', 'constructor.prototype', 1, 404, /does not exist/],
    [
      'a value of another type',
      'torch.brightness',
      'bright',
      400,
      /^the value must be integer \(torch\.brightness: How bright\.\)$/,
    ],
    ['a value out of bounds', 'torch.brightness', 0, 400, /the value must be >= 1/],
    ['a part that does not fit', 'torch.colors', ['red', 7], 400, /the value \(1\) must be string/],
    ['nothing', 'torch.brightness', null, 400, /must be integer/],
    [
      'what is only read at the start',
      'http.public_url',
      'https://svc.example.org',
      409,
      /set it in SVC_PUBLIC_URL or svc\.yaml and restart svc/,
    ],
    [
      'what the environment sets',
      'data.dir',
      '/tmp',
      409,
      /data\.dir is set by SVC_DATA_DIR in the environment, which takes precedence/,
    ],
  ] as const) {
    await t.test(`${what}: refused with a sentence`, async () => {
      const answer = await set(name, value);
      assert.deepEqual(
        [answer.status, sentence.test(answer.body.message)],
        [status, true],
        answer.body.message,
      );
      assert.deepEqual(
        (await ask('GET', '/api/v1/torch')).body.now,
        (await ask('GET', '/api/v1/torch')).body.found,
      );
    });
  }

  await t.test('a body without a value, or with more than that, is refused by name', async () => {
    assert.match(
      (await ask('PUT', addressOf('torch.brightness'), { body: {} })).body.message,
      /value/,
    );
    assert.match(
      (
        await ask('PUT', addressOf('torch.brightness'), {
          body: { value: 3, updated_by: 'mallory' },
        })
      ).body.message,
      /updated_by/,
    );
  });

  await t.test(
    'removing what is not stored changes nothing; removing what nobody declares is not found',
    async () => {
      assert.equal((await ask('DELETE', addressOf('torch.brightness'))).status, 204);
      assert.equal((await ask('DELETE', addressOf('torch.bright'))).status, 404);
      assert.deepEqual((await ask('GET', '/api/v1/torch')).body.events, []);
    },
  );
});

describe('a stored value whose declaration has changed', () => {
  test('is kept, not in force, and shown with the reason; it can be removed while nobody declares it', async (t) => {
    const dataDir = folder();
    const first = await settingHouse(t, { dataDir });
    await first.set('torch.brightness', 70);
    await first.house.stop();

    const stricter = join(dataDir, 'torch');
    writeTorch(stricter, {
      'torch.brightness': {
        schema: { type: 'integer', maximum: 50 },
        default: 5,
        description: 'How bright.',
      },
    });
    const second = await settingHouse(t, { dataDir, plugins: ['setting', stricter] });
    const { value, source, problem, updated_by: by } = await second.item('torch.brightness');
    assert.deepEqual(
      [value, source, problem, by],
      [
        5,
        'default',
        'the stored value is invalid: the value must be <= 50 (torch.brightness: How bright.)',
        'ada@example.org',
      ],
    );
    assert.ok(second.house.lines.some((line) => line.includes('stored setting is not in effect')));
    await second.house.stop();

    const third = await settingHouse(t, { dataDir });
    assert.equal((await third.item('torch.brightness')).value, 70);
    await third.house.stop();

    const alone = await settingHouse(t, { dataDir, plugins: ['setting'] });
    assert.equal(await alone.item('torch.brightness'), undefined);
    assert.equal((await alone.ask('DELETE', addressOf('torch.brightness'))).status, 204);
    assert.equal((await alone.ask('DELETE', addressOf('torch.brightness'))).status, 404);
  });
});

function writeTorch(path: string, settings: object): void {
  const manifest = {
    id: 'torch',
    version: '1.1.0',
    title: 'Torch',
    description: 'Stricter.',
    engines: { host: '^1.0.0' },
    settings,
  };
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  writeFileSync(join(path, 'plugin.json'), JSON.stringify(manifest));
}
