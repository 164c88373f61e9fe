import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { censusGrowth } from '../kit/census.ts';
import { startTestHost } from '../kit/index.ts';
import { OwnedScope } from '../../core/registry/index.ts';
import type { EffectNode } from '../../core/sdk/index.ts';
import { everyFixture, run } from '../drill/residue.ts';

describe('a plugin that comes and goes', () => {
  test('leaves nothing behind, also when it throws, hangs, or goes while a stream is open', async () => {
    const residue = await run({ cycles: 200, warmUp: 60 });
    assert.deepEqual(residue.growth, []);
    assert.ok(residue.refused >= 30, `${residue.refused} activations threw or hung on purpose`);
    assert.ok(
      residue.heapBytesPerCycle < 16_384,
      `${residue.heapBytesPerCycle} bytes of heap a cycle; the drill, which is long enough to tell, holds it to 2,048`,
    );
    assert.ok(
      residue.collectedPercent > 98,
      `${residue.collectedPercent} % of its generations were collected`,
    );
  });

  test('is seen and named for each effect whose undo is lost', async (t) => {
    const labels = await effectLabels();
    assert.ok(labels.length >= 11, labels.join(', '));
    for (const label of labels) {
      await t.test(label, async (t) => {
        const house = await startTestHost(t, { plugins: [everyFixture], watch: true });
        await house.host.disable('every');
        await house.settled();
        const before = house.census();
        const planted = loseUndo(label);
        t.after(planted.makeUp);
        await house.host.enable('every');
        await house.fetch('/api/v1/every');
        await house.host.disable('every');
        await house.settled();
        planted.restore();
        const seen = censusGrowth(before, house.census());
        assert.equal(planted.lost(), true, 'the leak was planted');
        assert.ok(
          seen.some((line) => line.includes(kindOf(label))),
          `the census names what "${label}" left behind; it says ${seen.join(', ') || 'nothing'}`,
        );
      });
    }
  });
});

/** Kinds in the census by labels of effects. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^settings$/, 'setting keys'],
  [/^watch setting/, 'setting watchers'],
  [/^watch (service|point|names)/, 'registry listeners'],
  [/^watch own data$/, 'folder watches'],
  [/^metric /, 'metrics'],
  [/^(every|after) /, 'scope timers'],
];

const kindOf = (label: string): string =>
  kinds.find(([form]) => form.test(label))?.[1] ?? `nothing known for "${label}"`;

/**
 * Effects that only release memory of the plugin itself; the collected generations of the other
 * test cover them.
 */
const ownMemory = new Set([
  'ballast',
  'service container',
  // Its signal is that of the scope.
  'task: do jobs',
  'task: follow',
  'what was set past ctx',
]);

async function effectLabels(): Promise<string[]> {
  const undo: (() => unknown)[] = [];
  const house = await startTestHost(
    { after: (step) => void undo.push(step as () => unknown) },
    { plugins: [everyFixture] },
  );
  const tables = new Set(Object.keys(house.registry.current));
  const flatten = (node: EffectNode): string[] =>
    node.children.length === 0 ? [node.label] : node.children.flatMap(flatten);
  const labels = house.host
    .explain('every')
    .effects!.children.filter(({ label }) => !tables.has(label))
    .flatMap(flatten);
  for (const step of undo) {
    await step();
  }
  return [...new Set(labels)].filter((label) => !ownMemory.has(label));
}

/**
 * Makes the scope lose the undo of one label, like a plugin that bypasses it; a watch left open
 * would keep the test itself from ending.
 */
function loseUndo(label: string): { lost(): boolean; restore(): void; makeUp(): Promise<void> } {
  const original = OwnedScope.prototype.defer;
  const forgotten: (() => unknown)[] = [];
  OwnedScope.prototype.defer = function defer(this: OwnedScope, what, undo) {
    if (what === label) {
      forgotten.push(undo);
      return original.call(this, what, () => undefined);
    }
    return original.call(this, what, undo);
  };
  const restore = (): void => void (OwnedScope.prototype.defer = original);
  return {
    lost: () => forgotten.length > 0,
    restore,
    async makeUp() {
      restore();
      for (const undo of forgotten) {
        await undo();
      }
    },
  };
}
