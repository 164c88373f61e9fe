import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import { approvalHouse } from './house.ts';

const hourMs = 3_600_000;

test('two people sign what is dangerous, and every wrong pair is refused', async (t) => {
  const kit = await approvalHouse(t);
  const { ask, asked, sign, deny, statusOf, people, book } = kit;
  useNoLeaks(t, kit.house);
  people.anna.grants = ['skill:*', 'approval:sign'];

  await t.test('by who asked alone, and by the same person twice', async () => {
    const one = await asked();
    assert.equal((await sign('anna', one)).body.status, 'partially_signed');
    const again = await sign('anna', one);
    assert.deepEqual([again.status, /already signed this/.test(again.body.message)], [403, true]);
    assert.equal(await statusOf(one.id), 'partially_signed');
    await assert.rejects(book().begin(one.id, one.args), { code: 'conflict' });
    assert.deepEqual(
      (await sign('bob', one)).body.signatures.map(({ name }: { name: string }) => name),
      ['anna', 'bob'],
    );
    assert.equal(await statusOf(one.id), 'approved');
  });

  await t.test('with the strict setting, not by who asked at all', async () => {
    await kit.house.json('/api/v1/system-settings/approval/requester_signs', {
      method: 'PUT',
      body: JSON.stringify({ value: false }),
    });
    const one = await asked();
    assert.equal((await sign('anna', one)).status, 403);
    assert.equal((await sign('bob', one)).body.status, 'partially_signed');
    assert.equal((await sign('carl', one)).body.status, 'approved');
    const mutating = await asked({ signatures: 1, class: 'mutating', tool: 'sample_mutating' });
    const refused = await sign('anna', mutating);
    assert.deepEqual(
      [refused.status, /someone else with approval:sign/.test(refused.body.message)],
      [403, true],
    );
    assert.equal((await sign('bob', mutating)).body.status, 'approved');
    await kit.house.json('/api/v1/system-settings/approval/requester_signs', { method: 'DELETE' });
  });

  await t.test(
    'what would run is read by who asked, who may sign, and holders of approval:read; others see that there is one',
    async () => {
      const one = await asked({ args: { host: 'db', note: 'the merger' } });
      await sign('bob', one);
      people.vera.grants = ['approval:read'];
      for (const who of ['anna', 'bob', 'vera'] as const) {
        const { body } = await ask(who, 'GET', `/approvals/${one.id}`);
        assert.deepEqual(
          [body.visible, body.args, body.signatures.length],
          [true, { host: 'db', note: 'the merger' }, 1],
          who,
        );
      }
      people.vera.grants = [];
      for (const path of [`/approvals/${one.id}`, '/approvals?status=partially_signed']) {
        const { body } = await ask('vera', 'GET', path);
        const seen =
          'items' in body ? body.items.find(({ id }: { id: string }) => id === one.id) : body;
        assert.deepEqual(
          [seen.status, seen.visible, seen.class],
          ['partially_signed', false, 'dangerous'],
        );
        assert.doesNotMatch(JSON.stringify(seen), /merger|"db"|anna|bob|sample|s-1|[0-9a-f]{64}/i);
      }
    },
  );

  await t.test(
    'a viewer sees that there is one, and does not sign; nor do tokens, the operator, or who is not signed in',
    async () => {
      const one = await asked({ args: { host: 'db', password: 'hunter2' } });
      assert.equal((await ask('vera', 'GET', `/approvals/${one.id}`)).body.visible, false);
      const seen = await ask('bob', 'GET', `/approvals/${one.id}`);
      assert.deepEqual(
        [seen.status, seen.body.rendered, seen.body.args],
        [200, one.rendered, { host: 'db', password: '[redacted]' }],
      );
      assert.equal(
        (await ask('vera', 'GET', '/approvals?status=pending&session_id=s-1')).body.items[0].id,
        one.id,
      );
      assert.equal((await ask('vera', 'GET', '/approvals?mine=true')).body.total, 0);
      for (const who of ['vera', 'token of bob', 'operator'] as const) {
        assert.equal((await sign(who, one)).status, 403, who);
        assert.equal((await deny(who, one)).status, 403, who);
      }
      assert.equal(
        (
          await kit.house.fetch(`/api/v1/approvals/${one.id}/approve`, {
            method: 'POST',
            headers: { authorization: 'Bearer nobody' },
            body: '{}',
          })
        ).status,
        401,
      );
      people.bob.status = 'disabled';
      assert.equal((await sign('bob', one)).status, 403);
      people.bob.status = 'active';
      assert.equal(await statusOf(one.id), 'pending');
    },
  );

  await t.test(
    'what is signed is what was looked at, and what was signed is what is begun',
    async () => {
      const one = await asked();
      const other = await asked({ args: { host: 'db-2', times: 1 } });
      assert.equal((await sign('bob', one, other.args_sha256)).status, 409);
      await sign('bob', one);
      await sign('carl', one);
      await assert.rejects(book().begin(one.id, { host: 'db-2', times: 1 }), {
        code: 'conflict',
        reason: 'approval.args_swapped',
      });
      // The order of its fields is nothing to a value.
      assert.equal((await book().begin(one.id, { times: 1, host: 'db' })).status, 'executing');
      const elsewhere = await asked({ target: { kind: 'device', id: 7, name: 'db' } });
      assert.notEqual(elsewhere.args_sha256, one.args_sha256);
    },
  );

  await t.test('a refusal after the first signature ends it, with its reason', async () => {
    const one = await asked();
    await sign('bob', one);
    assert.equal((await deny('carl', one, 'the backup runs')).body.status, 'denied');
    const late = await sign('anna', one);
    assert.deepEqual(
      [late.status, late.body.message],
      [409, `Approval ${one.id} is already denied: the backup runs.`],
    );
    assert.equal((await book().get(one.id))!.reason, 'the backup runs');
    const both = await asked();
    await sign('bob', both);
    assert.equal((await deny('bob', both)).body.status, 'denied', 'who has signed may think again');
  });

  await t.test(
    'a change takes one signature: of who asked, or of a holder of approval:sign',
    async () => {
      people.anna.grants = ['skill:*'];
      const ask1 = () => asked({ tool: 'sample_mutating', class: 'mutating', signatures: 1 });
      assert.equal((await sign('anna', await ask1())).body.status, 'approved');
      assert.equal((await sign('carl', await ask1())).body.status, 'approved');
      assert.equal((await sign('vera', await ask1())).status, 403);
      assert.equal((await sign('anna', await asked())).status, 403, 'but not what is dangerous');
      people.anna.grants = ['skill:*', 'approval:sign'];
    },
  );

  await t.test(
    'it is taken back by who asked, or an administrator, and by no one else',
    async () => {
      const [one, two, three] = [await asked(), await asked(), await asked()];
      assert.equal((await ask('carl', 'POST', `/approvals/${one.id}/cancel`)).status, 403);
      assert.equal(
        (await ask('anna', 'POST', `/approvals/${one.id}/cancel`)).body.status,
        'cancelled',
      );
      assert.equal(
        (await ask('bob', 'POST', `/approvals/${two.id}/cancel`)).body.status,
        'cancelled',
      );
      assert.equal((await ask('bob', 'POST', `/approvals/${two.id}/cancel`)).status, 409);
      await book().cancel(three.id, 'its run was cancelled');
      assert.equal((await sign('bob', three)).status, 409);
    },
  );

  await t.test('a new one of the same call takes the place of the old one', async () => {
    const owner = { kind: 'chat' as const, ref: 'run-2', tool_call_id: 'c-1' };
    const [first, second] = [
      await asked({ owner }),
      await asked({ owner, args: { host: 'other', times: 1 } }),
    ];
    assert.deepEqual(
      [await statusOf(first.id), await statusOf(second.id)],
      ['superseded', 'pending'],
    );
    assert.equal((await sign('bob', first)).status, 409);
    assert.deepEqual(
      (await book().of('chat', 'run-2')).map(({ id }) => id),
      [second.id, first.id],
    );
  });
});

test('what was signed is judged again when it is begun', async (t) => {
  const kit = await approvalHouse(t);
  const { asked, sign, statusOf, people, personas, book } = kit;
  const signed = async (more: Parameters<typeof asked>[0] = {}) => {
    const one = await asked(more);
    await sign('bob', one);
    assert.equal((await sign('carl', one)).body.status, 'approved');
    return one;
  };
  const refused = async (
    one: { id: string; args: Readonly<Record<string, unknown>> },
    words: RegExp,
  ) => {
    await assert.rejects(book().begin(one.id, one.args), { code: 'forbidden', message: words });
    assert.equal(await statusOf(one.id), 'failed');
    await assert.rejects(book().begin(one.id, one.args), { code: 'conflict' });
  };

  await t.test('a signature does not count once its role is gone', async () => {
    const one = await signed();
    people.carl.grants = [];
    await refused(one, /1 of its 2 signatures no longer counts/);
    people.carl.grants = ['approval:*'];
    const two = await signed();
    people.bob.status = 'disabled';
    await refused(two, /signatures no longer counts/);
    people.bob.status = 'active';
  });

  await t.test('nor does the wish of who may not ask for it any more', async () => {
    const one = await signed();
    people.anna.role = 'viewer';
    people.anna.grants = [];
    await refused(one, /is not allowed to use sample_dangerous/);
    Object.assign(people.anna, { role: 'user', grants: ['skill:*'], status: 'disabled' });
    await refused(await signed(), /not an active account/);
    people.anna.status = 'active';
  });

  await t.test(
    'nor a persona that was edited meanwhile, so that it may not, or is gone',
    async () => {
      const one = await signed();
      personas[0] = { ...personas[0]!, version: 2, disallowed_tools: ['sample_dangerous'] };
      await refused(one, /disallowed tools of sre/);
      personas[0] = {
        ...personas[0],
        version: 3,
        disallowed_tools: [],
        permission_mode: 'mutating-with-confirm',
      };
      await refused(await signed(), /in the mode mutating-with-confirm/);
      const two = await signed();
      const [sre] = personas.splice(0);
      await refused(two, /persona sre is gone/);
      personas.push({ ...sre!, permission_mode: 'dual-sign-required' });
    },
  );

  await t.test('nor when changes were switched off', async () => {
    const one = await signed();
    await kit.allowWrites(false);
    await refused(one, /switched off/);
    await kit.allowWrites();
  });

  await t.test('of two that begin it, one does', async () => {
    const one = await signed();
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () => book().begin(one.id, one.args)),
    );
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    await book().finish(one.id, { ok: true, evidence_id: 'E1' });
    await assert.rejects(book().finish(one.id, { ok: false }), { code: 'conflict' });
    assert.equal(await statusOf(one.id), 'executed');
  });
});

test('approvals end with their time, and races have one winner', async (t) => {
  const kit = await approvalHouse(t);
  const { asked, sign, statusOf, clock, book, ask } = kit;

  await t.test('an hour for one signature, a day for two', async () => {
    const [one, two] = [
      await asked({ signatures: 1, class: 'mutating', tool: 'sample_mutating' }),
      await asked(),
    ];
    assert.deepEqual(
      [one.expires_at - one.created_at, two.expires_at - two.created_at],
      [hourMs, 24 * hourMs],
    );
    clock.ahead += hourMs;
    const late = await sign('anna', one);
    assert.deepEqual([late.status, /has expired/.test(late.body.message)], [409, true]);
    assert.equal((await sign('bob', two)).status, 200);
    clock.ahead += 23 * hourMs;
    assert.equal(
      (await sign('carl', two)).status,
      409,
      'the second signature comes within the time of the first',
    );
    await kit.house.reload('approval');
    assert.deepEqual([await statusOf(one.id), await statusOf(two.id)], ['expired', 'expired']);
  });

  await t.test('what is approved is begun before its time is over, or not at all', async () => {
    const one = await asked();
    await sign('bob', one);
    await sign('carl', one);
    clock.ahead += 24 * hourMs;
    await assert.rejects(book().begin(one.id, one.args), {
      code: 'conflict',
      message: /has expired/,
    });
    await kit.house.reload('approval');
    assert.equal(await statusOf(one.id), 'expired');
  });

  await t.test('a double click is one signature, and two people at once are two', async () => {
    const one = await asked();
    const clicks = await Promise.all(Array.from({ length: 8 }, () => sign('bob', one)));
    assert.deepEqual(
      clicks.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 403, 403, 403, 403, 403, 403, 403],
    );
    assert.equal(await statusOf(one.id), 'partially_signed');
    const two = await asked();
    await Promise.all([sign('bob', two), sign('carl', two)]);
    assert.equal(await statusOf(two.id), 'approved');
  });

  await t.test('a signature and a refusal at once have one outcome', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const one = await asked({ signatures: 1, class: 'mutating', tool: 'sample_mutating' });
      const [signed, cancelled] = await Promise.all([
        sign('bob', one),
        ask('anna', 'POST', `/approvals/${one.id}/cancel`),
      ]);
      // A cancel may still come after the signature; never the other way round.
      assert.equal(await statusOf(one.id), cancelled.status === 200 ? 'cancelled' : 'approved');
      assert.ok(signed.status === 200 || cancelled.status === 200);
    }
  });
});

test('channels get one message for each waiting change, with its exact call; a call that hides a secret is refused', async (t) => {
  const said = new Map<
    string,
    {
      readonly title: string;
      readonly lines: readonly string[];
      readonly path: string;
      readonly channels: readonly number[];
    }
  >();
  const dispatcher = {
    say: async (words: { readonly id: string }) => void said.set(words.id, words as never),
  };
  const kit = await approvalHouse(t, { services: { 'notify.dispatcher': dispatcher } });
  await kit.asked();
  assert.equal(said.size, 0, 'no channel is set');
  await kit.house.json('/api/v1/system-settings/approval/channel_ids', {
    method: 'PUT',
    body: JSON.stringify({ value: [4] }),
  });
  const executed = await kit.ask('anna', 'POST', '/skills/sample_dangerous/execute', {
    params: { host: 'db-3' },
  });
  const hiding = await kit.ask('anna', 'POST', '/skills/sample_dangerous/execute', {
    params: { host: 'password=hunter2-4711' },
  });
  assert.deepEqual(
    [hiding.status, /would not see/.test(hiding.body.message)],
    [403, true],
    'those who sign would not see all of it',
  );
  assert.ok(!JSON.stringify(hiding.body).includes('hunter2'));
  await kit.asked({ rendered: 'wipe db' });
  for (let waited = 0; said.size < 2; waited += 20) {
    assert.ok(waited < 20_000, JSON.stringify([...said]));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const words = said.get(`approval.${executed.body.approval_id}`)!;
  assert.deepEqual(
    [words.channels, words.path],
    [[4], `/ui/approvals/${executed.body.approval_id}`],
  );
  assert.match(
    words.lines.join('\n'),
    /^Runs: sample_dangerous host="db-3".*this manager\nAsked for by anna \(user\).*\n.*two people/,
  );
});
