import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onlyInDrills } from '../drill/rounds.ts';
import { run } from '../drill/takeover.ts';
import { peer } from '../peers.ts';

test(
  'a node that takes over has all that was acknowledged, and pages what was to be paged',
  onlyInDrills,
  async (t) => {
    if (peer(t, 'psql') === undefined) {
      return;
    }
    // How fast it was depends on the machine; "npm run drill takeover" judges that, with all faults.
    const outcome = await run({ rounds: 2, agents: 20, still: 15 });
    const cases = outcome['cases'] as readonly { readonly why?: string }[];
    assert.deepEqual(
      [outcome['writes lost'], outcome['pages lost'], cases.flatMap(({ why }) => why ?? [])],
      [0, 0, []],
      JSON.stringify(outcome),
    );
  },
);
