import assert from 'node:assert/strict';
import { test } from 'node:test';

import { askEmptySvc } from '../../bin/serve/small-svc.ts';
import {
  type Answer,
  play,
  playedPlugins,
} from '../../plugins/investigate/cli/bench/worlds/play.ts';
import { answerTo, snapshotOfWorld } from '../rca-worlds/snapshot-of-world.ts';

/** What an answer says, whatever ids its things have. */
const said = ({ verdict, root_cause: cause, hypotheses }: Answer) => ({
  verdict,
  cause: cause && { name: cause.node.name, category: cause.category },
  first: hypotheses[0]?.node.name,
});

for (const [seed, kind] of [
  [6_103, 'metrics'],
  [6_105, 'logs'],
] as const) {
  test(`a world of ${kind} that the bench poses in memory has the verdict that it has when it is sent to svc`, async () => {
    const played = (): ReturnType<typeof play> =>
      askEmptySvc(playedPlugins, (client, at) => play(client, at, seed, kind));
    let { world, answer } = await played();
    // On a busy machine, questions of an investigation remain unanswered when its time is over.
    for (let left = 2; left > 0 && answer?.verdict === 'insufficient_data'; left -= 1) {
      ({ world, answer } = await played());
    }
    const snapshot = await snapshotOfWorld(world);
    assert.ok(answer !== undefined && snapshot !== undefined, 'its rule fires in both');
    assert.deepEqual(said(answerTo(snapshot)), said(answer));
  });
}
