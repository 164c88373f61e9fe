import assert from 'node:assert/strict';
import { test } from 'node:test';

import { knowledgeHouse } from './house.ts';

test('a document has an owner, grows stale, and is voted on; writers see which need a look', async (t) => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => time, monotonic: () => time };
  const { ask, add } = await knowledgeHouse(t, { clock });
  const { id } = await add('a.md', '# A', { org_id: 1 });
  const other = await add('b.md', '# B', { org_id: 1 });
  const care = async (as: string, doc = id) => (await ask('GET', `/docs/${doc}/care`, { as })).body;
  assert.deepEqual(await care('vera'), {
    owner: '',
    review_by: null,
    is_stale: false,
    votes: null,
    own_vote: null,
  });
  const body = { owner: ' Platform ', review_by: '2026-02-01T00:00:00.000Z' };
  assert.equal((await ask('PATCH', `/docs/${id}/care`, { as: 'vera', body })).status, 403);
  assert.equal((await ask('PATCH', `/docs/${id}/care`, { as: 'bert', body })).status, 404);
  assert.equal((await ask('PATCH', `/docs/${id}/care`, { as: 'anna', body })).status, 200);
  const vote = (as: string, doc: number, helpful: boolean) =>
    ask('PUT', `/docs/${doc}/vote`, { as, body: { helpful } });
  assert.equal((await vote('bert', id, true)).status, 404);
  await vote('vera', id, false);
  assert.equal((await vote('vera', id, true)).body.own_vote, true, 'the last one counts');
  await vote('vera', other.id, false);
  const seen = await care('anna');
  assert.deepEqual(
    [seen.owner, seen.is_stale, seen.votes, seen.own_vote],
    ['Platform', false, { helpful: 1, not_helpful: 0 }, null],
  );
  const due = async (as?: string) =>
    (await ask('GET', '/review', as === undefined ? {} : { as })).body.items.map(
      (item: { path: string; is_stale: boolean; not_helpful: number }) => [
        item.path,
        item.is_stale,
        item.not_helpful,
      ],
    );
  assert.deepEqual(await due('anna'), [['b.md', false, 1]]);
  time = Date.parse('2026-02-02T00:00:00Z');
  assert.equal((await care('vera')).is_stale, true);
  assert.deepEqual(await due('anna'), [
    ['a.md', true, 0],
    ['b.md', false, 1],
  ]);
  assert.deepEqual(await due('bert'), []);
  assert.equal((await ask('GET', '/review', { as: 'vera' })).status, 403);
  await ask('DELETE', `/docs/${id}`);
  assert.deepEqual(await due(), [['b.md', false, 1]]);
  const owned = { owner: '', review_by: null };
  assert.equal((await ask('PATCH', `/docs/${other.id}/care`, { body: owned })).status, 200);
});
