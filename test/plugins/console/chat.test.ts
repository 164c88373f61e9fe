import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import { startWholeHouse } from '../../whole-house.ts';
import { assertClean, openBrowser, openView, signIn } from './browser.ts';

const [email, password] = ['ada@example.org', 'correct horse battery'];

test(
  'a change that waits is shown in its conversation, also after the page was left, until it is signed and done',
  { timeout: 180_000 },
  async (t) => {
    const browser = await openBrowser(t);
    if (!browser) {
      return;
    }
    const model = await FakeModel.start();
    t.after(() => model.close());
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-console-chat-'));
    const environment = {
      SVC_ADMIN_EMAIL: email,
      SVC_ADMIN_PASSWORD: password,
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: model.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    };
    const house = await startWholeHouse({ dataDir, environment });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const json = { 'content-type': 'application/json' };
    const login = await fetch(`${house.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ email, password }),
    });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const ask = async <T>(path: string, body?: object): Promise<T> => {
      const init = {
        headers: { ...json, authorization: `Bearer ${token}` },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      };
      const answer = await fetch(`${house.url}/api/v1${path}`, init);
      assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
      return (await answer.json()) as T;
    };
    const allowed = {
      method: 'PUT',
      headers: { ...json, authorization: `Bearer ${house.token}` },
      body: '{"value":true}',
    };
    assert.equal(
      (await fetch(`${house.url}/api/v1/system-settings/agent/write_enabled`, allowed)).status,
      200,
    );
    const persona = {
      name: 'changer',
      description: 'Makes changes.',
      when_to_use: 'When a change is to be made.',
      permission_mode: 'mutating-with-confirm',
      tools: ['silence_create'],
    };
    await ask('/agents/custom', persona);
    const { id: session } = await ask<{ id: string }>('/chat/sessions', {});
    const silence = JSON.stringify({
      matchers: [{ name: 'rule', value: 'nothing' }],
      duration: '1h',
      reason: 'seen in chat',
    });
    await ask(`/chat/sessions/${session}/messages`, {
      agent: 'changer',
      content: `call silence_create ${silence}`,
    });

    // What a call asked over time is drawn where it was answered; a call about one moment is not.
    const { id: drawn } = await ask<{ id: string }>('/chat/sessions', {});
    const query = 'max(svc_process_uptime_seconds)';
    for (const call of [
      `metrics_range ${JSON.stringify({ query, last: '10m' })}`,
      `metrics_query ${JSON.stringify({ query: 'vector(7)' })}`,
    ]) {
      await ask(`/chat/sessions/${drawn}/messages`, { content: `call ${call}` });
    }

    const view = await openView(browser, house.url);
    await signIn(view, house.url, email, password);
    const { page } = view;
    await page.goto(`${house.url}/ui/chat/${session}`);
    await page.getByText('This change is waiting for approval.').waitFor();
    await page.reload();
    await page.getByText('This change is waiting for approval.').waitFor();
    await assertClean(view, 'while it waits');

    const { items } = await ask<{ items: { id: string; args_sha256: string }[] }>(
      '/approvals?status=pending',
    );
    await ask(`/approvals/${items[0]!.id}/approve`, { args_sha256: items[0]!.args_sha256 });
    await page.getByText('The tool answered').waitFor();
    assert.equal(await page.getByText('This change is waiting for approval.').count(), 0);
    await assertClean(view, 'when it is done');

    await page.goto(`${house.url}/ui/chat/${drawn}`);
    const charts = page.locator('.chat-log figure');
    await charts.first().waitFor();
    assert.deepEqual(await charts.locator('h2').allInnerTexts(), [query]);
    await charts.first().locator('canvas').waitFor();
    await assertClean(view, 'with a chart');
  },
);
