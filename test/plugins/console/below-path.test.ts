import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { peer } from '../../peers.ts';
import { startWholeHouse } from '../../whole-house.ts';
import { assertClean, openBrowser, openView, signIn } from './browser.ts';

const password = 'correct horse';
const email = 'ada@example.org';

/** As docs/install.md says it. */
const config = (folder: string, port: number, upstream: string): string => `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  server {
    listen 127.0.0.1:${port};
    location /svc/ {
      proxy_pass ${upstream}/;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

test(
  'behind nginx, below a path, the console is the same: its files, its session, its stream, its links',
  { timeout: 180_000 },
  async (t) => {
    const program = peer(t, 'nginx');
    const browser = await openBrowser(t);
    if (program === undefined || !browser) {
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'));
    const port = await freePort();
    const root = `http://127.0.0.1:${port}/svc`;
    const house = await startWholeHouse({
      dataDir: join(folder, 'data'),
      environment: { SVC_PUBLIC_URL: root, SVC_TRUSTED_PROXIES: '127.0.0.1' },
    });
    writeFileSync(join(folder, 'nginx.conf'), config(folder, port, house.url));
    const nginx = spawn(
      program,
      ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', join(folder, 'error.log')],
      { stdio: 'ignore' },
    );
    t.after(async () => {
      const gone = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await gone;
      await house.end();
      rmSync(folder, { recursive: true, force: true });
    });
    for (
      const deadline = Date.now() + 10_000;
      !(await fetch(`${root}/readyz`).catch(() => ({ ok: false }))).ok;
      await pause(50)
    ) {
      assert.ok(Date.now() < deadline, 'nginx answers within 10 s');
    }
    const send = async (path: string, body: object): Promise<void> => {
      const answer = await house.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.ok(answer.ok, `${path} ${await answer.clone().text()}`);
    };
    await send('/api/v1/users', { email, display_name: 'Ada', password, role: 'admin' });

    const view = await openView(browser, root);
    const { page } = view;
    await signIn(view, root, email, password);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(page.url(), `${root}/`);
    const [cookie] = await view.context.cookies(`${root}/api/v1/auth/refresh`);
    assert.deepEqual(
      [cookie?.path, cookie?.httpOnly, cookie?.sameSite],
      ['/svc/api/v1/auth', true, 'Strict'],
    );

    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByText('No open incidents').waitFor();
    assert.equal(page.url(), `${root}/ui/incidents`);
    await send('/api/v1/alert-rules', {
      rule_key: 'pears',
      name: 'Pears',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'global',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ expr: 'vector(1) > 0' }],
      annotations: {
        summary: 'something about pears',
        runbook_url: '/ui/knowledge?read=vault/hosts/disk-full.md',
      },
    });
    await page.getByText('something about pears').waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: /something about pears/ }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    assert.equal(page.url(), `${root}/ui/incidents/1`);
    await page.reload();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await assertClean(view, 'below a path, after loading it again');
    for (const [link, at] of [
      ['Plugins', '/ui/plugins'],
      ['Overview', '/'],
    ] as const) {
      await page.getByRole('link', { name: link, exact: true }).first().click();
      await page.getByRole('heading', { name: link }).waitFor();
      assert.equal(page.url(), root + at);
    }
    await page.goto(`${root}/ui/explore?q=svc_process_uptime_seconds`);
    await page.locator('.plot canvas').first().waitFor();
    await page.goto(`${root}/docs`);
    await page.getByRole('link', { name: 'Concepts and glossary' }).click();
    await page.locator('main img').first().waitFor();
    assert.equal(page.url(), `${root}/docs/glossary`);
    assert.ok(
      await page.evaluate<boolean>(
        "[...document.querySelectorAll('[href], [src]')].every((one) => new URL(one.href ?? one.src).pathname.startsWith('/svc/') || !(one.href ?? one.src).startsWith(location.origin))",
      ),
    );
    await page.goto(`${root}/`);
    await page.getByLabel('account menu').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await view.context.cookies(), [], 'the cookie is gone');
    // What the page was still asking for when the session ended.
    view.forgive(/status of 401/);
    assert.deepEqual(view.complaints, []);
  },
);
