import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { evaluate } from '../../core/host/code/evaluate.ts';

const code =
  "require('svc/sdk').touch(); module.exports = { default: { activate: () => undefined } };";

/** Evaluates a plugin whose modules ask for a timer `times` times, as something that is lent to them would open it; how often they ran. */
function evaluated(t: TestContext, times: number): number {
  let ran = 0;
  const timers: NodeJS.Timeout[] = [];
  t.after(() => timers.forEach((timer) => clearTimeout(timer)));
  const touch = (): void => {
    ran += 1;
    if (ran <= times) {
      timers.push(setTimeout(() => undefined, 60_000));
    }
  };
  const undo: (() => unknown)[] = [];
  t.after(() => undo.forEach((step) => step()));
  const scope = { defer: (_what: string, step: () => unknown) => undo.push(step) };
  evaluate(
    { id: 'guest', trusted: [] },
    { code, filename: 'guest.cjs' },
    new Map([['svc/sdk', { touch }]]),
    scope as never,
  );
  return ran;
}

test('modules run once; where a handle has grown once more, and what grows again is theirs', (t) => {
  assert.equal(evaluated(t, 0), 1);
  assert.equal(evaluated(t, 1), 2, 'Node has opened it, not the plugin');
  assert.throws(
    () => evaluated(t, Infinity),
    /guest has side effects when its modules load \(handles\); move them into activate\(\) or start\(\)/,
  );
});
