import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/checks.ts';
import { noWire } from '../../drill/checks-wire.ts';
import { onlyInDrills } from '../../drill/rounds.ts';
import { peer } from '../../peers.ts';

test(
  'no fault of a place, of the network or of svc makes a check down, and an outage is told with a second place',
  onlyInDrills,
  async (t) => {
    const why = noWire();
    if (why !== undefined) {
      return t.skip(why);
    }
    if ((['g++', 'ip', 'libfaketimeMT.so.1'] as const).some((name) => !peer(t, name))) {
      return undefined;
    }
    const { cases, ...found } = await run({ hold: 10 });
    // How soon it is told depends on what else the machine does; "npm run drill checks" judges that.
    assert.deepEqual(
      [found['false downs'], found['told of them'], found['places named']],
      [0, 0, 'svc, berlin, paris'],
      JSON.stringify(cases),
    );
    return undefined;
  },
);
