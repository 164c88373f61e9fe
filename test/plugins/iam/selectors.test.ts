import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { iamHouse } from './house.ts';

describe('the device selector of an organization', () => {
  test('is felt by its members at once, and by administrators never', async (t) => {
    const { ask, user, org, directory } = await iamHouse(t);
    const [ann, ada] = [await user('ann'), await user('ada', 'admin')];
    const seen = (id: number) => directory().live(id)?.selectors;
    const acme = await org('Acme', { [ann.id]: 'member', [ada.id]: 'member' });
    assert.equal(seen(ann.id), undefined, 'without a selector all is seen');
    assert.equal(
      (await ask('PATCH', `/orgs/${acme.id}`, { device_selector: 'customer=acme,role:db' })).body
        .device_selector,
      'customer=acme,role:db',
    );
    assert.deepEqual([seen(ann.id), seen(ada.id)], [['customer=acme,role:db'], undefined]);
    const more = await org('More', { [ann.id]: 'viewer' });
    await ask('PATCH', `/orgs/${more.id}`, { device_selector: 'rented' });
    assert.deepEqual(
      seen(ann.id),
      ['customer=acme,role:db', 'rented'],
      'of several organizations any',
    );
    await ask('PATCH', `/orgs/${more.id}`, { description: 'another word' });
    assert.deepEqual(seen(ann.id)?.length, 2, 'a change of another field leaves the selector');
    await ask('PATCH', `/orgs/${more.id}`, { device_selector: null });
    assert.deepEqual(
      seen(ann.id),
      ['customer=acme,role:db'],
      'one without a selector widens nothing',
    );
  });

  test('is a list of tags and roles, and nothing else is taken for one', async (t) => {
    const { ask } = await iamHouse(t);
    for (const bad of [
      '',
      ',',
      'a,',
      'a=b,,c',
      ' a',
      'role:',
      'role:a b',
      '=x',
      'a;b',
      'team:x',
      'a,'.repeat(11) + 'a',
    ]) {
      assert.equal(
        (await ask('POST', '/orgs', { name: 'Bad', device_selector: bad })).status,
        400,
        JSON.stringify(bad),
      );
    }
    for (const [index, good] of ['a', 'a=', 'a=b c', 'k8s.io/name=x,role:db-1'].entries()) {
      assert.equal(
        (await ask('POST', '/orgs', { name: `Good ${index}`, device_selector: good })).status,
        201,
        good,
      );
    }
  });

  test('is not got rid of by those whom it narrows', async (t) => {
    const { ask, as, user, org } = await iamHouse(t);
    const [head, mate] = [await user('head'), await user('mate')];
    const acme = await org('Acme', { [head.id]: 'org_admin', [mate.id]: 'member' });
    await ask('PATCH', `/orgs/${acme.id}`, { device_selector: 'customer=acme' });
    for (const { id } of [head, mate]) {
      const { status, body } = await as(head)('DELETE', `/orgs/${acme.id}/members/${id}`);
      assert.deepEqual([status, body.message.endsWith('ask an administrator.')], [403, true]);
    }
    assert.equal(
      (await as(head)('PATCH', `/orgs/${acme.id}`, { device_selector: null })).status,
      403,
    );
    const gone = await ask('DELETE', `/orgs/${acme.id}`);
    assert.deepEqual(
      [gone.status, /limits what its 2 members see/.test(gone.body.message)],
      [409, true],
    );
    assert.equal(
      (await ask('DELETE', `/orgs/${acme.id}/members/${mate.id}`)).status,
      204,
      'an administrator may',
    );
  });
});
