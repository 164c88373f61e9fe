import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { serviceHandle } from '../../core/registry/index.ts';
import { activating, providing, testHouse } from './house.ts';

const entry = { entry: 'index.ts' };
const provides = (service: string, version = '1.0.0') => ({
  ...entry,
  provides: [{ service, version }],
});
const requires = (service: string, range = '^1.0.0') => ({ requires: [{ service, range }] });

describe('a house of plugins', () => {
  test('brings providers up before those who use them, whatever their names', async (t) => {
    const house = testHouse(t);
    house.plugin(
      'aaa',
      { ...entry, ...requires('zzz.store') },
      { 'index.ts': activating(`ctx.services.use(sdk.defineService('zzz.store'));`) },
    );
    house.plugin('zzz', provides('zzz.store'), { 'index.ts': providing('zzz.store') });
    await house.host.start();
    assert.deepEqual(
      house.host.list().map(({ id, state }) => [id, state]),
      [
        ['aaa', 'active'],
        ['zzz', 'active'],
      ],
    );
    assert.deepEqual(house.host.explain('zzz').dependents, ['aaa']);
  });

  test('keeps a plugin blocked until the service it needs appears, and blocks it again when it leaves', async (t) => {
    const house = testHouse(t);
    house.plugin('user', { ...entry, ...requires('base.store') }, { 'index.ts': activating('') });
    await house.host.start();
    assert.equal(house.host.explain('user').state, 'blocked');
    assert.match(
      house.host.explain('user').cause!,
      /needs service base\.store \^1\.0\.0, which no installed plugin provides/,
    );
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    await house.host.refresh(new Set());
    assert.equal(house.host.explain('user').state, 'active');
    house.remove('base');
    await house.host.refresh(new Set());
    assert.equal(house.host.explain('user').state, 'blocked');
    assert.throws(() => house.host.explain('base'), { code: 'not_found' });
  });

  test('a change whose needs are not met waits, says what for, and comes up by itself', async (t) => {
    const house = testHouse(t);
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    house.plugin('user', { ...entry, ...requires('base.store') }, { 'index.ts': activating('') });
    await house.host.start();
    house.plugin(
      'user',
      { ...entry, ...requires('base.store', '^2.0.0') },
      { 'index.ts': activating('') },
    );
    const sentence =
      /change pending: needs service base\.store \^2\.0\.0, provided in 1\.0\.0 by base; generation 1 keeps running/;
    await assert.rejects(house.host.reload('user'), sentence);
    assert.equal(house.host.explain('user').state, 'active');
    assert.match(house.host.explain('user').cause!, sentence);
    assert.equal(
      house.lines.filter((line) => sentence.test(line)).length,
      1,
      'the log says it once',
    );
    house.plugin('base', provides('base.store', '2.0.0'), { 'index.ts': providing('base.store') });
    await house.host.refresh(new Set());
    await house.host.reload('base');
    assert.deepEqual(
      [house.host.explain('user').generation, house.host.explain('user').cause],
      [2, undefined],
    );
  });

  test('every generation has the source map of its own text, also while another one serves', async (t) => {
    const house = testHouse(t);
    const asked = ((globalThis as Record<string, unknown>)['svcSeen'] = [] as (() => string)[]);
    t.after(() => delete (globalThis as Record<string, unknown>)['svcSeen']);
    const lines: number[] = [];
    for (let edit = 1; edit <= 5; edit++) {
      const code = activating(
        `${'\n'.repeat(edit)}(globalThis as any).svcSeen.push(() => new Error('here').stack!.split('\\n')[1]!);`,
      );
      lines.push(code.slice(0, code.indexOf('new Error')).split('\n').length);
      house.plugin('lamp', entry, { 'index.ts': code });
      await (edit === 1 ? house.host.start() : house.host.reload('lamp'));
    }
    assert.deepEqual(
      asked.map((where) => Number(/index\.ts:(\d+):/.exec(where())?.[1])),
      lines,
    );
  });

  test('reports a cycle of required services as a path', async (t) => {
    const house = testHouse(t);
    house.plugin(
      'one',
      { ...provides('one.x'), ...requires('two.x') },
      { 'index.ts': providing('one.x') },
    );
    house.plugin(
      'two',
      { ...provides('two.x'), ...requires('one.x') },
      { 'index.ts': providing('two.x') },
    );
    await house.host.start();
    assert.equal(house.host.explain('one').state, 'blocked');
    assert.match(house.host.explain('one').cause!, /requirement cycle: one → two → one/);
  });

  test('reloads a provider without its users feeling it', async (t) => {
    const house = testHouse(t);
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    house.plugin('user', { ...entry, ...requires('base.store') }, { 'index.ts': activating('') });
    await house.host.start();
    const store = serviceHandle<{ name(): string }>(house.registry, 'base.store');
    assert.equal(store.name(), 'v1');
    await house.host.reload('base');
    assert.equal(store.name(), 'v2');
    assert.equal(house.host.explain('user').generation, 1, 'the user was not restarted');
  });

  test('blocks users when a provider comes back in a version they do not accept', async (t) => {
    const house = testHouse(t);
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    house.plugin('user', { ...entry, ...requires('base.store') }, { 'index.ts': activating('') });
    await house.host.start();
    house.plugin('base', provides('base.store', '2.0.0'));
    await house.host.reload('base');
    assert.equal(house.host.explain('user').state, 'blocked');
    assert.match(house.host.explain('user').cause!, /provided in 2\.0\.0 by base/);
  });

  test('keeps the old generation serving when the new one fails, and says why', async (t) => {
    const house = testHouse(t);
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    await house.host.start();
    house.plugin('base', provides('base.store'), {
      'index.ts': activating(`throw new Error('no luck');`),
    });
    await assert.rejects(house.host.reload('base'), {
      code: 'conflict',
      message: /failed in activate: no luck; generation 1 keeps running/,
    });
    const report = house.host.explain('base');
    assert.deepEqual(
      [report.state, report.generation, report.lastAttempt?.ok, report.lastAttempt?.stage],
      ['active', 1, false, 'activate'],
    );
    assert.equal(serviceHandle<{ name(): string }>(house.registry, 'base.store').name(), 'v1');
  });

  test('brings the previous generation back when start() of the new one throws', async (t) => {
    const house = testHouse(t);
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    await house.host.start();
    const provideThenFail = `ctx.services.provide(sdk.defineService('base.store'), () => ({ name: () => 'new' }));`;
    house.plugin('base', provides('base.store'), {
      'index.ts': activating(provideThenFail, `start() { throw new Error('cold'); }`),
    });
    await assert.rejects(
      house.host.reload('base'),
      /failed in start: cold; generation 1 keeps running/,
    );
    assert.equal(serviceHandle<{ name(): string }>(house.registry, 'base.store').name(), 'v1');
    assert.equal(house.registry.current.generations.get('base')?.number, 1);
  });

  test('lets a self-test veto the commit', async (t) => {
    const house = testHouse(t);
    house.plugin('base', entry, {
      'index.ts': activating('', `selfTest() { throw new Error('table is empty'); }`),
    });
    await house.host.start();
    const { state, stage, cause } = house.host.explain('base');
    assert.deepEqual([state, stage, cause], ['failed', 'self-test', 'table is empty']);
    assert.equal(house.registry.current.generations.size, 0);
  });

  test('refuses to disable what others need, unless they may fall with it', async (t) => {
    const house = testHouse(t);
    house.plugin('base', provides('base.store'), { 'index.ts': providing('base.store') });
    house.plugin('user', { ...entry, ...requires('base.store') }, { 'index.ts': activating('') });
    await house.host.start();
    await assert.rejects(house.host.disable('base'), {
      code: 'conflict',
      message: /needed by user/,
    });
    await house.host.disable('base', { cascade: true });
    assert.deepEqual(
      [house.host.explain('base').state, house.host.explain('user').state],
      ['disabled', 'blocked'],
    );
    await assert.rejects(house.host.reload('base'), /is disabled; enable it first/);
    await house.host.enable('base');
    assert.deepEqual(
      [house.host.explain('base').state, house.host.explain('user').state],
      ['active', 'active'],
    );
  });

  test('coalesces wishes that come while it works, and never interleaves two transitions', async (t) => {
    const house = testHouse(t);
    house.plugin('slow', entry, {
      'index.ts': activating(`await new Promise((r) => setTimeout(r, 30));`),
    });
    await house.host.start();
    const reloads = Array.from({ length: 20 }, () => house.host.reload('slow'));
    await Promise.all(reloads);
    const generation = house.host.explain('slow').generation!;
    assert.ok(generation >= 2 && generation <= 4, `20 wishes made ${generation - 1} generations`);
  });

  test('gives a change that comes while its plugin is brought up a generation of its own', async (t) => {
    let meanwhile = (): void => undefined;
    const house = testHouse(t, { migrate: async () => meanwhile() });
    const write = (version: string, text: string): void =>
      house.plugin(
        'base',
        { ...provides('base.store'), version },
        { 'index.ts': providing('base.store', text), 'migrations/0001_none.sql': 'select 1;' },
      );
    write('1.0.0', 'old');
    let seen: Promise<void> | undefined;
    meanwhile = () => {
      meanwhile = () => undefined;
      write('1.1.0', 'new');
      seen = house.host.refresh(new Set([join(house.pluginsDir, 'base')]));
    };
    await house.host.start();
    await seen;
    assert.equal(serviceHandle<{ name(): string }>(house.registry, 'base.store').name(), 'new2');
    assert.equal(house.host.explain('base').version, '1.1.0');
  });

  test('quarantines a plugin after three errors and tries again later, ever later', async (t) => {
    const house = testHouse(t);
    house.plugin(
      'shaky',
      { ...entry, mounts: ['/api/v1/shaky'] },
      {
        'index.ts': activating(
          `ctx.scope.interval('poll', 1, () => { throw new Error('boom'); });`,
        ),
      },
    );
    await house.host.start();
    while (house.host.explain('shaky').state !== 'quarantined') {
      await pause(2);
    }
    const report = house.host.explain('shaky');
    assert.match(report.cause!, /repeated errors, last in every 1 ms: poll: boom/);
    assert.equal(report.strikes.length, 3);
    assert.equal(house.registry.current.outages[0]?.error().retryAfterSeconds, 30);
    await house.host.retry();
    assert.equal(house.host.explain('shaky').state, 'quarantined', 'not before its time');
    house.clock.time += 30_000;
    await house.host.retry();
    assert.equal(house.host.explain('shaky').generation, 2, 'half open: it serves again');
    while (house.host.explain('shaky').state !== 'quarantined') {
      await pause(2);
    }
    assert.equal(
      house.host.explain('shaky').quarantine?.retryAt,
      house.clock.time + 60_000,
      'the wait has doubled',
    );
    await house.host.reload('shaky');
    assert.equal(house.memory.quarantined().size, 0, 'a reload by hand forgets the past');
  });

  test('tries again what failed for a full disk, ever later, and at once when the disk is good; what nothing but a change can mend waits', async (t) => {
    const house = testHouse(t);
    const world = globalThis as Record<string, unknown>;
    world['svcFull'] = true;
    t.after(() => delete world['svcFull']);
    house.plugin(
      'cellar',
      { ...provides('cellar.store'), mounts: ['/api/v1/cellar'] },
      {
        'index.ts': activating(
          `if ('svcFull' in globalThis && globalThis.svcFull) throw new Error('its log', { cause: Object.assign(new Error('ENOSPC: no space left'), { syscall: 'write' }) }); ctx.services.provide(sdk.defineService('cellar.store'), () => ({}));`,
        ),
      },
    );
    house.plugin('user', { ...entry, ...requires('cellar.store') }, { 'index.ts': activating('') });
    house.plugin('wrong', entry, { 'index.ts': activating(`throw new Error('no luck');`) });
    const stands = (): readonly string[] =>
      house.host.list().map(({ state, lastAttempt }) => `${state} ${lastAttempt?.generation ?? 0}`);
    await house.host.start();
    assert.deepEqual(stands(), ['failed 1', 'blocked 0', 'failed 1']);
    assert.match(
      house.registry.current.outages[0]!.error().message,
      /cellar has not started yet; svc keeps trying/,
    );

    await house.host.retry();
    assert.deepEqual(stands(), ['failed 1', 'blocked 0', 'failed 1'], 'not before its time');
    house.clock.time += 1_000;
    await house.host.retry();
    assert.deepEqual(stands(), ['failed 2', 'blocked 0', 'failed 1']);
    house.clock.time += 1_000;
    await house.host.retry();
    assert.deepEqual(stands(), ['failed 2', 'blocked 0', 'failed 1'], 'the wait has doubled');
    world['svcFull'] = false;
    await house.host.retry({ all: true });
    assert.deepEqual(stands(), ['active 3', 'active 1', 'failed 1']);
    await house.host.retry({ all: true });
    assert.deepEqual(stands(), ['active 3', 'active 1', 'failed 1'], 'and is left alone');
  });

  test('drops extension point contributions with their plugin and tells the owner', async (t) => {
    const house = testHouse(t);
    const seen = ((globalThis as Record<string, unknown>)['svcSeen'] = [] as string[]);
    t.after(() => delete (globalThis as Record<string, unknown>)['svcSeen']);
    house.plugin('owner', entry, {
      'index.ts': activating(`
          const point = ctx.extend.open(sdk.defineExtensionPoint<{ title: string }>('owner.notifier', { type: 'object', required: ['title'] }));
          point.onChange(({ added, removed }) => (globalThis as any).svcSeen.push('+' + added.map((c) => c.id) + ' -' + removed.map((c) => c.id)));`),
    });
    await house.host.start();
    house.plugin('guest', { contributes: { 'owner.notifier': { mail: { title: 'Mail' } } } });
    await house.host.refresh(new Set());
    house.plugin('liar', { contributes: { 'owner.notifier': { fax: { name: 'no title' } } } });
    await house.host.refresh(new Set());
    assert.match(
      house.host.explain('liar').cause!,
      /liar contributes "fax" to owner\.notifier: the value must have required property 'title'/,
    );
    house.remove('guest');
    await house.host.refresh(new Set());
    assert.deepEqual(seen, ['+mail -', '+ -mail']);
  });

  test('says at boot which critical plugin is missing', async (t) => {
    const house = testHouse(t);
    house.plugin(
      'heart',
      { ...entry, critical: true },
      { 'index.ts': activating(`throw new Error('no pulse');`) },
    );
    await assert.rejects(house.host.start(), {
      code: 'unavailable',
      message: 'Plugin "heart" is critical and is failed: no pulse',
    });
  });

  test('starts without a plugin that killed the last two boots', async (t) => {
    const house = testHouse(t, {
      memory: {
        ...(await import('./house.ts')).volatileMemory(),
        lastDeath: () => ({ id: 'killer', boots: 2 }),
      },
    });
    house.plugin('killer', entry, { 'index.ts': activating(`process.exit(9);`) });
    house.plugin('other', entry, { 'index.ts': activating('') });
    await house.host.start();
    assert.deepEqual(
      [house.host.explain('killer').state, house.host.explain('other').state],
      ['disabled', 'active'],
    );
    assert.match(
      house.host.explain('killer').cause!,
      /safe mode: the last 2 starts crashed while killer was starting/,
    );
  });
});
