import assert from 'node:assert/strict';
import { test } from 'node:test';

import { household } from '../../trust/household.ts';

test('an API token acts on incidents only when it was given that, while every person who is signed in may', async (t) => {
  const { person, ask } = await household(t, {
    plugins: ['iam', 'session', 'audit', 'metricsdb', 'alert'],
  });
  const vera = await person('vera', 'viewer');
  const anna = await person('anna', 'admin');
  const token = async (actions: readonly string[]): Promise<string> => {
    const made = await ask('POST', '/api/v1/tokens', anna.access, {
      name: 'board',
      actions,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    assert.equal(made.status, 201, made.text);
    return made.body.token;
  };
  const [idle, looking, acting] = [
    await token([]),
    await token(['alert:preview']),
    await token(['alert:ack']),
  ];
  const preview = async (who: string): Promise<number> =>
    (
      await ask('POST', '/api/v1/alerts/silences/preview', who, {
        matchers: [{ name: 'rule', op: '=~', value: '.*x.*' }],
        duration: '1h',
      })
    ).status;
  assert.deepEqual(
    [await preview(acting), await preview(looking), await preview(await token(['read:alert']))],
    [403, 403, 200],
    'what a silence would mute is for those who read incidents',
  );
  const acts = [
    ['POST', 'ack', {}],
    ['POST', 'resolve', {}],
    ['POST', 'silence', { hours: 700 }],
    ['DELETE', 'silence', undefined],
    ['POST', 'notes', { text: 'x' }],
  ] as const;
  for (const [method, what, body] of acts) {
    const as = async (who: string) =>
      (await ask(method, `/api/v1/alerts/incidents/16/${what}`, who, body)).status;
    // There is no incident 16: whoever may act is told so.
    assert.deepEqual(
      [await as(idle), await as(looking), await as(acting), await as(vera.access)],
      [403, 403, 404, 404],
      `${method} ${what}`,
    );
  }
});
