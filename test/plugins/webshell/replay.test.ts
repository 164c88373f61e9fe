import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Replay } from '../../../plugins/webshell/shell/output.ts';

test('what was printed last is there from any place that is still kept, whatever the pieces were', () => {
  const replay = new Replay(10);
  let all = '';
  for (const piece of ['', 'abc', 'defghij', 'k', 'lmnopqrs', 'tuvwxyz0123456789', 'A', 'BC']) {
    replay.push(Buffer.from(piece));
    all += piece;
    assert.equal(replay.end, all.length);
    for (let place = 0; place <= all.length; place += 1) {
      const from = Math.max(place, all.length - 10);
      assert.deepEqual(
        [replay.nearest(place), replay.since(place).toString()],
        [from, all.slice(from)],
        `${piece} from ${place}`,
      );
    }
  }
});
