import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';

import { robotsOf } from '../../../plugins/knowledge/sites/robots.ts';
import { sitemapOf } from '../../../plugins/knowledge/sites/sitemap.ts';
import { type Json, type KnowledgeHouse, knowledgeHouse } from './house.ts';
import { loopback } from './models.ts';

interface Site {
  readonly url: string;
  readonly pages: Map<
    string,
    {
      readonly type?: string;
      readonly body: string | Buffer;
      readonly status?: number;
      readonly location?: string;
    }
  >;
  readonly asked: string[];
}

async function siteOf(t: TestContext): Promise<Site> {
  const site: Site = { url: '', pages: new Map(), asked: [] };
  const server = createServer((request, response) => {
    site.asked.push(request.url!);
    const page = site.pages.get(request.url!);
    response
      .writeHead(page?.status ?? (page === undefined ? 404 : 200), {
        'content-type': page?.type ?? 'text/html; charset=utf-8',
        ...(page?.location !== undefined && { location: page.location }),
      })
      .end(page?.body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return Object.assign(site, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function synced({ ask }: KnowledgeHouse, id: number): Promise<Json> {
  for (;;) {
    const { items } = (await ask('GET', '/repos')).body;
    const repo = items.find((one: Json) => one.id === id);
    if (repo.progress === null && ['ready', 'failed'].includes(repo.status)) {
      return repo;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const html = (title: string, body: string): string =>
  `<!doctype html><html><head><title>${title} | Site</title></head><body><nav><a href="/">Menu</a></nav><main>${body}</main><footer>Imprint</footer></body></html>`;

describe('a website', () => {
  test('is read by its sitemap: its own pages, as robots.txt allows, and again as they change', async (t) => {
    const site = await siteOf(t);
    const xml = (urls: readonly string[]): string =>
      `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`;
    const entry = (path: string, changed = ''): string =>
      `<url><loc>${path.startsWith('http') ? path : site.url + path}</loc>${changed === '' ? '' : `<lastmod>${changed}</lastmod>`}</url>`;
    site.pages.set('/robots.txt', {
      type: 'text/plain',
      body: `User-agent: *\nDisallow: /private/\nAllow: /private/open\nSitemap: ${site.url}/maps.xml\n`,
    });
    site.pages.set('/maps.xml', {
      body: `<sitemapindex><sitemap><loc>${site.url}/map.xml.gz</loc></sitemap><sitemap><loc>http://elsewhere.example/map.xml</loc></sitemap></sitemapindex>`,
    });
    const map = (urls: readonly string[]): void =>
      void site.pages.set('/map.xml.gz', { body: gzipSync(xml(urls)) });
    map([
      entry('/docs/restart.html', '2026-01-01'),
      entry('/docs/'),
      entry('/private/secret'),
      entry('/private/open'),
      entry('/moved'),
      entry('/away'),
      entry('/gone'),
      entry('/hidden'),
      entry('http://elsewhere.example/page'),
      entry('/picture'),
    ]);
    site.pages.set('/docs/restart.html', {
      body: html(
        'Restart',
        '<h1>Restart the quagga</h1><p>Press &amp; hold.</p><pre>svc restart</pre>',
      ),
    });
    site.pages.set('/docs/', { body: html('Docs', '<p>Start here.</p><script>alert(1)</script>') });
    site.pages.set('/private/open', { body: html('Open', '<p>Open to all.</p>') });
    site.pages.set('/moved', { status: 301, location: '/docs/', body: '' });
    site.pages.set('/away', { status: 302, location: 'http://elsewhere.example/x', body: '' });
    site.pages.set('/hidden', { body: `<head><meta name="robots" content="noindex"></head>x` });
    site.pages.set('/picture', { type: 'image/png', body: 'PNG' });
    const room = await knowledgeHouse(t, {
      plugins: ['knowledge', 'programs'],
      environment: loopback,
    });
    const { ask, paths } = room;
    const { status, body: made } = await ask('POST', '/repos', {
      body: { kind: 'website', url: site.url, mount: 'site', sync_interval: 0 },
    });
    assert.equal(status, 201, JSON.stringify(made));
    const first = await synced(room, made.id);
    assert.equal(first.status, 'ready', JSON.stringify(first));
    assert.deepEqual(
      (await ask('GET', '/docs?path_prefix=site')).body.items.map(({ path }: Json) => path),
      ['site/docs.md', 'site/docs/restart.md', 'site/moved.md', 'site/private/open.md'],
    );
    assert.deepEqual(first.last_result.skipped, { other_host: 1, robots: 2, missing: 3 });
    assert.ok(!site.asked.includes('/private/secret'));
    const [doc] = (await ask('GET', '/docs?path=site/docs/restart.md')).body.items;
    const { content, source } = (await ask('GET', `/docs/${doc.id}`)).body;
    assert.equal(
      content,
      `# Restart the quagga\n\nPress & hold.\n\n\`\`\`\nsvc restart\n\`\`\`\n\nSource: ${site.url}/docs/restart.html\n`,
    );
    assert.equal(source, 'repo');
    assert.deepEqual(await paths('quagga'), ['site/docs/restart.md']);

    const before = site.asked.length;
    map([entry('/docs/restart.html', '2026-01-01'), entry('/docs/')]);
    site.pages.set('/docs/', { body: html('Docs', '<p>Start with the okapi.</p>') });
    await ask('POST', `/repos/${made.id}/sync`);
    const second = await synced(room, made.id);
    assert.deepEqual(
      [second.last_result.changed, second.last_result.removed, second.last_result.unchanged],
      [1, 2, 1],
    );
    assert.ok(!site.asked.slice(before).includes('/docs/restart.html'), 'it says it is the same');
    assert.deepEqual(await paths('okapi'), ['site/docs.md']);

    site.pages.set('/robots.txt', { status: 503, body: '' });
    await ask('POST', `/repos/${made.id}/sync`);
    const third = await synced(room, made.id);
    assert.deepEqual([third.status, third.last_error_code], ['failed', 'server_failed']);
    assert.equal((await ask('GET', '/docs?path_prefix=site')).body.total, 2, 'they stay');
    assert.equal((await ask('DELETE', `/repos/${made.id}`)).status, 204);
    assert.equal((await ask('GET', '/docs?path_prefix=site')).body.total, 0);
  });

  test('that is not one, or may not be reached, is refused in words', async (t) => {
    const room = await knowledgeHouse(t, { plugins: ['knowledge', 'programs'] });
    const add = (url: string, more = {}) =>
      room.ask('POST', '/repos', { body: { kind: 'website', url, sync_interval: 0, ...more } });
    for (const url of ['ftp://example.org/', 'example.org', 'https://ann:secret@example.org/']) {
      assert.equal((await add(url)).status, 400, url);
    }
    assert.equal((await add('https://example.org/', { branch: 'main' })).status, 400);
    const { body } = await add('http://127.0.0.1:9/');
    const repo = await synced(room, body.id);
    assert.deepEqual([repo.status, repo.last_error_code], ['failed', 'address_refused']);
  });

  test('is asked only for what the longest rule of its robots.txt allows', () => {
    const robots = robotsOf(
      'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /a\nAllow: /a/b$\nDisallow: /*.pdf$\nCrawl-delay: 2\n',
    );
    assert.deepEqual(
      ['/', '/a', '/a/b', '/a/bc', '/x.pdf', '/x.pdf?y'].map((path) => robots.allows(path)),
      [true, false, true, false, false, true],
    );
    assert.equal(robots.delayMs, 2_000);
    const own = robotsOf('User-agent: *\nDisallow: /\nUser-agent: svc\nDisallow: /no\n');
    assert.deepEqual([own.allows('/yes'), own.allows('/no')], [true, false]);
    const hostile = robotsOf(`User-agent: *\nDisallow: /${'*a'.repeat(200)}$`);
    assert.equal(hostile.allows(`/${'a'.repeat(2_000)}b`), true);
    assert.equal(sitemapOf('<urlset><url><loc>a</loc></url>'.repeat(10), 3).pages.length, 3);
  });
});
