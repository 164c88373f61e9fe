import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';

import { atOnce } from 'svc/flow';
import { SkillRunner, Skills } from 'svc/contracts/skill';
import type { Principal } from 'svc/sdk';
import { startTestHost, useNoLeaks } from 'svc/testing';

import { pageText, readPlain } from '../../../plugins/websearch/page-text.ts';

interface Web {
  readonly url: string;
  readonly asked: { path: string; headers: IncomingMessage['headers']; body: string }[];
  answer: (path: string, res: ServerResponse) => void;
}

async function web(t: TestContext): Promise<Web> {
  const parts: Web = { url: '', asked: [], answer: (_, res) => res.end('{}') };
  const server = createServer((req, res) => {
    const body: Buffer[] = [];
    req.on('data', (part: Buffer) => body.push(part));
    req.on('end', () => {
      parts.asked.push({
        path: req.url!,
        headers: req.headers,
        body: Buffer.concat(body).toString(),
      });
      parts.answer(req.url!, res);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(parts, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}

const anna: Principal = { kind: 'user', id: '1', name: 'anna', role: 'user', grants: ['skill:*'] };
const bert: Principal = { ...anna, id: '2', name: 'bert' };

async function stand(t: TestContext, settings: Record<string, string> = {}, elapsed = () => 0) {
  const house = await startTestHost(t, {
    plugins: ['websearch', 'skill', 'gate'],
    services: {
      'iam.directory': {
        live: (id: number) => ({ id, role: 'user', status: 'active', grants: anna.grants }),
      },
      'audit.trail': { append: async () => undefined },
    },
    clock: { now: () => Date.now(), monotonic: () => performance.now() + elapsed() },
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8', ...settings },
  });
  const runner = house.service(SkillRunner);
  const run = async (key: string, params: Record<string, unknown>, principal = anna) => {
    const { result, error, trust } = await runner
      .run({ principal, key, params, origin: 'chat' })
      .catch((refusal: Error) => ({ result: {}, error: refusal.message, trust: undefined }));
    // oxlint-disable-next-line typescript/no-explicit-any -- what is expected stands in the assertion
    return { ...(result as any), error, trust };
  };
  return { house, run };
}

test('SearXNG, Tavily and Brave are asked as each wants, and answer alike', async (t) => {
  const peer = await web(t);
  const results = [
    {
      title: '<b>OOM</b> killer &amp; friends',
      url: 'https://kernel.example/oom',
      content: 'how the <em>kernel</em> chooses',
      description: 'how the <strong>kernel</strong> chooses',
    },
    { title: 'not a page', url: 'javascript:alert(1)', content: '' },
    'nothing',
  ];
  peer.answer = (path, res) =>
    res.end(
      JSON.stringify(path.startsWith('/res/') ? { type: 'search', web: { results } } : { results }),
    );
  for (const [provider, seen] of [
    ['searxng', ['/search?q=oom+%22killed%22&format=json&safesearch=1', undefined, '']],
    ['tavily', ['/search', 'Bearer k3y', /"query":"oom \\"killed\\"","max_results":5/]],
    ['brave', ['/res/v1/web/search?q=oom+%22killed%22&count=5&text_decorations=false', 'k3y', '']],
  ] as const) {
    const { run } = await stand(t, {
      SVC_WEBSEARCH_PROVIDER: provider,
      SVC_WEBSEARCH_URL: peer.url,
      SVC_WEBSEARCH_API_KEY: provider === 'searxng' ? '' : 'k3y',
    });
    peer.asked.length = 0;
    const answer = await run('web_search', { query: 'oom "killed"' });
    assert.deepEqual(
      [answer.error, answer.provider, answer.trust],
      [undefined, provider, 'untrusted'],
    );
    assert.deepEqual(answer.results, [
      {
        title: 'OOM killer & friends',
        url: 'https://kernel.example/oom',
        snippet: 'how the kernel chooses',
      },
    ]);
    const [{ path, headers, body }] = peer.asked as [Web['asked'][0]];
    assert.deepEqual(
      [path, headers.authorization ?? headers['x-subscription-token']],
      seen.slice(0, 2),
    );
    assert.match(body, seen[2] instanceof RegExp ? seen[2] : /^$/);
  }
});

test('only what was found can be read, by whom it was found for, within the hour; redirects are checked again', async (t) => {
  const peer = await web(t);
  let elapsed = 0;
  const pages = {
    found: `${peer.url}/found`,
    moved: `${peer.url}/moved`,
    inward: `${peer.url}/inward`,
    image: `${peer.url}/image`,
    gone: `${peer.url}/gone`,
  };
  peer.answer = (path, res) => {
    switch (path) {
      case '/found':
        return res
          .writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' })
          .end(Buffer.from(`<title>Caf\xe9</title><p>${'x '.repeat(4_000)}end`, 'latin1'));
      case '/moved':
        return res.writeHead(302, { location: '/found' }).end();
      case '/inward':
        return res.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      case '/image':
        return res.writeHead(200, { 'content-type': 'image/png' }).end('x');
      case '/gone':
        return res.writeHead(410).end();
      default:
        return res.end(
          JSON.stringify({
            results: Object.values(pages).map((url) => ({ title: 'x', url, content: '' })),
          }),
        );
    }
  };
  const { house, run } = await stand(
    t,
    { SVC_WEBSEARCH_PROVIDER: 'searxng', SVC_WEBSEARCH_URL: peer.url },
    () => elapsed,
  );
  useNoLeaks(t, house);
  const read = (url: string, more: object = {}, who = anna) =>
    run('web_read', { url, ...more }, who);
  assert.match(
    (await read(pages.found)).error,
    /only read pages that web_search has found within the last hour/,
  );
  await run('web_search', { query: 'x y' });
  const first = await read(pages.found);
  assert.deepEqual([first.title, first.text.length, first.next_offset], ['Café', 6_000, 6_000]);
  const rest = await read(pages.found, { offset: first.next_offset });
  assert.deepEqual([rest.next_offset, rest.text.endsWith('end')], [null, true]);
  assert.equal((await read(pages.moved)).url, pages.found);
  for (const [url, message] of [
    [pages.inward, /cloud metadata address/],
    [pages.image, /it is not text \(image\/png\)/],
    [pages.gone, /answered 410/],
    [`${pages.found}?leak=secret`, /only read pages/],
    ['http://169.254.169.254/latest', /only read pages/],
  ] as const) {
    assert.match((await read(url)).error, message);
  }
  assert.match(
    (await read(pages.found, {}, bert)).error,
    /only read pages/,
    'found for somebody else',
  );
  elapsed = 3_700_000;
  assert.match((await read(pages.found)).error, /only read pages/);
});

test('the skills are there while a provider is set; what it refuses is told without the key', async (t) => {
  const peer = await web(t);
  const { house, run } = await stand(t);
  const names = (of: typeof house) =>
    of
      .service(Skills)
      .tools()
      .map(({ key }) => key)
      .filter((key) => key.startsWith('web_'));
  assert.deepEqual(names(house), []);
  assert.match((await run('web_search', { query: 'xy' })).error, /web_search/);
  const { house: set, run: ask } = await stand(t, {
    SVC_WEBSEARCH_PROVIDER: 'brave',
    SVC_WEBSEARCH_URL: peer.url,
    SVC_WEBSEARCH_API_KEY: 'very-secret',
  });
  assert.deepEqual(names(set).toSorted(), ['web_read', 'web_search']);
  for (const [status, body, message] of [
    [
      422,
      '{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID","token":"very-secret"}}',
      /Brave does not know the key/,
    ],
    [429, '{}', /answered 429/],
    [500, 'boom', /answered 500/],
    [200, '<html>', /an unknown format/],
  ] as const) {
    peer.answer = (_, res) => res.writeHead(status).end(body);
    const { error } = await ask('web_search', { query: 'xy' });
    assert.match(error, message);
    assert.ok(!error.includes('very-secret'));
  }
  const probe = (house_: typeof house, body: object) =>
    house_
      .fetch('/api/v1/integrations/websearch/test', { method: 'POST', body: JSON.stringify(body) })
      .then((answer) => answer.json() as Promise<Record<'code' | 'detail' | 'error', string>>);
  peer.answer = (_, res) =>
    res.writeHead(422).end('{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}');
  assert.equal((await probe(set, {})).code, 'unauthorized');
  peer.answer = (_, res) => res.end('{"type":"search"}');
  assert.equal((await probe(set, {})).code, 'ok');
  peer.asked.length = 0;
  assert.equal((await probe(set, { provider: 'brave', url: peer.url, token: 'tried' })).code, 'ok');
  assert.deepEqual(
    peer.asked.map(({ headers }) => headers['x-subscription-token']),
    ['tried'],
  );
  peer.answer = (_, res) => res.writeHead(403).end();
  const json = await probe(house, { provider: 'searxng', url: peer.url });
  assert.deepEqual(
    [json.code, /add json to search\.formats/.test(json.detail)],
    ['unauthorized', true],
  );
  assert.equal((await probe(house, {})).code, 'not_configured');
  assert.equal((await probe(house, { provider: 'tavily' })).code, 'not_configured');
  assert.equal((await probe(house, { token: 'x' })).error, 'invalid_argument');
});

test('a page becomes what a person would read, whatever is in it', () => {
  for (const [html, text] of [
    ['<p>a</p><p>b <b>c</b></p>', 'a\nb c'],
    ['a &lt;b&gt; &#65;&#x42;&bogus; &#0;&#xd800;', 'a <b> AB&bogus;'],
    ['<script>if (a < b) alert("</p>")</script>x', 'x'],
    ['<SCRIPT src="a>b">evil</SCRIPT\n>x<style>p{}</style>y', 'x y'],
    ['<!-- hidden <b>x</b> -->seen<!-- open', 'seen'],
    ['<a href="x>y" title=\'>\'>link</a>', 'link'],
    ['1 < 2 and 3<4', '1 < 2 and 3<4'],
    ['İİ<script>gone</script>left', 'İİ left'],
    ['a\u202e\u001b[31mb\u200b', 'a[31mb'],
    ['<table><tr><td>a<td>b</table>', 'a\nb'],
    ['<head><title>T</title><body>no end of its head', 'no end of its head'],
    ['<', '<'],
    ['<svg><text>x</text></svg><img src=http://evil/x onerror=alert(1)>ok', 'ok'],
  ] as const) {
    assert.equal(pageText(html).text, text, html);
  }
  // A character of two halves at the end of a step stays whole.
  const plain = `${'a'.repeat(999)}😀b`;
  assert.equal(atOnce(readPlain(`${plain}\u202e`)).text, plain);
  // Each would take minutes where the work grows faster than the page.
  for (const piece of ['<', '<a ', '<script>', '<!--', '&amp', '<p>', '<a href="', '</']) {
    assert.ok(pageText(piece.repeat(Math.ceil(2_000_000 / piece.length))).text.length >= 0);
  }
});
