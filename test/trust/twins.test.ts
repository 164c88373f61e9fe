import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';

import type { RouteDeclaration } from 'svc/sdk';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { type Area, areas, type Ids, type Twin } from './area.ts';
import { type IdPlace, idPlaces, nobodys, withField } from './foreign-ids.ts';
import { type Answer, type Household, household } from './household.ts';

interface Owner extends Twin {
  readonly ids: Ids;
}

/** A household with a model, whose answers can be shared. */
async function answering(t: Pick<TestContext, 'after'>): Promise<Household> {
  const fake = await FakeModel.start({ rules: [{ reply: { text: 'All is well.' } }] });
  t.after(() => fake.close());
  const people = await household(t, {
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  });
  const persona = {
    name: 'scout',
    description: 'Looks.',
    when_to_use: 'Always.',
    body: 'You look.',
  };
  const made = await people.ask('POST', '/api/v1/agents/custom', people.house.token, persona);
  assert.equal(made.status, 201, made.text);
  return people;
}

/** An organization with one member, who owns one thing of every kind, holds every action, and is nowhere else. */
async function owner(people: Household, every: readonly Area[], name: string): Promise<Owner> {
  const { house, ask } = people;
  const actions = [...house.registry.current.generations.values()].flatMap(({ manifest }) =>
    Object.keys(manifest.actions),
  );
  await people.role('everything-but-admin', [...new Set(actions)]);
  const { id, email } = await people.person(name, 'everything-but-admin');
  const { body: org } = await ask('POST', '/api/v1/orgs', house.token, { name: `Org of ${name}` });
  assert.equal(
    (
      await ask('POST', `/api/v1/orgs/${org.id}/members`, house.token, {
        user_id: id,
        role: 'org_admin',
      })
    ).status,
    201,
  );
  const { body: orgs } = await ask('GET', '/api/v1/orgs', house.token);
  const home = orgs.items.find(({ name: other }: { name: string }) => other === 'default');
  assert.equal(
    (await ask('DELETE', `/api/v1/orgs/${home.id}/members/${id}`, house.token)).status,
    204,
  );
  const person = await people.signIn(email);
  const twin: Twin = {
    person,
    orgId: org.id,
    ask: (method, path, body) => ask(method, path, person.access, body),
  };
  const ids: Record<string, string | number> = {};
  for (const [collection, make] of every.flatMap(({ owned }) => Object.entries(owned ?? {}))) {
    ids[collection] = await make(twin);
    assert.ok(
      ['string', 'number'].includes(typeof ids[collection]),
      `the room that owns "${collection}" makes one and tells its id`,
    );
  }
  return { ...twin, ids };
}

/** Asks with ids of one's own everywhere but in one place. */
async function askWith(
  twin: Owner,
  route: RouteDeclaration,
  places: readonly IdPlace[],
  odd: IdPlace,
  id: string | number,
  good: object,
): Promise<Answer> {
  const idAt = (place: IdPlace): string | number =>
    place === odd ? id : (twin.ids[place.collection] ?? 'none');
  let path = route.path;
  let body: unknown = good;
  for (const place of places) {
    if (place.where === 'path') {
      path = path.replace(`{${place.at[0]!}}`, encodeURIComponent(String(idAt(place))));
    } else if (place === odd && place.where === 'query') {
      path += `?${place.at[0]!}=${encodeURIComponent(String(id))}`;
    } else if (place === odd) {
      body = withField(body, place.at, id);
    }
  }
  return await twin.ask(route.method, path, route.body === undefined ? undefined : body);
}

/** Returns the text of an answer, independent of the id in the request. */
function told({ status, body, text }: Answer, id: string | number): string {
  const { request_id: _its, message, ...rest } = (body ?? { text }) as Record<string, unknown>;
  const said =
    typeof message === 'string'
      ? message.replaceAll(String(id), '#').replaceAll(/[\w-]*[\d#][\w#-]*/g, '#')
      : message;
  return `${status} ${JSON.stringify({ ...rest, ...(said !== undefined && { message: said }) })}`;
}

describe('two organizations that know nothing of each other', () => {
  test('cannot tell an id of the other from one that nobody has, in a path, a query or a body', async (t) => {
    const { all } = await areas();
    const every = [...all.values()];
    const houseWide = new Set(every.flatMap((area) => area.houseWide ?? []));
    const people = await answering(t);
    const [a, b] = [await owner(people, every, 'anna'), await owner(people, every, 'bert')];
    const wrong: string[] = [];
    let asked = 0;
    for (const { owner: plugin, value: route } of people.house.registry.current.routes.values()) {
      const area = all.get(plugin.pluginId) ?? { routes: '' };
      const key = `${route.method} ${route.path}`;
      const places = idPlaces(route, area, every);
      for (const place of places) {
        const { where, at, collection } = place;
        const foreign = b.ids[collection];
        if (foreign === undefined) {
          if (!houseWide.has(collection)) {
            wrong.push(
              `${key} takes an id of "${collection}" (${where} ${at.join('.')}), which no room knows: in test/trust/routes/${plugin.pluginId}.ts say under "owned" how somebody gets one, under "fields" what else its name stands for, or under "houseWide" that they are everybody's`,
            );
          }
          continue;
        }
        const good = area.bodies?.[key]?.(a.ids) ?? {};
        const [strange, absent] = [
          await askWith(a, route, places, place, foreign, good),
          await askWith(a, route, places, place, nobodys(foreign), good),
        ];
        asked += 1;
        const shown = `${key}, ${where} ${at.join('.')}`;
        if (told(strange, foreign) !== told(absent, nobodys(foreign))) {
          wrong.push(
            `${shown}: ${told(strange, foreign)} where ${told(absent, nobodys(foreign))} is said of an id that no row has`,
          );
        } else if (where !== 'query' && strange.status < 400) {
          wrong.push(`${shown} is taken: ${strange.status}`);
        } else if (/^the (body|query) is not valid/.test(strange.body?.message)) {
          wrong.push(
            `${shown} is refused for another reason (${strange.body.message}): give it a good body in test/trust/routes/${plugin.pluginId}.ts`,
          );
        }
      }
    }
    t.diagnostic(`${asked} ids of the other organization`);
    assert.deepEqual(wrong, []);
    assert.ok(asked >= 20, `${asked} places take an id`);
  });

  test('do not see each other in lists, nor go on with a cursor of the other', async (t) => {
    const every = [...(await areas()).all.values()];
    const people = await answering(t);
    const [a, b] = [await owner(people, every, 'anna'), await owner(people, every, 'bert')];
    const { house } = people;
    const mine = (await a.ask('GET', '/api/v1/users')).body;
    assert.deepEqual(
      mine.items.map(({ email }: { email: string }) => email),
      ['anna@example.org'],
    );
    assert.equal(mine.total, 1);
    assert.equal((await a.ask('GET', `/api/v1/users?q=bert`)).body.total, 0);
    assert.equal((await a.ask('GET', '/api/v1/orgs')).body.items.length, 1);
    const cursor = (await people.ask('GET', '/api/v1/users?limit=1', house.token)).body.next_cursor;
    assert.notEqual(cursor, '');
    assert.equal((await b.ask('GET', `/api/v1/users?limit=1&cursor=${cursor}`)).status, 400);
  });
});
