import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { isSvcError, type LiveSet, type PromptSkill } from '../../core/sdk/index.ts';
import { activating, type TestHouse, testHouse } from './house.ts';

const lesson = (key: string, body = ''): PromptSkill => ({
  kind: 'prompt',
  key,
  name: key,
  description: 'Teaches.',
  tools: [],
  extra: {},
  body,
});

/** A plugin that fills a live set while it activates, and hands it out. */
const school = (skills: readonly PromptSkill[], more = ''): Record<string, string> => ({
  'index.ts': activating(
    `const live = ctx.extend.live('lessons');
     live.replace({ skills: ${JSON.stringify(skills)} });
     ctx.services.provide(sdk.defineService<sdk.LiveSet>(ctx.id + '.live'), () => live);`,
    more,
  ),
});
const manifest = (id: string) => ({
  entry: 'index.ts',
  provides: [{ service: `${id}.live`, version: '1.0.0' }],
});

const served = ({ registry }: TestHouse): string[] =>
  [...registry.current.skills.values()].map(({ key, owner }) => `${key} of ${owner.label}`);
const liveOf = ({ registry }: TestHouse, id: string): LiveSet =>
  registry.current.services.get(`${id}.live`)!.value.instance as LiveSet;

describe('a live set', () => {
  test('is seen with the commit, replaced in one step while its plugin serves, and leaves with it', async (t) => {
    const house = testHouse(t);
    house.plugin('school', manifest('school'), school([lesson('sums')]));
    await house.host.start();
    assert.deepEqual(served(house), ['sums of school#1']);
    const seen: string[][] = [];
    house.registry.onPublish(() => void seen.push(served(house)));
    liveOf(house, 'school').replace({ skills: [lesson('letters'), lesson('songs')] });
    assert.deepEqual(seen, [['letters of school#1', 'songs of school#1']]);
    await house.host.disable('school');
    assert.deepEqual(served(house), []);
  });

  test('shows no gap while its plugin is reloaded, and the old generation cannot bring its own back', async (t) => {
    const house = testHouse(t);
    house.plugin('school', manifest('school'), school([lesson('sums')]));
    await house.host.start();
    const old = liveOf(house, 'school');
    const gaps: number[] = [];
    house.registry.onPublish(
      (next) => void gaps.push(...(next.skills.has('sums') ? [] : [next.serial])),
    );
    const undo = house.registry.onPublish((next) => {
      if (next.generations.get('school')?.number === 2) {
        undo();
        old.replace({ skills: [lesson('sums'), lesson('stale')] });
      }
    });
    await house.host.reload('school');
    await house.host.settled();
    assert.deepEqual([served(house), gaps], [['sums of school#2'], []]);
    assert.throws(() => old.replace({}), /school#1 has ended/);
  });

  test('returns as it stood last when a new generation fails to start', async (t) => {
    const house = testHouse(t);
    house.plugin('school', manifest('school'), school([lesson('sums')]));
    await house.host.start();
    liveOf(house, 'school').replace({ skills: [lesson('letters')] });
    house.plugin(
      'school',
      manifest('school'),
      school([lesson('songs')], `start() { throw new Error('no teacher'); }`),
    );
    await assert.rejects(house.host.reload('school'), /no teacher/);
    assert.deepEqual(served(house), ['letters of school#1']);
  });

  test('refuses names that another plugin holds, points at them, keeps what it had, and is told when one is free', async (t) => {
    const house = testHouse(t);
    house.plugin('academy', manifest('academy'), school([lesson('sums'), lesson('logic')]));
    house.plugin('school', manifest('school'), school([lesson('songs')]));
    await house.host.start();
    const live = liveOf(house, 'school');
    let told = 0;
    live.onFree(() => void (told += 1));
    assert.throws(
      () => live.replace({ skills: [lesson('sums'), lesson('letters'), lesson('logic')] }),
      (error) =>
        isSvcError(error) &&
        error.code === 'conflict' &&
        JSON.stringify(error.details?.map(({ path, message }) => `${path} ${message}`)) ===
          JSON.stringify([
            '/skills/sums plugin "academy" already has one with this name',
            '/skills/logic plugin "academy" already has one with this name',
          ]),
    );
    assert.deepEqual(served(house).toSorted(), [
      'logic of academy#1',
      'songs of school#1',
      'sums of academy#1',
    ]);
    liveOf(house, 'academy').replace({ skills: [lesson('sums')] });
    assert.equal(told, 1);
    live.replace({ skills: [lesson('letters'), lesson('logic')] });
    assert.deepEqual(served(house).toSorted(), [
      'letters of school#1',
      'logic of school#1',
      'sums of academy#1',
    ]);
  });
});
