import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startWholeHouse } from '../../whole-house.ts';
import { openBrowser, openView, signIn } from './browser.ts';

const password = 'correct horse';

const german = {
  tag: 'de',
  title: 'Deutsch',
  texts: {
    pages: { overview: 'Übersicht', devices: '<img src=x onerror=globalThis.ran=1>' },
    shell: { theme: 'Hell oder dunkel', signOut: 'Abmelden' },
    table: { total: 'eines insgesamt|{count} insgesamt' },
  },
};

test(
  'a pack brings another language: chosen once, kept on this machine, English where it has no word and once it is gone',
  { timeout: 180_000 },
  async (t) => {
    const browser = await openBrowser(t);
    if (!browser) {
      return;
    }
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-console-'));
    const pack = join(dataDir, 'packs/deutsch');
    mkdirSync(pack, { recursive: true });
    const manifest = {
      id: 'deutsch',
      version: '1.0.0',
      title: 'Deutsch',
      description: 'The console in German.',
      kind: 'pack',
      engines: { host: '^1.0.0' },
    };
    writeFileSync(
      join(pack, 'plugin.json'),
      JSON.stringify({ ...manifest, contributes: { 'console.language': { german } } }),
    );
    const house = await startWholeHouse({ dataDir });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const send = async <T>(path: string, body?: object): Promise<T> => {
      const init = body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      };
      const answer = await house.fetch(path, init);
      assert.ok(answer.ok, `${path} ${await answer.clone().text()}`);
      return (await answer.json()) as T;
    };
    assert.equal(
      (await house.fetch('/api/v1/console/languages/de')).status,
      404,
      'a pack adds nothing before it is accepted',
    );
    const { items } = await send<{ items: { id: string; hash: string }[] }>('/api/v1/packs');
    await send('/api/v1/packs/deutsch/accept', {
      hash: items.find(({ id }) => id === 'deutsch')!.hash,
    });
    await send('/api/v1/users', {
      email: 'ada@example.org',
      display_name: 'Ada',
      password,
      role: 'admin',
    });

    const view = await openView(browser, house.url);
    const { page } = view;
    await signIn(view, house.url, 'ada@example.org', password);
    await page.getByRole('link', { name: 'Overview', exact: true }).waitFor();
    await page.locator('summary', { hasText: 'A' }).click();
    await page.getByLabel('Language').selectOption('Deutsch');
    await page.getByRole('link', { name: 'Übersicht', exact: true }).waitFor();
    await page.getByText('<img src=x onerror=globalThis.ran=1>').first().waitFor();
    assert.equal(await page.evaluate('globalThis.ran'), undefined, 'words are text');
    assert.equal(await page.evaluate('document.documentElement.lang'), 'de');
    await page.getByRole('link', { name: 'Incidents', exact: true }).click();
    await page.getByRole('heading', { name: 'Incidents' }).waitFor();
    assert.deepEqual(view.complaints, []);

    const told = page.waitForEvent('download');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('export texts');
    await page.keyboard.press('Enter');
    const saved = await (await told).createReadStream();
    let text = '';
    for await (const chunk of saved) {
      text += String(chunk);
    }
    const words = JSON.parse(text) as Record<string, Record<string, string>>;
    assert.equal(
      words['pages']!['overview'],
      'Overview',
      'a translation begins with the English words',
    );
    assert.ok(Object.keys(words).length > 50, `${Object.keys(words).length} areas`);

    rmSync(pack, { recursive: true });
    for (
      let tries = 0;
      (await house.fetch('/api/v1/console/languages/de')).status !== 404;
      tries += 1
    ) {
      assert.ok(tries < 500, 'the language has not left with its pack');
    }
    await page.reload();
    await page.getByRole('link', { name: 'Overview', exact: true }).waitFor();
  },
);
