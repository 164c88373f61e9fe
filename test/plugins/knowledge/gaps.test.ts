import assert from 'node:assert/strict';
import { test } from 'node:test';

import { scratch, svc } from '../../cli/launcher.ts';
import { type Json, knowledgeHouse, people } from './house.ts';

const minute = 60_000;

test('searches that found nothing or were not opened are told to those who write and see as much', async (t) => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => time, monotonic: () => time };
  const narrowed = {
    ...people['anna']!,
    id: '7',
    selectors: ['env = prod'],
  };
  const known: Readonly<Record<string, typeof narrowed | (typeof people)[string]>> = {
    ...people,
    narrowed,
  };
  const { house, ask, add } = await knowledgeHouse(t, {
    clock,
    services: {
      'auth.authenticator': {
        authenticate: ({ value }: { readonly value: string }) => known[value],
      },
    },
  });
  const gaps = async (as?: string, query = ''): Promise<[string, number, number][]> => {
    const { status, body } = await ask('GET', `/gaps${query}`, as === undefined ? {} : { as });
    assert.equal(status, 200, JSON.stringify(body));
    return body.items.map(({ question, found_nothing: nothing, not_opened: unopened }: Json) => [
      question,
      nothing,
      unopened,
    ]);
  };
  const search = async (q: string, as?: string, more = ''): Promise<Json> =>
    (await ask('GET', `/search?q=${encodeURIComponent(q)}${more}`, as === undefined ? {} : { as }))
      .body.items;
  const { id } = await add('a.md', '# Quagga\nThe quagga of the plain.');
  await add('b.md', '# Okapi\nThe okapi of the forest.');

  for (const typed of ['xyl', 'xylo', 'Xylophone ', 'xylophone', 'xylophone']) {
    await search(typed, 'anna');
    time += 1_000;
  }
  await search('xylophone', 'bert');
  await search('quagga');
  await ask('GET', `/docs/${id}`);
  await search('okapi');
  await search('zebra token=hunter2secret');
  await search('gnu', undefined, '&path_prefix=c');
  await search('camel', 'narrowed');
  assert.deepEqual(await gaps(), [], 'nobody has had the time to open one');

  time += minute;
  assert.deepEqual(
    (await gaps()).map(([question]) => question).sort(),
    ['camel', 'xylophone', 'xylophone', 'zebra token=[redacted]'],
    'what is still typed is one search, a filter leaves out what is there, and secrets are left out',
  );
  time += 5 * minute;
  assert.deepEqual(await gaps(undefined, '?kind=not_opened'), [['okapi', 0, 1]]);
  assert.deepEqual(await gaps('anna'), [
    ['camel', 1, 0],
    ['xylophone', 1, 0],
  ]);
  assert.deepEqual(await gaps('bert'), [['xylophone', 1, 0]]);
  assert.deepEqual(await gaps('narrowed'), [['camel', 1, 0]]);
  assert.equal((await ask('GET', '/gaps', { as: 'vera' })).status, 403);

  await search('xylophone', 'anna');
  time += minute;
  assert.deepEqual((await gaps('anna'))[0], ['xylophone', 2, 0], 'the same one once more');
  const { body } = await ask('GET', '/gaps');
  const [first] = body.items;
  assert.equal((await ask('DELETE', `/gaps/${first.id}`, { as: 'bert' })).status, 404);
  assert.equal((await ask('DELETE', `/gaps/${first.id}`, { as: 'anna' })).status, 204);
  assert.deepEqual(await gaps('anna'), [['camel', 1, 0]]);

  const shown = await svc([
    'knowledge',
    'gaps',
    '--kind',
    'found_nothing',
    ...['--url', house.url, '--token', 'bert', '--data', scratch(t)],
  ]);
  assert.match(shown.stdout, /^SEARCH +NOTHING +NOT OPENED +LAST\nxylophone +1 +0 +2026-01-01/);
});
