import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Logger, SettingDeclaration } from 'svc/sdk';
import { startTestHost } from 'svc/testing';

import { coreSettings } from '../../core/boot/settings/core-settings.ts';
import { ajvSchemas } from '../../core/boot/settings/schemas.ts';
import { type Environment, Settings } from '../../core/boot/settings/settings.ts';
import { readSettingsFile } from '../../core/boot/settings/read-settings.ts';

const limit: SettingDeclaration = {
  schema: { type: 'integer', minimum: 1 },
  default: 10,
  env: 'SVC_LAMP_LIMIT',
  description: 'How many lamps.',
};
const name: SettingDeclaration = {
  schema: { type: 'string', minLength: 2 },
  default: 'lamp',
  description: 'What it is called.',
};

function settingsOf(
  declarations: Record<string, SettingDeclaration>,
  environment: Environment = {},
  file: Record<string, unknown> = {},
): Settings {
  const settings = new Settings(environment, new Map(Object.entries(file)), {
    schemas: ajvSchemas,
  });
  settings.declare('lamp', declarations);
  return settings;
}

const sourced = (settings: Settings, key: string): unknown[] => [
  settings.find(key)?.value,
  settings.find(key)?.source,
];

describe('where a value comes from', () => {
  test('the environment goes before the database, the database before the file, the file before the default', () => {
    const all = settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMIT: '4' }, { 'lamp.limit': 2 });
    all.override('lamp.limit', 3);
    assert.deepEqual(sourced(all, 'lamp.limit'), [4, 'env']);

    const stored = settingsOf({ 'lamp.limit': limit }, {}, { 'lamp.limit': 2 });
    stored.override('lamp.limit', 3);
    assert.deepEqual(sourced(stored, 'lamp.limit'), [3, 'database']);
    stored.override('lamp.limit', undefined);
    assert.deepEqual(sourced(stored, 'lamp.limit'), [2, 'file']);

    assert.deepEqual(sourced(settingsOf({ 'lamp.limit': limit }), 'lamp.limit'), [10, 'default']);
  });

  test('what the defaults file of the product says is a default, so that file means a choice of the operator', () => {
    const shipped = new Map<string, unknown>([['lamp.limit', 6]]);
    const untouched = new Settings({}, new Map(), { schemas: ajvSchemas, shipped });
    untouched.declare('lamp', { 'lamp.limit': limit });
    assert.deepEqual(sourced(untouched, 'lamp.limit'), [6, 'default']);
    const chosen = new Settings({}, new Map([['lamp.limit', 7]]), { schemas: ajvSchemas, shipped });
    chosen.declare('lamp', { 'lamp.limit': limit });
    assert.deepEqual(sourced(chosen, 'lamp.limit'), [7, 'file']);
    const broken = new Settings({}, new Map(), {
      schemas: ajvSchemas,
      shipped: new Map([['lamp.limit', 'six']]),
    });
    assert.throws(
      () => broken.declare('lamp', { 'lamp.limit': limit }),
      /the defaults file: lamp\.limit must be integer/,
    );
  });

  test('a file named in the environment is read once: it may be gone later', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'limit');
    writeFileSync(file, ' 7\n');
    const settings = settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMIT_FILE: file });
    rmSync(file);
    assert.deepEqual(sourced(settings, 'lamp.limit'), [7, 'env']);
    assert.throws(
      () => settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMIT_FILE: file }),
      /SVC_LAMP_LIMIT_FILE points to .*limit, which cannot be read/,
    );
    assert.deepEqual(
      sourced(
        settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMIT: '8', SVC_LAMP_LIMIT_FILE: file }),
        'lamp.limit',
      ),
      [8, 'env'],
    );
  });

  for (const [type, text, value] of [
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['integer', '12', 12],
    ['number', '0.5', 0.5],
    ['string', '12', '12'],
  ] as const) {
    test(`the text ${text} is read as ${type}`, () => {
      const settings = settingsOf(
        { 'lamp.x': { schema: { type }, env: 'SVC_LAMP_X', description: 'x' } },
        { SVC_LAMP_X: text },
      );
      assert.strictEqual(settings.get('lamp.x'), value);
    });
  }

  test('a list is separated by commas, a list of folders like PATH', () => {
    const list = { schema: { type: 'array', items: { type: 'string' } }, description: 'x' };
    const settings = settingsOf(
      {
        'lamp.names': { ...list, env: 'SVC_LAMP_NAMES' },
        'lamp.dirs': { ...list, env: 'SVC_LAMP_DIRS' },
        'lamp.none': { ...list, env: 'SVC_LAMP_NONE' },
      },
      { SVC_LAMP_NAMES: 'a, b', SVC_LAMP_DIRS: '/a,b:/c', SVC_LAMP_NONE: '' },
    );
    assert.deepEqual(
      [settings.get('lamp.names'), settings.get('lamp.dirs'), settings.get('lamp.none')],
      [['a', 'b'], ['/a,b', '/c'], []],
    );
  });
});

describe('what does not fit', () => {
  for (const [where, make, sentence] of [
    [
      'the environment',
      () => settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMIT: 'many' }),
      /^environment: SVC_LAMP_LIMIT must be integer \(lamp\.limit: How many lamps\.\)$/,
    ],
    [
      'the file',
      () => settingsOf({ 'lamp.limit': limit }, {}, { 'lamp.limit': 0 }),
      /^configuration file: lamp\.limit must be >= 1/,
    ],
    [
      'the declaration itself',
      () => settingsOf({ 'lamp.limit': { ...limit, default: 'x' } }),
      /^the declared default of lamp\.limit must be integer/,
    ],
    [
      'the database',
      () => settingsOf({ 'lamp.limit': limit }).override('lamp.limit', -3),
      /^the value must be >= 1/,
    ],
  ] as const) {
    test(`in ${where} is refused by a sentence that names place, reason and meaning`, () => {
      assert.throws(
        make,
        (error: Error & { code?: string }) =>
          error.code === 'invalid_argument' && sentence.test(error.message),
      );
    });
  }

  test('is named down to the field, and never repeated', () => {
    const settings = settingsOf({
      'lamp.keys': {
        schema: { type: 'array', items: { type: 'string', pattern: '^k' } },
        description: 'Keys.',
      },
    });
    assert.throws(() => settings.check('lamp.keys', ['k1', 'hunter2']), {
      message: 'the value (1) must match pattern "^k" (lamp.keys: Keys.)',
      details: [{ path: '/value/1', message: 'must match pattern "^k"' }],
    });
    const shown = settingsOf({
      'lamp.key': {
        schema: { type: 'string', pattern: '^k', examples: ['k7'] },
        description: 'Key.',
      },
    });
    assert.throws(() => shown.check('lamp.key', 'hunter2'), {
      message: 'the value must be written like k7 (lamp.key: Key.)',
    });
  });

  test('a pattern that would take for ever is answered at once', () => {
    const settings = settingsOf({
      'lamp.x': { schema: { type: 'string', pattern: '^(a+)+$' }, description: 'x' },
    });
    assert.throws(() => settings.check('lamp.x', `${'a'.repeat(5_000)}!`), /must match pattern/);
  });

  test('a name that nobody declared is answered with the nearest one', () => {
    const settings = settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMT: '3' });
    assert.throws(() => settings.check('lamp.limt', 3), {
      code: 'not_found',
      message: 'Setting "lamp.limt" does not exist; did you mean lamp.limit?',
    });
    assert.throws(() => settings.get('nothing.like_it'), {
      code: 'not_found',
      message: 'Setting "nothing.like_it" does not exist.',
    });
    assert.throws(
      () => settings.assertAllKnown(new Set(), [], 'svc.yaml'),
      /SVC_LAMP_LIMT is not an svc setting; did you mean SVC_LAMP_LIMIT\?/,
    );
    assert.throws(
      () =>
        settingsOf({ 'lamp.limit': limit }).assertAllKnown(new Set(), ['lamp.limits'], 'svc.yaml'),
      /svc\.yaml: lamp\.limits is not an svc setting.*lamp\.limit\?/,
    );
  });

  test('a setting that must differ from another stops the start when it does not, however it is written', () => {
    const who: SettingDeclaration = {
      schema: { type: 'string' },
      default: '',
      env: 'SVC_LAMP_WHO',
      at_start: true,
      description: 'Who.',
    };
    const word: SettingDeclaration = {
      ...who,
      env: 'SVC_LAMP_WORD',
      differs_from: 'lamp.who',
      description: 'Not the name.',
    };
    const declared = { 'lamp.who': who, 'lamp.word': word };
    assert.equal(settingsOf(declared).get('lamp.word'), '', 'nothing said of both');
    assert.equal(
      settingsOf(declared, { SVC_LAMP_WHO: 'ann', SVC_LAMP_WORD: 'bob' }).get('lamp.word'),
      'bob',
    );
    for (const [environment, file] of [
      [{ SVC_LAMP_WHO: 'ann', SVC_LAMP_WORD: ' Ann' }, {}],
      [{ SVC_LAMP_WORD: 'ANN' }, { 'lamp.who': 'ann' }],
    ] as const) {
      assert.throws(() => settingsOf(declared, environment, file), {
        message: 'SVC_LAMP_WORD must not be the same as SVC_LAMP_WHO (lamp.word: Not the name.)',
      });
    }
    assert.throws(
      () => settingsOf({ 'lamp.word': word }),
      /declare both in the same plugin, and both with at_start/,
    );
  });

  test('a setting that is only read at the start cannot be stored, and says where it can be set', () => {
    const settings = settingsOf({ ...coreSettings });
    assert.throws(() => settings.override('http.addr', '127.0.0.1:1'), {
      code: 'conflict',
      message:
        'http.addr is read only at startup: set it in SVC_HTTP_ADDR or svc.yaml and restart svc.',
    });
    settings.override('log.level', 'debug');
    assert.equal(settings.get('log.level'), 'debug');
  });

  test('one secret key is accepted, and several with the newest last', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    for (const text of ['', key, `${key},${key}`, `${key}, ${key}\n${key}`]) {
      assert.equal(
        settingsOf({ ...coreSettings }, { SVC_SECRET_KEY: text }).get('data.secret_key'),
        text,
      );
    }
    for (const text of ['hunter2', `${key},`, `${key}${key}`]) {
      assert.throws(
        () => settingsOf({ ...coreSettings }, { SVC_SECRET_KEY: text }),
        (error: Error) => !error.message.includes(text),
      );
    }
  });
});

describe('watching', () => {
  test('a listener hears the new effective value, once a change, and nothing when it stays the same', async () => {
    const settings = settingsOf({ 'lamp.limit': limit, 'lamp.name': name });
    const heard: unknown[] = [];
    const leave = settings.watch('lamp.limit', (value) => heard.push(value));
    settings.override('lamp.limit', 3);
    settings.override('lamp.limit', 3);
    settings.override('lamp.name', 'sun');
    settings.override('lamp.limit', undefined);
    await turn();
    assert.deepEqual(heard, [3, 10]);
    await leave();
    settings.override('lamp.limit', 5);
    await turn();
    assert.deepEqual(heard, [3, 10]);
    assert.equal(settings.size.watchers, 0);
  });

  test('behind the environment a stored value moves nobody', async () => {
    const settings = settingsOf({ 'lamp.limit': limit }, { SVC_LAMP_LIMIT: '4' });
    settings.watch('lamp.limit', () => assert.fail('nothing changed'));
    settings.override('lamp.limit', 3);
    await turn();
  });

  test('a listener that fails is logged and hinders no other', async () => {
    const lines: string[] = [];
    const log: Logger = {
      debug() {},
      info() {},
      warn() {},
      error: (_fields, message) => void lines.push(message),
    };
    const settings = new Settings({}, new Map(), { schemas: ajvSchemas, log: () => log });
    settings.declare('lamp', { 'lamp.limit': limit });
    let heard = 0;
    settings.watch('lamp.limit', () => {
      throw new Error('broken lamp');
    });
    settings.watch('lamp.limit', () => void (heard += 1));
    settings.override('lamp.limit', 3);
    await turn();
    assert.deepEqual([lines, heard], [['a listener of setting lamp.limit failed: broken lamp'], 1]);
  });
});

describe('generations of a plugin', () => {
  test('the newest declaration counts, and the one before it counts again when the newest is withdrawn', async () => {
    const settings = settingsOf({ 'lamp.limit': limit });
    const heard: unknown[] = [];
    settings.watch('lamp.limit', (value) => heard.push(value));
    const withdraw = settings.declare('lamp', {
      'lamp.limit': { ...limit, default: 20 },
      'lamp.name': name,
    });
    assert.equal(settings.get('lamp.limit'), 20);
    await withdraw();
    await turn();
    assert.equal(settings.get('lamp.limit'), 10);
    assert.equal(settings.find('lamp.name'), undefined);
    assert.deepEqual(heard, [20, 10]);
  });

  test('an old generation that leaves takes nothing from the new one', async () => {
    const settings = new Settings({}, new Map(), { schemas: ajvSchemas });
    const leave = settings.declare('lamp', { 'lamp.limit': limit, 'lamp.name': name });
    const stay = settings.declare('lamp', { 'lamp.limit': limit });
    await leave();
    assert.deepEqual(
      settings.list().map(({ key }) => key),
      ['lamp.limit'],
    );
    await stay();
    assert.equal(settings.size.keys, 0);
  });

  test('a stored value that a new declaration forbids is out of force before anybody can read it', async () => {
    const settings = settingsOf({ 'lamp.limit': limit });
    settings.override('lamp.limit', 500);
    let read: unknown;
    settings.onDeclared(() => (read = settings.get('lamp.limit')));
    settings.declare('lamp', {
      'lamp.limit': { ...limit, schema: { type: 'integer', maximum: 100 } },
    });
    assert.deepEqual([read, ...sourced(settings, 'lamp.limit')], [10, 10, 'default']);
  });

  test('two plugins cannot own one key; who listens for new keys is told until they leave', () => {
    const settings = settingsOf({ 'lamp.limit': limit });
    let told = 0;
    const leave = settings.onDeclared(() => void (told += 1));
    assert.throws(() => settings.declare('torch', { 'lamp.limit': limit }), {
      code: 'conflict',
      message: 'Setting lamp.limit is declared by both lamp and torch.',
    });
    settings.declare('torch', { 'torch.name': name });
    leave();
    settings.declare('sun', { 'sun.name': name });
    assert.equal(told, 1);
  });
});

describe('a settings file', () => {
  const read = (text: string): ReadonlyMap<string, unknown> => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'));
    try {
      writeFileSync(join(folder, 'svc.yaml'), text);
      return readSettingsFile(join(folder, 'svc.yaml'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  test('is read by category and key; an empty or missing one says nothing', () => {
    assert.deepEqual(
      [...read('lamp:\n  limit: 3\n  names: [a]\n')],
      [
        ['lamp.limit', 3],
        ['lamp.names', ['a']],
      ],
    );
    assert.equal(read('').size, 0);
    assert.equal(readSettingsFile('/nowhere/svc.yaml').size, 0);
  });

  for (const [text, sentence] of [
    ['lamp: 3', /"lamp" must be a mapping of keys/],
    ['- lamp', /must be a mapping of categories/],
    ['lamp: [', /is not valid YAML/],
    ['a: &a {x: 1}\nb: *a', /is not valid YAML|alias/i],
  ] as const) {
    test(`is refused when it reads ${JSON.stringify(text)}`, () => {
      assert.throws(() => read(text), sentence);
    });
  }

  test('a setting of a plugin that is away is a warning that names the plugin, once this data folder has met it', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-known-'));
    t.after(() => rmSync(dataDir, { recursive: true }));
    const environment = { SVC_TORCH_PIN: '7' };
    const torch = fileURLToPath(new URL('../plugins/setting/torch', import.meta.url));
    await assert.rejects(
      startTestHost(t, { plugins: [], dataDir, environment }),
      /SVC_TORCH_PIN is not an svc setting/,
    );
    const met = await startTestHost(t, { plugins: [torch], dataDir, environment });
    await met.stop();
    const without = await startTestHost(t, { plugins: [], dataDir, environment });
    const warnings = without.lines.filter((line) => line.includes('settings.plugin_absent'));
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /SVC_TORCH_PIN has no effect: its plugin \\"torch\\" is not installed/,
    );
  });

  test('every default that ships fits its own schema, since a start does not look', () => {
    const plugins = fileURLToPath(new URL('../../plugins', import.meta.url));
    const manifests = readdirSync(plugins).map((id) => join(plugins, id, 'plugin.json'));
    const settings = new Settings({}, new Map(), { schemas: ajvSchemas });
    settings.declare('core', coreSettings);
    for (const file of manifests.filter((path) => existsSync(path))) {
      const { id, settings: declared = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
        id: string;
        settings?: Record<string, SettingDeclaration>;
      };
      settings.declare(id, declared);
    }
    assert.ok(settings.size.keys > 100);
  });
});
