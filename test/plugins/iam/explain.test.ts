import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import type { Access, Principal } from 'svc/sdk';

import { allows } from '../../../core/auth/index.ts';
import { matching } from '../../../plugins/iam/policy/grants.ts';
import { lampFolder } from '../session/house.ts';
import { iamHouse, type Json, principalOf } from './house.ts';

const areas = ['edge', 'device', 'alert', 'lamp'];
const verbs = ['create', 'plugin', 'edge', 'all'];
const actions = [...areas.flatMap((area) => verbs.map((verb) => `${area}:${verb}`)), 'webshell'];
const anyAction = fc.constantFrom(...actions);
const anyGrant = fc.oneof(
  anyAction,
  fc.constantFrom(...areas.map((area) => `${area}:*`), '*', 'edge', 'ed:*', ':*', ''),
);
const anyGrants = fc.uniqueArray(anyGrant, { maxLength: 8 });

const holding = (grants: readonly string[]): Principal => ({
  kind: 'user',
  id: '1',
  role: 'some',
  grants,
});
const wanted = (access: Access): string => (typeof access === 'object' ? access.action : access);

describe('the explanation of a grant', () => {
  test('says yes exactly where the pipeline lets pass', () => {
    fc.assert(
      fc.property(anyGrants, anyAction, (grants, action) => {
        assert.equal(
          matching(grants, action) !== undefined,
          allows(holding(grants), action as Access),
        );
        assert.equal(matching(grants, '*') !== undefined, allows(holding(grants), 'admin'));
      }),
      { numRuns: 2_000 },
    );
  });

  test('never loses anything by one more grant', () => {
    fc.assert(
      fc.property(anyGrants, anyGrant, anyAction, (grants, more, action) => {
        if (allows(holding(grants), action as Access)) {
          assert.ok(allows(holding([...grants, more]), action as Access));
          assert.notEqual(matching([...grants, more], action), undefined);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('names a grant that is really held and covers the action by itself', () => {
    fc.assert(
      fc.property(anyGrants, anyAction, (grants, action) => {
        const grant = matching(grants, action);
        assert.ok(
          grant === undefined ||
            (grants.includes(grant) && allows(holding([grant]), action as Access)),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('GET /policy/explain', () => {
  test('agrees with the pipeline for every route and every kind of person', async (t) => {
    const iam = await iamHouse(t, { plugins: ['iam', 'host', 'version', lampFolder] });
    const { ask, directory, house, user } = iam;
    const declared = (await ask('GET', '/policy/actions')).body.items.map(
      ({ action }: Json) => action,
    ) as string[];
    await ask('POST', '/roles', { name: 'area', grants: ['lamp:*'] });
    await ask('POST', '/roles', { name: 'nothing', grants: [] });
    for (const [index, action] of declared.entries()) {
      await ask('POST', '/roles', { name: `only-${index}`, grants: [action] });
    }
    const names = ((await ask('GET', '/roles')).body.items as Json[]).map(
      ({ name }) => name as string,
    );
    const people: Json[] = [];
    for (const role of names) {
      people.push(await user(role, role));
    }
    const head = await user('head', 'viewer');
    await iam.org('Ops', { [head.id]: 'org_admin' });
    people.push(head);

    const routes = [...house.registry.current.routes.values()].map(({ value }) => value);
    const asked = new Set(
      routes
        .map(({ access }) => wanted(access))
        .filter((access) => access === 'admin' || access === 'any' || declared.includes(access)),
    );
    assert.ok(asked.size >= 6, [...asked].join());
    let compared = 0;
    for (const access of asked) {
      const able = (await ask('GET', `/policy/explain?action=${access}`)).body.items.map(
        ({ user_id }: Json) => user_id,
      ) as number[];
      for (const { id } of people) {
        const one = (await ask('GET', `/policy/explain?action=${access}&user_id=${id}`)).body
          .items[0];
        const enforced = allows(principalOf(directory().live(id)!), access as Access);
        assert.equal(one.allowed, enforced, `${access} for ${one.role}: ${one.reason}`);
        assert.equal(able.includes(id), enforced);
        compared += 1;
      }
    }
    t.diagnostic(`${asked.size} kinds of access × ${people.length} people = ${compared} answers`);
  });

  test('says why: the role, the grant in it, the membership, or that the account is off', async (t) => {
    const iam = await iamHouse(t, { plugins: ['iam', lampFolder] });
    const { ask, user } = iam;
    await ask('POST', '/roles', { name: 'electrician', grants: ['lamp:*'] });
    const [ada, ela, vi] = [
      await user('ada', 'admin'),
      await user('ela', 'electrician'),
      await user('vi', 'viewer'),
    ];
    const ops = await iam.org('Ops', { [vi.id]: 'org_admin' });
    const why = async (action: string, { id }: Json) =>
      (await ask('GET', `/policy/explain?action=${action}&user_id=${id}`)).body.items[0];
    const brief = ({ allowed, via, grant, org_id: org, reason }: Json) => [
      allowed,
      via,
      grant,
      org,
      reason,
    ];

    assert.deepEqual(brief(await why('lamp:break', ada)), [
      true,
      'role',
      '*',
      null,
      'the role admin grants *',
    ]);
    assert.deepEqual(brief(await why('lamp:break', ela)), [
      true,
      'role',
      'lamp:*',
      null,
      'the role electrician grants lamp:*',
    ]);
    assert.deepEqual(brief(await why('lamp:break', vi)), [
      false,
      null,
      null,
      null,
      'the role viewer does not grant lamp:break',
    ]);
    const ofOps = `being org_admin of organization ${ops.id} grants member:manage there`;
    assert.deepEqual(brief(await why('member:manage', vi)), [
      true,
      'membership',
      'member:manage',
      ops.id,
      ofOps,
    ]);
    assert.deepEqual(brief(await why('admin', ela)), [
      false,
      null,
      null,
      null,
      'the role electrician is not admin',
    ]);
    assert.deepEqual(brief(await why('any', vi)), [
      true,
      'account',
      null,
      null,
      'every active account may',
    ]);
    await ask('PATCH', `/users/${ela.id}`, { status: 'disabled' });
    assert.deepEqual(brief(await why('lamp:break', ela)), [
      false,
      null,
      null,
      null,
      'the account is disabled',
    ]);

    const first = (await ask('GET', '/policy/explain?action=any&limit=1')).body;
    assert.deepEqual([first.items[0].user_id, first.total], [ada.id, 2]);
    const second = (
      await ask('GET', `/policy/explain?action=any&limit=1&cursor=${first.next_cursor}`)
    ).body;
    assert.deepEqual([second.items[0].user_id, second.next_cursor], [vi.id, '']);
    assert.equal((await ask('GET', '/policy/explain?action=lamp:paint')).status, 400);
    assert.equal((await ask('GET', '/policy/explain')).status, 400);
    assert.equal((await ask('GET', '/policy/explain?action=any&user_id=999')).status, 404);
    assert.equal((await iam.as(vi)('GET', '/policy/explain?action=any')).status, 403);
  });
});
