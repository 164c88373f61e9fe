import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { commandPages } from '../../../bin/cli/command-pages.ts';
import { offered } from '../../../bin/cli/offered.ts';
import { chapters } from '../../../plugins/manual/chapters.ts';
import { rendered } from '../../../plugins/manual/rendered.ts';
import { search } from '../../../plugins/manual/search.ts';
import { manifest, rooms, startMarket, uploadConfirmed } from '../marketplace/market.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const docs = join(root, 'docs');

/** Starts a host whose product folder has the texts of this one. */
async function manual(t: TestContext, ...plugins: readonly string[]): Promise<TestHost> {
  const house = await startTestHost(t, { plugins: ['manual', ...plugins] });
  for (const name of ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs']) {
    cpSync(join(root, name), join(house.dataDir, 'no-product', name), { recursive: true });
  }
  return house;
}

test('every page of docs is a chapter, is served without a session, and no link on it leads nowhere', async (t) => {
  const house = await manual(t);
  useNoLeaks(t, house);
  const files = readdirSync(docs).filter((name) => name.endsWith('.md'));
  assert.deepEqual(
    chapters
      .flatMap(({ file }) =>
        /^docs\/[^/]+$/.test(file ?? '') ? [file!.slice('docs/'.length)] : [],
      )
      .toSorted(),
    files.toSorted(),
  );
  const pages = new Map<string, string>();
  for (const { name } of chapters) {
    const answer = await fetch(`${house.url}/docs/${name}`);
    assert.equal(answer.status, 200, name);
    assert.match(
      answer.headers.get('content-security-policy')!,
      /^default-src 'none'; style-src 'sha256-/,
    );
    pages.set(name, await answer.text());
  }
  for (const [name, text] of pages) {
    assert.doesNotMatch(text, /<script|javascript:|<iframe/i, name);
    assert.equal(
      text.split('id="all-pages"').length,
      2,
      `${name}: the way to the pages leads to them alone`,
    );
    for (const [, page, anchor] of text.matchAll(/href="\.\.\/docs\/([a-z-]+)(?:#([^"]+))?"/g)) {
      const target = pages.get(page!);
      assert.ok(target !== undefined, `${name} leads to /docs/${page}`);
      assert.ok(
        anchor === undefined || target.includes(`id="${anchor}"`),
        `${name} leads to /docs/${page}#${anchor}`,
      );
    }
    for (const [, picture] of text.matchAll(/src="([^"]+)"/g)) {
      const answer = await fetch(new URL(picture!, `${house.url}/docs/${name}`));
      assert.deepEqual(
        [answer.status, answer.headers.get('content-type')],
        [200, 'image/png'],
        `${name} shows ${picture}`,
      );
      await answer.arrayBuffer();
    }
  }
});

test('words are found in all pages, and what was typed stands there as text', async (t) => {
  const house = await manual(t);
  const found = await (
    await fetch(`${house.url}/docs/search?q=${encodeURIComponent('promised RESOLVED')}`)
  ).text();
  assert.match(found, /<a href="\.\.\/docs\/promises#promised">/);
  const hostile = await (
    await fetch(`${house.url}/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
  ).text();
  assert.doesNotMatch(hostile, /<script/);
  const nothing = await (await fetch(`${house.url}/docs/search?q=qzxv+wvzq`)).text();
  assert.match(nothing, /No page has any of these words/);
  assert.equal((await fetch(`${house.url}/docs/nothing-of-that`)).status, 404);
  assert.equal((await fetch(`${house.url}/docs/pictures/..%2F..%2Fplugin.json`)).status, 400);
});

test('the page of settings has what plugins declare, without values', async (t) => {
  const house = await manual(t, 'iam', 'session');
  const text = await (await fetch(`${house.url}/docs/settings`)).text();
  assert.match(text, /<h2 id="session">session<\/h2>/);
});

test(
  'what packs are installed here is not on the page of settings, which is for everyone',
  { timeout: 300_000 },
  async (t) => {
    const house = await startMarket(t, { plugins: [...rooms, 'manual'] });
    const settings = {
      'lamp.colour': {
        schema: { type: 'string' },
        default: 'red',
        description: 'Colour of the lamp.',
      },
    };
    const { status, body } = await uploadConfirmed(house, {
      'plugin.json': manifest('lamp', { entry: 'index.js', settings }),
      'index.js': "import { definePack } from 'svc/sdk';\nexport default definePack({});",
    });
    assert.equal(status, 201, JSON.stringify(body));
    const { items } = await house.json<{ items: { category: string }[] }>(
      '/api/v1/system-settings?limit=200',
    );
    assert.ok(
      items.some(({ category }) => category === 'lamp'),
      'whoever may see settings sees it',
    );
    const text = await (await fetch(`${house.url}/docs/settings`)).text();
    assert.match(text, /<h2 id="marketplace">/);
    assert.doesNotMatch(text, /lamp\.colour|Colour of the lamp/);
  },
);

test('security.txt names the contact of this instance, and does not exist without one', async (t) => {
  const none = await (await manual(t)).fetch('/.well-known/security.txt');
  assert.equal(none.status, 404);
  assert.match(await none.text(), /can set security\.contact/);
  const house = await startTestHost(t, {
    plugins: ['manual'],
    environment: {
      SVC_SECURITY_CONTACT: 'mailto:security@example.org https://example.org/report',
      SVC_PUBLIC_URL: 'https://svc.example.org',
    },
  });
  const answer = await fetch(`${house.url}/.well-known/security.txt`);
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  const [, expires] = /^Expires: (.*)$/m.exec(await answer.clone().text())!;
  assert.deepEqual((await answer.text()).split('\n'), [
    'Contact: mailto:security@example.org',
    'Contact: https://example.org/report',
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    'Canonical: https://svc.example.org/.well-known/security.txt',
    'Policy: https://svc.example.org/docs/security',
    '',
  ]);
  const days = (Date.parse(expires!) - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days < 32, `it expires within the year that RFC 9116 recommends: ${days}`);
});

test('docs/commands.md is what the commands say of themselves', async () => {
  assert.equal(
    readFileSync(`${docs}/commands.md`, 'utf8'),
    await commandPages(await offered({})),
    'run "npm run command-pages", and commit the page',
  );
});

test('a note in front of a text, for who writes it, is not on its page', () => {
  const { html, title } = rendered(
    '<!-- Written by a program. -->\n\n# Commands\n\n<!-- kept -->\n',
  );
  assert.equal(title, 'Commands');
  assert.doesNotMatch(html, /Written by a program/);
  assert.match(html, /&lt;!-- kept --&gt;/);
});

test('HTML, scripts and addresses of scripts in a text are shown as text', () => {
  const { html } = rendered(
    '# <b>x</b>\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) ![p](https://example.org/p.png) [s](../core/x.ts)\n',
  );
  assert.doesNotMatch(html, /<script|javascript:|<img|<b>/);
  assert.match(html, /&lt;script&gt;/);
});

test('agents find the page that answers a question of a newcomer', async () => {
  const pages = chapters.flatMap((chapter) =>
    chapter.file === undefined
      ? []
      : [{ chapter, sections: rendered(readFileSync(join(root, chapter.file), 'utf8')).sections }],
  );
  const questions: readonly (readonly [string, RegExp])[] = [
    ['How do I connect Slack?', /^integrations#/],
    ['What are the persona header fields?', /^agents#define-a-persona$/],
    ['policy.yaml skills probes', /^host-policy#/],
    ['how to enrol a new host', /^(?:first-hour|install|commands|telemetry)#/],
    ['remote_write from prometheus', /^(?:telemetry|integrations)#/],
    ['what fills the disk is refused by the policy of the host', /^host-policy#/],
    ['back up svc', /^upgrading#/],
    ['how can i bring in my grafana boards', /^(?:integrations|console)#/],
    ['where do i see who changed something', /^(?:roles|console|security)#/],
    ['my cron job must report in', /^(?:alerts|commands)#/],
    ['will it run on two machines', /^(?:two-nodes|promises|postgres|sizing|install|scope|scale)#/],
    ['how many hosts can one server handle', /^sizing#/],
    ['shut the alerts up till tomorrow', /^alerts#acknowledge/],
    ['count errors in the log and alert', /^alerts#alert-on-log-lines$/],
    ['our switches speak snmp', /^scope#snmp/],
    ['does it do ldap', /^scope#single-sign-on/],
    ['create an api token for ci', /^(?:roles#api-tokens|commands#svc-token-create)$/],
  ];
  for (const [question, expected] of questions) {
    const found = search(pages, question)
      .slice(0, 3)
      .map(({ chapter, section }) => `${chapter.name}#${section.id}`);
    assert.ok(
      found.some((place) => expected.test(place)),
      `${question}: ${found.join(', ')}`,
    );
  }
  assert.deepEqual(search(pages, 'how do I do it'), []);
});
