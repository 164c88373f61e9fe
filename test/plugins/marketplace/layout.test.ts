import assert from 'node:assert/strict';
import { test } from 'node:test';

import { svcForm } from '../../../plugins/marketplace/layout/svc-pack.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a pack that brings rules hears that svc does not read them, with their number', () => {
  const { ignored } = svcForm(
    new Map([
      ['plugin.json', bytes('{"id":"ruled","kind":"pack","version":"1.0.0","host_api":"^1"}')],
      ['rules/one.yml', bytes('groups: []\n')],
      ['rules/more/two.yaml', bytes('groups: []\n')],
      ['rules/README.txt', bytes('no rules\n')],
      ['alerts/three.yml', bytes('groups: []\n')],
    ]),
    { name: undefined, version: undefined, entry: undefined, reserved: [], taken: [], ofPacks: {} },
  );
  assert.deepEqual(ignored, [
    'its folder rules/ is ignored (2 files)',
    'its folder alerts/ is ignored (1 file)',
  ]);
});
