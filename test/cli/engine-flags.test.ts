import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const agent = new URL('../../bin/product/agent.mjs', import.meta.url).href;

/** Tag that the engine derives from all its flags that are not at their defaults. */
const tag = (flags: readonly string[], calls = ''): string =>
  execFileSync(
    process.execPath,
    [
      ...flags,
      '--input-type=module',
      '--eval',
      `import { hurry, settle } from ${JSON.stringify(agent)};
      ${calls}
      console.log(process.getBuiltinModule('node:v8').cachedDataVersionTag());`,
    ],
    { encoding: 'utf8' },
  );

test('after its start svc has the flags of its engine, but for the growth of the heap', () => {
  const plain = tag([]);
  assert.notEqual(tag([], 'hurry();'), plain);
  const settled = tag([], 'hurry(); settle();');
  assert.notEqual(settled, plain);
  assert.equal(settled, tag(['--heap-growing-percent=25']));
});
