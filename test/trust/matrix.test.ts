import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Access, RouteDeclaration } from 'svc/sdk';

import { type Answer, type Household, household } from './household.ts';

/** One kind of caller, and what the declaration of a route promises it. */
interface Caller {
  readonly who: string;
  readonly authorization: string | undefined;
  expects(access: Access): 'open' | 401 | 403;
}

const nobody = (access: Access): 'open' | 401 => (access === 'public' ? 'open' : 401);

/** What a role with these grants may do, written anew here: the test must not ask the code that it tests. */
const holding =
  (...grants: readonly string[]) =>
  (access: Access): 'open' | 403 => {
    const needed = typeof access === 'object' ? access.action : access;
    if (needed === 'public' || needed === 'any') {
      return 'open';
    }
    if (needed === 'machine') {
      return 403;
    }
    if (grants.includes('*')) {
      return 'open';
    }
    return grants.includes(needed) || grants.includes(`${needed.split(':')[0]}:*`) ? 'open' : 403;
  };

test('every declared route answers every kind of caller as its declaration says', async (t) => {
  const people = await household(t);
  const { house } = people;
  const routes = [...house.registry.current.routes.values()].map(({ value }) => value);
  const actions = [...new Set([...house.registry.current.generations.values()].flatMap(({ manifest }) => Object.keys(manifest.actions)))].sort();
  const guarded = [...new Set(routes.map(({ access }) => (typeof access === 'object' ? access.action : access)))].filter((access) => access.includes(':'));
  assert.deepEqual(
    guarded.filter((action) => !actions.includes(action)),
    [],
    'every action that guards a route is declared by a plugin',
  );

  const callers = await everyCaller(people, actions);
  const wrong: string[] = [];
  let asked = 0;
  for (const route of routes) {
    assert.ok(route.access !== undefined, `${route.method} ${route.path} has no access`);
    for (const caller of callers) {
      const expected = caller.expects(route.access);
      const answer = await call(people, route, caller);
      asked += 1;
      const seen = refusal(answer) ?? 'open';
      if (seen !== expected || answer.status >= 500) {
        wrong.push(
          `${route.method} ${route.path} (${JSON.stringify(route.access)}) as ${caller.who}: expected ${expected}, answered ${answer.status} ${answer.text.slice(0, 120)}`,
        );
      }
    }
  }
  t.diagnostic(`${routes.length} routes × ${callers.length} callers = ${asked} answers`);
  assert.deepEqual(wrong, []);
});

async function everyCaller(people: Household, actions: readonly string[]): Promise<Caller[]> {
  const { house, clock, ask } = people;
  const bearer = (token: string): string => `Bearer ${token}`;
  const expired = await people.person('expired', 'admin');
  clock.ahead += 16 * 60_000;

  const revoked = await people.person('revoked', 'admin');
  assert.equal((await ask('POST', '/api/v1/auth/logout', revoked.access)).status, 204);
  const disabled = await people.person('disabled', 'admin');
  assert.equal((await ask('PATCH', `/api/v1/users/${disabled.id}`, house.token, { status: 'disabled' })).status, 200);
  const elsewhere = await people.person('elsewhere', 'user');
  const { body: org } = await ask('POST', '/api/v1/orgs', house.token, { name: 'Elsewhere' });
  assert.equal((await ask('POST', `/api/v1/orgs/${org.id}/members`, house.token, { user_id: elsewhere.id, role: 'org_admin' })).status, 201);
  const { access: elsewhereAccess } = await people.signIn(elsewhere.email);

  const [viewer, user, admin] = [await people.person('viewer', 'viewer'), await people.person('user', 'user'), await people.person('admin', 'admin')];
  const seeded = (await ask('GET', '/api/v1/me', user.access)).body.grants as string[];
  const own: Caller[] = [
    { who: 'anonymous', authorization: undefined, expects: nobody },
    { who: 'viewer', authorization: bearer(viewer.access), expects: holding() },
    { who: 'user', authorization: bearer(user.access), expects: holding(...seeded) },
    { who: 'admin', authorization: bearer(admin.access), expects: holding('*') },
    { who: 'admin of another organization', authorization: bearer(elsewhereAccess), expects: orgAdmin(seeded) },
    { who: 'disabled user', authorization: bearer(disabled.access), expects: nobody },
    { who: 'expired token', authorization: bearer(expired.access), expects: nobody },
    { who: 'revoked token', authorization: bearer(revoked.access), expects: nobody },
    { who: 'refresh token as access token', authorization: bearer(admin.refresh), expects: nobody },
    { who: 'credential of an edge', authorization: `Basic ${Buffer.from('svc_ak_1:svc_sk_1').toString('base64')}`, expects: nobody },
  ];
  for (const [index, action] of actions.entries()) {
    const others = actions.filter((other) => other !== action);
    await people.role(`only-${index}`, [action]);
    await people.role(`all-but-${index}`, others);
    const only = await people.person(`only-${index}`, `only-${index}`);
    const allBut = await people.person(`all-but-${index}`, `all-but-${index}`);
    own.push({ who: `only ${action}`, authorization: bearer(only.access), expects: holding(action) });
    own.push({ who: `all but ${action}`, authorization: bearer(allBut.access), expects: holding(...others) });
  }
  return own;
}

/** An org_admin manages the members of its own organization; everywhere else it is what its role says. */
const orgAdmin = (seeded: readonly string[]) => holding(...seeded, 'member:manage');

async function call(people: Household, route: RouteDeclaration, { authorization, who }: Caller): Promise<Answer> {
  // A logout would end the session that the rest of the row is asked with.
  const token = route.path === '/api/v1/auth/logout' && authorization && !['anonymous'].includes(who) ? await spare(people, who, authorization) : authorization;
  const path = route.path.replaceAll(/\{[^}]+\}/g, '999999');
  const takesBody = route.body !== undefined || route.consumes !== undefined;
  return await people.ask(route.method, path, token, takesBody ? '{}' : undefined);
}

/** A second session of the same person, where the caller is one who can sign in. */
async function spare(people: Household, who: string, authorization: string): Promise<string> {
  const { body } = await people.ask('GET', '/api/v1/me', authorization);
  return body?.email ? `Bearer ${(await people.signIn(body.email)).access}` : authorization;
}

/** Whether the pipeline, and not the handler, turned the caller away. */
function refusal({ status, body }: Answer): 401 | 403 | undefined {
  const message = String(body?.message ?? '');
  if (status === 401 && /^(sign in first|the credential is not valid or has expired)/.test(message)) {
    return 401;
  }
  return status === 403 && /^(your role does not hold|this is only for)/.test(message) ? 403 : undefined;
}
