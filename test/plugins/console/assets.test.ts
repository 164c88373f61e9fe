import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

const firstPageBytes = 64 * 1024;

/** Fetches without decompression, which fetch would do. */
async function packed(
  house: TestHost,
  path: string,
  coding: string,
): Promise<{ readonly bytes: number; readonly text: string; readonly headers: Headers }> {
  const { get } = await import('node:http');
  return await new Promise((resolve, reject) => {
    get(house.url + path, { headers: { 'accept-encoding': coding } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        const used = answer.headers['content-encoding'];
        const text = (
          used === 'gzip' ? gunzipSync(body) : used === 'br' ? brotliDecompressSync(body) : body
        ).toString('utf8');
        resolve({
          bytes: body.length,
          text,
          headers: new Headers(answer.headers as Record<string, string>),
        });
      });
    }).on('error', reject);
  });
}

/** Returns the modules that a script loads before it runs. */
const staticImports = (text: string): readonly string[] =>
  [...text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)].map(([, name]) => name!);

test('the first page is at most 64 KB packed, its files are for ever, and each coding has the same content', async (t) => {
  const house = await startTestHost(t, { plugins: ['console'] });
  useNoLeaks(t, house);
  const document = await packed(house, '/', 'gzip');
  const named = [...document.text.matchAll(/ui\/assets\/([\w.-]+)/g)].map(([, name]) => name!);
  assert.ok(named.length >= 2);
  const seen = new Map<string, number>();
  const main = (
    await packed(house, `/ui/assets/${named.find((name) => name.endsWith('.js'))!}`, 'gzip')
  ).text;
  // The overview is what comes first, with all that it needs to be drawn; its name is in the script that opens it.
  const wanted = [...named];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (!seen.has(name)) {
      const { bytes, text } = await packed(house, `/ui/assets/${name}`, 'gzip');
      seen.set(name, bytes);
      wanted.push(...staticImports(text));
      // What the entry itself loads on demand lies over the page, or stands before it.
      const overview = named.includes(name)
        ? undefined
        : /import\("\.\/([\w-]+\.js)"\)/.exec(text)?.[1];
      wanted.push(...(overview === undefined ? [] : [overview]));
    }
  }
  const total = document.bytes + [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(total <= firstPageBytes, `${total} bytes: ${JSON.stringify([...seen])}`);
  t.diagnostic(`first page: ${total} bytes in ${seen.size + 1} files`);

  const script = named.find((name) => name.endsWith('.js'))!;
  const brotli = await packed(house, `/ui/assets/${script}`, 'br, gzip');
  assert.equal(brotli.headers.get('content-encoding'), 'br');
  assert.equal(brotli.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(brotli.text, main);
  assert.equal((await packed(house, `/ui/assets/${script}`, 'identity')).text, main);
  assert.equal((await house.fetch('/ui/assets/none.js')).status, 404);
});

test('the page may run nothing but its own files, and is framed by nobody', async (t) => {
  const house = await startTestHost(t, { plugins: ['console'] });
  const answer = await house.fetch('/ui/incidents/7?q=x');
  assert.equal(answer.status, 200);
  const policy = answer.headers.get('content-security-policy') ?? '';
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]) {
    assert.ok(policy.includes(part), part);
  }
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.doesNotMatch(await answer.text(), /<script(?![^>]*src=)|<style|style=| on\w+=/);
});

test('an address that is cut short leads to the page, and finds its files from there', async (t) => {
  const house = await startTestHost(t, { plugins: ['console'] });
  for (const path of ['/ui', '/ui/', '/ui/incidents']) {
    const answer = await house.fetch(path);
    assert.equal(answer.status, 200, path);
    const [, script] = /src="([^"]+)"/.exec(await answer.text()) ?? [];
    assert.match(new URL(script!, house.url + path).pathname, /^\/ui\/assets\//, path);
  }
  assert.equal((await house.fetch('/ui//')).status, 404);
});

test('the icon that browsers ask for is a picture; without the console there is none', async (t) => {
  const house = await startTestHost(t, { plugins: ['console'] });
  const answer = await house.fetch('/favicon.ico');
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/x-icon']);
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=86400');
  const bytes = Buffer.from(await answer.arrayBuffer());
  const [kind, pictures, length, from] = [
    bytes.readUInt16LE(2),
    bytes.readUInt16LE(4),
    bytes.readUInt32LE(14),
    bytes.readUInt32LE(18),
  ];
  assert.deepEqual([kind, pictures, from + length], [1, 1, bytes.length]);
  const bare = await startTestHost(t, { plugins: [] });
  assert.equal((await bare.fetch('/favicon.ico')).status, 404);
});

test('while the console is down its root says so, and unknown paths stay unknown', async (t) => {
  const house = await startTestHost(t, { plugins: ['console'] });
  await house.host.disable('console');
  assert.equal((await house.fetch('/')).status, 503);
  assert.equal((await house.fetch('/nothing/here')).status, 404);
});
