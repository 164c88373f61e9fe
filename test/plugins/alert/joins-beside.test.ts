import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run } from '../../drill/alert-joins.ts';
import { onlyInDrills } from '../../drill/rounds.ts';
import { peer } from '../../peers.ts';

test(
  'who joins and leaves a burning incident is named as by an Alertmanager of the same grouping',
  onlyInDrills,
  async (t) => {
    if (peer(t, 'prometheus') === undefined || peer(t, 'prometheus-alertmanager') === undefined) {
      return;
    }
    const outcome = await run({ seconds: 130, seed: 11 });
    const figure = (name: string): number => Number(outcome[name]);
    const told = JSON.stringify(outcome);
    assert.ok(figure('episodes') >= 10, told);
    assert.ok(figure('of these named, ours') >= figure('of these named, theirs'), told);
    // A busy machine is late for both.
    assert.ok(figure('told in time, ours') >= figure('told in time, theirs'), told);
  },
);
