import assert from 'node:assert/strict';
import { test } from 'node:test';

import { investigate } from 'svc/rca';

import type { Suite } from '../../../../plugins/investigate/cli/bench/simulator/simulate.ts';
import { rounds } from '../../../drill/rounds.ts';
import { known } from './known.ts';
import { contradictions } from './sentences.ts';

const suites: readonly Suite[] = ['known', 'unseen', 'calm', 'withheld'];

test('no sentence of a report contradicts the evidence that stands beside it', () => {
  const wrong: string[] = [];
  const reports = rounds(24, 1_000);
  for (let at = 0; at < reports; at += 1) {
    const suite = suites[at % suites.length]!;
    const seed = 300_000 + Math.floor(at / suites.length);
    const { snapshot } = known(seed, suite, at % 3 === 0 ? { dropEdges: 0.3 } : {});
    wrong.push(
      ...contradictions(snapshot, investigate(snapshot)).map((text) => `${suite} ${seed}: ${text}`),
    );
  }
  assert.deepEqual(wrong, []);
});
