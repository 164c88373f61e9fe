import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import type { SignedIn } from '../../trust/household.ts';
import { type ShellHouse, shellHouse, until } from './house.ts';
import { startSshd } from './sshd.ts';

/** One who has a shell, and what takes the right or the device away from them. */
interface Loss {
  readonly name: string;
  readonly says: RegExp;
  take(
    kit: ShellHouse,
    own: { readonly person: SignedIn; readonly device: number; readonly org: number },
  ): Promise<{ status: number; text: string }>;
}

const losses: readonly Loss[] = [
  {
    name: 'the organization is narrowed to other devices',
    says: /not among those that you see/,
    take: ({ ask }, { org }) =>
      ask('PATCH', `/orgs/${org}`, undefined, { device_selector: 'customer=other' }),
  },
  {
    name: 'the device is of that organization no more',
    says: /not among those that you see/,
    take: ({ ask }, { device }) =>
      ask('PATCH', `/devices/${device}`, undefined, { tags: { customer: 'other' } }),
  },
  {
    name: 'the account is disabled',
    says: /no longer have permission/,
    take: ({ ask }, { person }) =>
      ask('PATCH', `/users/${person.id}`, undefined, { status: 'disabled' }),
  },
  {
    name: 'the account has another role',
    says: /no longer have permission/,
    take: ({ ask }, { person }) =>
      ask('PATCH', `/users/${person.id}/role`, undefined, { role: 'viewer' }),
  },
  {
    name: 'the role grants shells no more',
    says: /no longer have permission/,
    take: ({ ask }) => ask('PATCH', '/roles/shells', undefined, { grants: [] }),
  },
];

const soonMs = 5_000;

test('a shell ends within seconds of the right to it, on the machine, too, and its recording is whole', async (t: TestContext) => {
  const sshd = await startSshd(t);
  if (!sshd) {
    return;
  }
  const kit = await shellHouse(t, () => sshd.port);
  const { house, ask, open, person, device, ticket } = kit;
  let number = 0;
  for (const { name, says, take } of losses) {
    number += 1;
    const [one, bystander] = [await person(`one-${number}`), await person(`bystander-${number}`)];
    const [theirs, other] = [await device(number), await device(100 + number)];
    assert.equal(
      (await ask('PATCH', `/devices/${theirs}`, undefined, { tags: { customer: `c${number}` } }))
        .status,
      200,
    );
    const { body: org } = await ask('POST', '/orgs', undefined, {
      name: `Org ${number}`,
      device_selector: `customer=c${number}`,
    });
    assert.equal(
      (await ask('POST', `/orgs/${org.id}/members`, undefined, { user_id: one.id })).status,
      201,
    );

    await t.test(name, async () => {
      const enter = async (who: SignedIn, on: number) => {
        const wish = {
          ticket: await ticket(who, on),
          origin: house.url,
          acks: true,
          first: { user: sshd.user, auth: { type: 'key', private_key: sshd.privateKey } },
        };
        const shell = await open(on, wish);
        return { shell, session: (await shell.frame('ready')).session_id as number };
      };
      const { shell, session } = await enter(one, theirs);
      const apart = await enter(bystander, other);
      const beat = join(house.dataDir, `beat-${number}`);
      shell.type(
        `stty -echo; i=0; while :; do i=$((i+1)); echo "line $i of the shell"; touch ${beat}; sleep 0.02; done\n`,
      );
      await shell.shows('line 20 of the shell');
      const from = performance.now();
      const { status, text } = await take(kit, { person: one, device: theirs, org: org.id });
      assert.ok(status < 300, text);
      const { code } = await shell.closed;
      assert.ok(performance.now() - from < soonMs, `it ended after ${performance.now() - from} ms`);
      assert.equal(code, 4403);
      assert.match(String(shell.frames.find(({ type }) => type === 'error')?.message), says);
      const all = name.startsWith('the role grants');
      assert.equal(
        apart.shell.ws.readyState === apart.shell.ws.OPEN,
        !all,
        'shells of others end with their own right alone',
      );
      apart.shell.ws.close(1000);

      assert.ok(existsSync(beat));
      await until('nothing of it runs on the machine', async () => {
        const before = statSync(beat).mtimeMs;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return statSync(beat).mtimeMs === before;
      });
      const rows = async () =>
        (await ask('GET', '/webshell/sessions?state=ended&limit=200')).body.items as {
          id: number;
          ended_by: string;
          recording: { state: string };
        }[];
      await until('its end is written', async () =>
        (await rows()).some(({ id }) => id === session),
      );
      const row = (await rows()).find(({ id }) => id === session)!;
      assert.deepEqual([row.ended_by, row.recording.state], ['revoked', 'complete']);
      const cast = await (
        await house.fetch(`/api/v1/webshell/recordings/${session}?format=cast`)
      ).text();
      const frames = cast.trimEnd().split('\n').slice(1);
      const recorded = frames
        .map((line) => JSON.parse(line) as [number, string, string])
        .filter(([, kind]) => kind === 'o')
        .map(([, , said]) => said)
        .join('');
      assert.ok(recorded.startsWith(shell.text()), 'whatever was shown is in it');
    });
  }
});
