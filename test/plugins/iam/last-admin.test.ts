import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type Answer, iamHouse, type IamHouse, statusesOf } from './house.ts';

const activeAdmins = async ({ ask }: IamHouse): Promise<number> =>
  (await ask('GET', '/users?role=admin&status=active')).body.total;

describe('the last active admin', () => {
  test('cannot be demoted, disabled or deleted, not even by the operator or themself', async (t) => {
    const iam = await iamHouse(t);
    const ada = await iam.user('ada', 'admin');
    const off = await iam.user('off', 'admin');
    await iam.ask('PATCH', `/users/${off.id}`, { status: 'disabled' });
    for (const ask of [iam.ask, iam.as(ada)]) {
      const answers: readonly Answer[] = [
        await ask('PATCH', `/users/${ada.id}/role`, { role: 'user' }),
        await ask('PATCH', `/users/${ada.id}`, { status: 'disabled' }),
        await ask('DELETE', `/users/${ada.id}`),
      ];
      for (const { status, body } of answers) {
        assert.deepEqual([status, body.error], [409, 'conflict']);
        assert.match(body.message, /last active admin; make another user an admin first/);
      }
    }
    assert.equal((await iam.as(ada)('GET', '/me')).body.role, 'admin', 'nothing of it was kept');
    await iam.ask('PATCH', `/users/${off.id}`, { status: 'active' });
    assert.equal(
      (await iam.as(ada)('DELETE', `/users/${ada.id}`)).status,
      204,
      'with another one there is, everything goes',
    );
  });

  for (const [how, lose] of [
    [
      'demoted',
      (iam: IamHouse, id: number) => iam.ask('PATCH', `/users/${id}/role`, { role: 'user' }),
    ],
    [
      'disabled',
      (iam: IamHouse, id: number) => iam.ask('PATCH', `/users/${id}`, { status: 'disabled' }),
    ],
  ] as const) {
    test(`remains when the last two are ${how} in parallel, 20 times over`, async (t) => {
      const iam = await iamHouse(t);
      const pair = [await iam.user('ada', 'admin'), await iam.user('eve', 'admin')];
      for (let round = 0; round < 20; round++) {
        const answers = await Promise.all(pair.map(({ id }) => lose(iam, id)));
        assert.deepEqual(statusesOf(answers), [200, 409], `round ${round}`);
        assert.equal(await activeAdmins(iam), 1);
        const live = pair.filter(({ id }) => iam.directory().live(id)?.role === 'admin');
        assert.equal(live.length, 1, 'memory agrees');
        for (const { id } of pair) {
          await iam.ask('PATCH', `/users/${id}`, { status: 'active' });
          await iam.ask('PATCH', `/users/${id}/role`, { role: 'admin' });
        }
      }
    });
  }

  test('remains when the two delete each other', async (t) => {
    const iam = await iamHouse(t);
    const [ada, eve] = [await iam.user('ada', 'admin'), await iam.user('eve', 'admin')];
    const answers = await Promise.all([
      iam.as(ada)('DELETE', `/users/${eve.id}`),
      iam.as(eve)('DELETE', `/users/${ada.id}`),
    ]);
    const [deleted, refused] = statusesOf(answers);
    assert.equal(deleted, 204);
    assert.ok(refused === 409 || refused === 401, `${refused}: last, or gone before its turn`);
    assert.equal(await activeAdmins(iam), 1);
  });
});
