import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startWholeHouse, type WholeHouse } from '../../whole-house.ts';
import { openBrowser, openView, signIn } from './browser.ts';

const password = 'correct horse';

test(
  'an open page follows what happens, says when svc is gone, and is current again without a reload',
  { timeout: 180_000 },
  async (t) => {
    const browser = await openBrowser(t);
    if (!browser) {
      return;
    }
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-console-'));
    let house: WholeHouse = await startWholeHouse({ dataDir });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const { url } = house;
    const send = async (method: string, path: string, body: object): Promise<{ id: number }> => {
      const answer = await house.fetch(path, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.ok(answer.ok, `${path} ${await answer.clone().text()}`);
      return (await answer.json()) as { id: number };
    };
    const rule = (key: string) => ({
      rule_key: key,
      name: key,
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'global',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ expr: 'vector(1) > 0' }],
      annotations: { summary: `something about ${key}` },
    });
    const { id: userId } = await send('POST', '/api/v1/users', {
      email: 'ada@example.org',
      display_name: 'Ada',
      password,
      role: 'admin',
    });
    await send('POST', '/api/v1/users', {
      email: 'bob@example.org',
      display_name: 'Bob',
      password,
      role: 'admin',
    });
    const view = await openView(browser, url);
    const { page } = view;
    await signIn(view, url, 'ada@example.org', password);
    await page.evaluate('globalThis.sameDocument = true');

    await page.getByRole('link', { name: 'Incidents', exact: true }).click();
    await page.getByText('No open incidents').waitFor();
    await send('POST', '/api/v1/alert-rules', rule('apples'));
    await page.getByText('something about apples').waitFor({ timeout: 60_000 });

    await house.end('SIGKILL');
    await page.getByText(/^Disconnected since/).waitFor({ timeout: 10_000 });
    assert.equal(await page.locator('[data-stale]').count(), 1, 'what is shown is shown as stale');
    await page.getByText('something about apples').waitFor();

    house = await startWholeHouse({ dataDir, environment: { SVC_HTTP_ADDR: new URL(url).host } });
    // What happened before the page was back is seen, too: whoever is quicker than it asks for this at once.
    await send('POST', '/api/v1/alerts/incidents/1/ack', {});
    await page
      .getByRole('row', { name: /apples/ })
      .getByText('Acknowledged')
      .waitFor({ timeout: 10_000 });
    await page.getByText(/^Disconnected since/).waitFor({ state: 'detached', timeout: 10_000 });
    assert.equal(await page.evaluate('globalThis.sameDocument'), true, 'without a reload');

    await send('PATCH', `/api/v1/users/${userId}/role`, { role: 'viewer' });
    await page.getByText('Your session has ended').waitFor({ timeout: 60_000 });
    view.forgive(/ERR_|401|403|503/);
    assert.deepEqual(view.complaints, []);
  },
);
