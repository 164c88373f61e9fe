import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Authenticator, type AuthenticatorContract, type Principal } from 'svc/sdk';

import { areas, type Row, rowsOf } from './area.ts';
import { type Answer, type Household, household, type SignedIn } from './household.ts';
import { knock } from './knock.ts';

type Expected = 'open' | 401 | 403;

/** One kind of caller, and what the tables written by hand promise it. */
interface Caller {
  readonly who: string;
  readonly authorization: string | undefined;
  readonly expects: (audience: string, plugin: string) => Expected;
  /** Id that they may use where a route is also for oneself. */
  readonly self?: number;
  /** Signs them in a second time, for what ends a session. */
  readonly again?: () => Promise<SignedIn>;
}

/**
 * Permissions of a `user` by the decisions about roles; a plugin that adds an area adds it there,
 * and here.
 */
const ofUser = [
  'edge:*',
  'edge:plugin',
  'device:*',
  'topology:*',
  'alert:*',
  'channel:*',
  'agent:*',
  'schedule:*',
  'knowledge:*',
  'skill:*',
  'monitor:*',
  'check:*',
];

const nobody = (audience: string): Expected => (audience === 'public' ? 'open' : 401);
const machine = (audience: string): Expected =>
  audience === 'public' || /(^|\|)machine$/.test(audience) ? 'open' : 403;

/**
 * Returns what somebody with these grants may do, restated here: the test must not use the code
 * that it tests.
 */
const holding =
  (...grants: readonly string[]) =>
  (audience: string): Expected => {
    const needed = audience.split('|')[0]!;
    if (['public', 'known', 'any'].includes(needed) || audience.endsWith('|people')) {
      return 'open';
    }
    const area = `${needed.split(':')[0]}:*`;
    return needed !== 'machine' &&
      (grants.includes('*') || grants.includes(needed) || grants.includes(area))
      ? 'open'
      : 403;
  };

/**
 * Returns whether reading is allowed: a program reads where its token says so; a signed-in person
 * reads everywhere.
 */
const reading =
  (areas: readonly string[] | 'all', ...grants: readonly string[]) =>
  (audience: string, plugin: string): Expected =>
    audience === 'any'
      ? areas === 'all' || areas.includes(plugin)
        ? 'open'
        : 403
      : holding(...grants)(audience.replace(/\|people$/, ''));

const everywhere = '*';
/** Path called last, since it ends every session of the caller. */
const lastOfAll = '/api/v1/auth/logout-all';

test('every route answers every kind of caller as the tables say', async (t) => {
  const people = await household(t);
  const rows = [...(await areas()).all].flatMap(([plugin, area]) => rowsOf(plugin, area));
  const declared = [
    ...new Set(
      [...people.house.registry.current.generations.values()].flatMap(({ manifest }) =>
        Object.keys(manifest.actions),
      ),
    ),
  ].sort();
  const guards = [...new Set(rows.map(actionOf))].filter((action) => action !== everywhere);
  assert.deepEqual(
    guards.filter((action) => !declared.includes(action)),
    [],
    'every action that guards a route is declared by a plugin',
  );

  const callers = await commonCallers(people);
  const custom = await customCallers(people);
  const wrong: string[] = [];
  let asked = 0;
  const ask = async (
    row: Row,
    caller: Caller,
    id: string | number,
    expected: Expected,
  ): Promise<void> => {
    const answer = await call(people, row, caller, id);
    asked += 1;
    const seen = refusal(answer) ?? 'open';
    if (seen !== expected || answer.status >= 500) {
      wrong.push(
        `${row.method} ${row.path} (${row.who}) as ${caller.who}: expected ${expected}, answered ${answer.status} ${answer.text.slice(0, 120)}`,
      );
    }
  };

  for (const guard of [...guards, everywhere]) {
    const own = await custom(guard, declared);
    const guarded = rows
      .filter((row) => actionOf(row) === guard)
      .sort((a, b) => Number(a.path === lastOfAll) - Number(b.path === lastOfAll));
    for (const row of guarded) {
      for (const caller of [...callers, ...own]) {
        await ask(row, caller, 999_999, caller.expects(row.who, row.plugin));
        if (row.who.endsWith('|self') && caller.self !== undefined) {
          await ask(row, caller, caller.self, 'open');
        }
      }
    }
  }
  t.diagnostic(`${rows.length} routes, ${asked} answers`);
  assert.deepEqual(wrong, []);
});

/** The action that a route asks for; the same group for all that ask for none. */
function actionOf({ who }: Row): string {
  const needed = who.split('|')[0]!;
  return needed.includes(':') || needed === 'webshell' ? needed : everywhere;
}

async function commonCallers(people: Household): Promise<Caller[]> {
  const { house, clock, ask } = people;
  const bearer = (token: string): string => `Bearer ${token}`;
  const script = async (
    access: string,
    actions: readonly string[],
    forMs: number,
  ): Promise<{ id: number; token: string }> => {
    const expires_at = new Date(Date.now() + clock.ahead + forMs).toISOString();
    const { status, body } = await ask('POST', '/api/v1/tokens', access, {
      name: 'script',
      actions,
      expires_at,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const minute = 60_000;
  const expired = await people.person('expired', 'admin');
  const expiredScript = await script(expired.access, ['*'], 10 * minute);
  clock.ahead += 16 * minute;

  const revoked = await people.person('revoked', 'admin');
  assert.equal((await ask('POST', '/api/v1/auth/logout', revoked.access)).status, 204);
  const disabled = await people.person('disabled', 'admin');
  const disabledScript = await script(disabled.access, ['*'], 60 * minute);
  assert.equal(
    (await ask('PATCH', `/api/v1/users/${disabled.id}`, house.token, { status: 'disabled' }))
      .status,
    200,
  );
  const elsewhere = await adminElsewhere(people);

  const [viewer, user, admin] = [
    await people.person('viewer', 'viewer'),
    await people.person('user', 'user'),
    await people.person('admin', 'admin'),
  ];
  const revokedScript = await script(admin.access, ['*'], 60 * minute);
  assert.equal(
    (await ask('DELETE', `/api/v1/tokens/${revokedScript.id}`, admin.access)).status,
    204,
  );
  const owner = await people.person('owner', 'admin');
  const [idle, mighty] = [
    await script(owner.access, [], 60 * minute),
    await script(owner.access, ['*'], 60 * minute),
  ];
  const [devices, reader] = [
    await script(owner.access, ['read:device'], 60 * minute),
    await script(owner.access, ['read:*'], 60 * minute),
  ];
  const person = (who: string, one: SignedIn, expects: Caller['expects']): Caller => ({
    who,
    authorization: bearer(one.access),
    expects,
    self: one.id,
    again: () => people.signIn(one.email),
  });
  const unknown = (who: string, authorization: string | undefined): Caller => ({
    who,
    authorization,
    expects: nobody,
  });
  return [
    unknown('anonymous', undefined),
    person('viewer', viewer, holding()),
    person('user', user, holding(...ofUser)),
    person('admin', admin, holding('*')),
    person(
      'admin of another organization, who is not in the default one',
      elsewhere,
      holding(...ofUser, 'member:manage'),
    ),
    { who: 'API token without actions', authorization: bearer(idle.token), expects: reading([]) },
    {
      who: 'API token that reads devices',
      authorization: bearer(devices.token),
      expects: reading(['device']),
    },
    {
      who: 'API token that reads everything',
      authorization: bearer(reader.token),
      expects: reading('all'),
    },
    { who: 'API token of an admin', authorization: bearer(mighty.token), expects: holding('*') },
    { who: 'edge', authorization: edgeCredential(people), expects: machine },
    unknown(
      'credential of an edge that nobody knows',
      `Basic ${Buffer.from('svc_ak_2:svc_sk_2').toString('base64')}`,
    ),
    unknown('disabled user', bearer(disabled.access)),
    unknown('API token of a disabled user', bearer(disabledScript.token)),
    unknown('expired token', bearer(expired.access)),
    unknown('revoked token', bearer(revoked.access)),
    unknown('expired API token', bearer(expiredScript.token)),
    unknown('revoked API token', bearer(revokedScript.token)),
    unknown('refresh token as access token', bearer(admin.refresh)),
  ];
}

/** Somebody who runs an organization of their own and has left the one that everybody is put into. */
async function adminElsewhere({ house, ask, person, signIn }: Household): Promise<SignedIn> {
  const { id, email } = await person('elsewhere', 'user');
  const { body: org } = await ask('POST', '/api/v1/orgs', house.token, { name: 'Elsewhere' });
  assert.equal(
    (
      await ask('POST', `/api/v1/orgs/${org.id}/members`, house.token, {
        user_id: id,
        role: 'org_admin',
      })
    ).status,
    201,
  );
  const home = (await ask('GET', '/api/v1/orgs', house.token)).body.items.find(
    ({ name }: { name: string }) => name === 'default',
  );
  assert.equal(
    (await ask('DELETE', `/api/v1/orgs/${home.id}/members/${id}`, house.token)).status,
    204,
  );
  return await signIn(email);
}

/**
 * Returns an edge as the pipeline sees it, whichever plugin vouches for it; one that claims
 * everything on top of that.
 */
function edgeCredential({ house }: Household): string {
  const provider: AuthenticatorContract = house.service(Authenticator);
  const people = provider.authenticate.bind(provider);
  const edge: Principal = { kind: 'edge', id: '1', name: 'edge 1', role: 'admin', grants: ['*'] };
  provider.authenticate = (credential) =>
    credential.scheme === 'basic' && credential.value === 'svc_ak_1:svc_sk_1'
      ? edge
      : people(credential);
  return `Basic ${Buffer.from('svc_ak_1:svc_sk_1').toString('base64')}`;
}

/**
 * Creates two people whose roles are replaced for each guard: one holds it and nothing else, the
 * other everything else.
 */
async function customCallers(
  people: Household,
): Promise<(guard: string, declared: readonly string[]) => Promise<Caller[]>> {
  await people.role('only', []);
  await people.role('others', []);
  const [only, others] = [
    await people.person('only', 'only'),
    await people.person('others', 'others'),
  ];
  return async (guard, declared) => {
    const rest = declared.filter((action) => action !== guard);
    const granted = guard === everywhere ? [] : [guard];
    await people.role('only', granted);
    await people.role('others', rest);
    const caller = (who: string, one: SignedIn, grants: readonly string[]): Caller => ({
      who,
      authorization: `Bearer ${one.access}`,
      expects: holding(...grants),
      self: one.id,
      again: () => people.signIn(one.email),
    });
    return [
      caller(`role with only ${guard}`, only, granted),
      caller(`role with every action but ${guard}`, others, rest),
    ];
  };
}

async function call(
  people: Household,
  row: Row,
  { authorization, again }: Caller,
  id: string | number,
): Promise<Answer> {
  const { value: route } = [...people.house.registry.current.routes.values()].find(
    ({ value }) => value.method === row.method && value.path === row.path,
  )!;
  // A logout would end the session that the rest of the row is asked with.
  const token =
    row.path === '/api/v1/auth/logout' && again
      ? `Bearer ${(await again()).access}`
      : authorization;
  const path = row.path.replaceAll(/\{[^}]+\}/g, String(id));
  const takesBody = route.body !== undefined || route.consumes !== undefined;
  return route.kind === 'socket'
    ? await knock(people.house.url + path, token, route.protocols)
    : await people.ask(row.method, path, token, takesBody ? '{}' : undefined);
}

/**
 * Returns a refusal by the pipeline rather than the handler; protocols have envelopes of their own
 * for the sentence.
 */
function refusal({ status, body, text }: Answer): 401 | 403 | undefined {
  const message = String(body?.message ?? body?.error ?? text).trimStart();
  if (
    status === 401 &&
    /^(Sign in first|The credential is not valid or has expired)/.test(message)
  ) {
    return 401;
  }
  return status === 403 &&
    /^(Your (role|API token) does not grant|This route is only for)/.test(message)
    ? 403
    : undefined;
}
