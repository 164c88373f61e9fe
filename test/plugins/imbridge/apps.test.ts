import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import { draftOf, imOffice, secretsOf } from './office.ts';
import { everythingStored } from '../../kit/stored.ts';

test('secrets of an app are sealed, masked, kept under their mask, revealed to administrators alone, and never sent elsewhere', async (t) => {
  const office = await imOffice(t);
  useNoLeaks(t, office.house);
  const app = await office.connect('feishu');
  const { body: shown } = await office.ask('vera', 'GET', `/im/apps/${app.id}`);
  assert.deepEqual(
    [shown.app_secret, shown.verify_token, shown.encrypt_key],
    ['••••', '••••', '••••'],
  );
  assert.match(shown.callback_url, new RegExp(`/api/v1/im/feishu/events\\?app=${app.id}$`));
  const {
    id: _id,
    callback_url: _url,
    created_at: _created,
    updated_at: _updated,
    ...draft
  } = shown;
  assert.equal(
    (await office.ask('bob', 'PUT', `/im/apps/${app.id}`, { ...draft, name: 'Renamed' })).status,
    200,
    'what is shown may be sent back',
  );
  assert.deepEqual((await office.ask('operator', 'POST', `/im/apps/${app.id}/reveal`)).body, {
    app_secret: 'feishu-1',
    verify_token: 'verify-1',
    encrypt_key: 'key-1',
  });
  const moved = await office.ask('bob', 'PUT', `/im/apps/${app.id}`, {
    ...draft,
    endpoint: 'http://127.0.0.1:1',
  });
  assert.match(moved.body.message, /must be entered again when the endpoint changes/);
  assert.equal(
    (await office.ask('bob', 'POST', `/im/apps/${app.id}/reveal`)).status,
    403,
    'without a sign-in of late',
  );
  assert.equal((await office.ask('vera', 'POST', `/im/apps/${app.id}/reveal`)).status, 403);
  assert.equal((await office.ask('anna', 'POST', '/im/apps', draftOf('slack', ''))).status, 403);
  const database = everythingStored(office.house.dataDir);
  assert.ok(
    !database.includes('feishu-1') && !database.includes('verify-1'),
    'nothing of it is on disk in the clear',
  );
  assert.ok(office.house.lines.every((line) => !line.includes('feishu-1')));
  const bare = { ...draft, mode: 'stream', verify_token: null, encrypt_key: null };
  const removed = await office.ask('bob', 'PUT', `/im/apps/${app.id}`, bare);
  assert.deepEqual(
    [removed.status, removed.body.verify_token, removed.body.encrypt_key],
    [200, null, null],
    'and so may secrets that there are none of',
  );
  assert.equal((await office.ask('bob', 'DELETE', `/im/apps/${app.id}`)).status, 204);
  assert.equal((await office.ask('bob', 'GET', `/im/apps/${app.id}`)).status, 404);
});

test('an app that cannot be is refused, by what is wrong with it', async (t) => {
  const office = await imOffice(t);
  const refusals: readonly (readonly [RegExp, object])[] = [
    [/provider is one of/, { ...draftOf('slack', ''), provider: 'smoke' }],
    [/app_secret/, { ...draftOf('slack', ''), app_secret: '' }],
    [/encrypt_key is needed/, { ...draftOf('feishu', ''), encrypt_key: undefined }],
    [
      /verify_token is needed .*, and so is encrypt_key/,
      { ...draftOf('feishu', ''), verify_token: undefined, encrypt_key: undefined },
    ],
    [/mode WeCom does not support stream/, { ...draftOf('wecom', ''), mode: 'stream' }],
    [/allow_from/, { ...draftOf('telegram', ''), allow_from: [] }],
    [/allow_from/, { ...draftOf('telegram', ''), allow_from: ['*'] }],
    [/app_secret must be the bot token/, { ...draftOf('telegram', ''), app_id: '999999' }],
    [/may do everything/, { ...draftOf('slack', ''), default_role: 'admin' }],
    [/there is no role/, { ...draftOf('slack', ''), default_role: 'ghost' }],
    [/encrypt_key/, { ...draftOf('wecom', ''), encrypt_key: 'short' }],
  ];
  for (const [why, draft] of refusals) {
    const { status, body } = await office.ask('bob', 'POST', '/im/apps', draft);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(body.message, why);
    assert.doesNotMatch(
      JSON.stringify(body),
      new RegExp(`${secretsOf('slack').app_secret}|${secretsOf('telegram').app_secret}`),
    );
  }
  Object.assign(office.people.carl, { grants: ['im:*'] });
  assert.match(
    (
      await office.ask('carl', 'POST', '/im/apps', {
        ...draftOf('slack', ''),
        default_role: 'user',
      })
    ).body.message,
    /which you do not hold/,
  );
  assert.equal((await office.ask('carl', 'POST', '/im/apps', draftOf('slack', ''))).status, 201);
  assert.equal(
    (await office.ask('carl', 'POST', '/im/apps', draftOf('slack', ''))).status,
    409,
    'of that name',
  );
});

test('an app that is disabled is not believed any more, and one speaks the language it was given', async (t) => {
  const office = await imOffice(t);
  const app = await office.connect('wecom', { locale: 'zh', default_agent: 'nobody' });
  await office.say(app, { text: '/help' });
  await office.say(app, { text: 'Well?' });
  for (let waited = 0; app.fake.standing.length < 2 && waited < 20_000; waited += 20) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(app.fake.standing[0]!.text, /直接提问/);
  assert.match(app.fake.standing[1]!.text, /没有答复：.*nobody/);
  const { body: shown } = await office.ask('bob', 'GET', `/im/apps/${app.id}`);
  const {
    id: _id,
    callback_url: _url,
    created_at: _created,
    updated_at: _updated,
    ...draft
  } = shown;
  assert.equal(
    (await office.ask('bob', 'PUT', `/im/apps/${app.id}`, { ...draft, enabled: false })).status,
    200,
  );
  await assert.rejects(office.say(app, { text: '/help' }), /401/);
});
