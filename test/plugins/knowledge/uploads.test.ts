import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { deflateSync } from 'node:zlib';

import { docxOf, paragraph, pdfOf, streamOf, zipOf } from './files.ts';
import { type Json, type KnowledgeHouse, knowledgeHouse } from './house.ts';

interface Uploaded {
  readonly status: number;
  readonly body: Json;
}

async function uploader(t: TestContext): Promise<
  KnowledgeHouse & {
    upload(
      bytes: Buffer | string,
      fields?: Record<string, string>,
      name?: string,
    ): Promise<Uploaded>;
  }
> {
  const room = await knowledgeHouse(t, { plugins: ['knowledge', 'programs'] });
  const upload = async (
    bytes: Buffer | string,
    fields: Record<string, string> = {},
    name = 'file.bin',
  ): Promise<Uploaded> => {
    const form = new FormData();
    form.set('file', new Blob([bytes]), name);
    Object.entries(fields).forEach(([field, value]) => form.set(field, value));
    const answer = await room.house.fetch('/api/v1/knowledge/upload', {
      method: 'POST',
      body: form,
    });
    return { status: answer.status, body: await answer.json() };
  };
  return { ...room, upload };
}

describe('an upload', () => {
  test('is what its bytes say, whatever its name is', async (t) => {
    const { upload, paths, ask } = await uploader(t);
    const text = '# Title\r\n<script>alert(1)</script>\r\n';
    const plain = await upload(text, { tags: 'one, two' }, 'notes.pdf');
    assert.deepEqual(
      [plain.status, plain.body.path, plain.body.content, plain.body.tags, plain.body.source],
      [201, 'uploads/notes.pdf', text, ['one', 'two'], 'upload'],
    );
    const wide = await upload(Buffer.from('\uFEFFüber', 'utf16le'), { path: 'wide.txt' });
    assert.equal(wide.body.content, 'über');
    const latin = Buffer.from('# Caf\xe9\r\n\x93Stra\xdfe\x94 \x80 5', 'latin1');
    const old = await upload(latin, { path: 'old.txt' });
    assert.equal(old.body.content, '# Café\r\n“Straße” € 5');
    const cut = Buffer.from('Für die Küche und den Fuß').subarray(0, -1);
    assert.equal((await upload(cut, { path: 'cut.txt' })).status, 400, 'damaged UTF-8');

    const table = `<w:tbl><w:tr><w:tc>${paragraph('metric')}</w:tc><w:tc>${paragraph('a|b')}</w:tc></w:tr><w:tr><w:tc>${paragraph('load')}</w:tc></w:tr></w:tbl>`;
    const body =
      paragraph('Restart', '<w:pStyle w:val="Heading1"/>') +
      paragraph('Press &lt;Enter&gt; &#233;.') +
      paragraph('first', '<w:numPr><w:ilvl w:val="0"/></w:numPr>') +
      table;
    const styles = {
      name: 'word/styles.xml',
      content:
        '<w:styles><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>',
    };
    const word = await upload(
      docxOf(`${body}<w:del><w:r><w:t>gone</w:t></w:r></w:del>`, [styles]),
      { path: 'word.md' },
      'x.txt',
    );
    assert.equal(word.status, 201, JSON.stringify(word.body));
    assert.equal(
      word.body.content,
      '# Restart\n\nPress <Enter> é.\n\n- first\n\n| metric | a\\|b |\n| --- | --- |\n| load |  |',
    );
    assert.equal(word.body.title, 'Restart');

    const pdf = await upload(pdfOf(['The quagga of page one', 'The okapi of page two']), {
      path: 'zoo.md',
      title: 'Zoo',
    });
    assert.equal(pdf.status, 201, JSON.stringify(pdf.body));
    assert.equal(
      pdf.body.content,
      '## Page 1\n\nThe quagga of page one\n\n## Page 2\n\nThe okapi of page two',
    );
    assert.deepEqual(await paths('okapi'), ['zoo.md']);
    assert.equal((await ask('GET', '/search?q=okapi')).body.items[0].anchor, 'page-2');

    const line = (size: number, text: string): string => `/F1 ${size} Tf 0 -40 Td (${text}) Tj`;
    const prose = Array.from({ length: 4 }, (_, index) => `The okapi walks on ${index}.`);
    const manual = await upload(
      pdfOf(['one', 'two'], '', (page) =>
        streamOf(
          Buffer.from(
            `BT 72 760 Td ${[
              ...(page === 'one' ? [line(24, 'Manual'), line(16, 'Start')] : []),
              ...prose.slice(0, 2).map((text) => line(12, text)),
              ...(page === 'two' ? [line(16, 'Stop at')] : []),
              ...(page === 'two' ? [line(16, 'night')] : []),
              ...prose.slice(2).map((text) => line(12, `${page} ${text}`)),
            ].join(' ')} ET`,
          ),
          '',
        ),
      ),
      { path: 'manual.md' },
    );
    assert.equal(
      manual.body.content,
      [
        '# Manual',
        '## Start',
        '### Page 1',
        [...prose.slice(0, 2), `one ${prose[2]}`, `one ${prose[3]}`].join('\n'),
        '### Page 2',
        prose.slice(0, 2).join('\n'),
        '## Stop at night',
        '### Page 2',
        [`two ${prose[2]}`, `two ${prose[3]}`].join('\n'),
      ].join('\n\n'),
      'headings by their size, each text below its heading and its page',
    );

    assert.equal((await upload('newer', { path: 'word.md' })).status, 409);
    const newer = await upload('newer', { path: 'word.md', replace: 'true' });
    assert.deepEqual(
      [newer.status, newer.body.id, newer.body.version, newer.body.content],
      [201, word.body.id, 2, 'newer'],
    );
  });

  test(
    'that is hostile, broken or no document gets one sentence and leaves nothing',
    { timeout: 240_000 },
    async (t) => {
      const { house, ask, upload } = await uploader(t);
      for (const [name, bytes] of hostile()) {
        const { status, body } = await upload(bytes, {
          path: `hostile/${name.replaceAll(/\W+/g, '-')}.md`,
        });
        assert.deepEqual(
          [status, body.error],
          [400, 'invalid_argument'],
          `${name}: ${JSON.stringify(body).slice(0, 300)}`,
        );
        assert.ok(
          body.message.length < 300 && !/\n|node_modules|\/tmp|Error:/.test(body.message),
          `${name}: ${body.message}`,
        );
      }
      t.diagnostic(`${hostile().length} hostile files`);
      assert.equal((await ask('GET', '/docs')).body.total, 0);
      assert.deepEqual(
        readdirSync(join(house.dataDir, 'plugins/knowledge/parser')).filter(
          (name) => !/^parser-\w+\.cjs$/.test(name),
        ),
        [],
      );
      assert.equal((await upload(pdfOf(['still there']), { path: 'after.md' })).status, 201);
      assert.equal(house.host.explain('knowledge').state, 'active');
    },
  );

  test('as a form that is none is refused', async (t) => {
    const { house, ask } = await uploader(t);
    const send = async (body: string, type = 'multipart/form-data; boundary=b'): Promise<number> =>
      (
        await house.fetch('/api/v1/knowledge/upload', {
          method: 'POST',
          body: Buffer.from(body),
          headers: { 'content-type': type },
        })
      ).status;
    const file = 'Content-Disposition: form-data; name="file"; filename="a.md"';
    const bodies = [
      '',
      '--b--\r\n',
      'x'.repeat(5_000),
      `--b\r\n${file}\r\n\r\nx`,
      `--b\r\n${file}\r\n\r\nx\r\n--b`,
      `--b\r\n${file}\r\nx\r\n--b--`,
      `--b\r\n${'h: x\r\n'.repeat(2_000)}\r\nx\r\n--b--`,
      `--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--`,
      `--b\r\n${file}\r\n\r\nx\r\n--b\r\n${file}\r\n\r\ny\r\n--b--`,
      `--b\r\n${file}\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="role"\r\n\r\nadmin\r\n--b--`,
      `--b\r\n${file}\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nadmin\r\n--b--`,
      `--b\r\n${file}\r\n\r\nx\r\n${'--b\r\nContent-Disposition: form-data; name="tags"\r\n\r\nx\r\n'.repeat(40)}--b--`,
      `--b\r\nContent-Disposition: form-data; name="file"; filename*=utf-8''%ff%zz\r\n\r\nx\r\n--b--`,
      `--b\r\n${file}\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n../../etc/cron.d/x\r\n--b--`,
    ];
    for (const body of bodies) {
      assert.equal(await send(body), 400, body.slice(0, 200));
    }
    assert.equal(await send('x', 'multipart/form-data'), 400);
    assert.equal(await send('x', 'text/plain'), 415);
    assert.equal(await send(`--b\r\n${file}\r\n\r\n${'x'.repeat(17 * 1024 * 1024)}\r\n--b--`), 413);
    assert.equal((await ask('GET', '/docs')).body.total, 0);
    const named = `--b\r\nContent-Disposition: form-data; name="file"; filename="..\\..\\C:\\x\u202Ey.md"\r\n\r\n# T\r\n--b--\r\n`;
    assert.equal(await send(named), 201);
    assert.equal((await ask('GET', '/docs')).body.items[0].path, 'uploads/xy.md');
  });
});

const word = 'word/document.xml';
const types = { name: '[Content_Types].xml', content: '<Types/>' };

/** Files that do harm where they are believed. */
function hostile(): readonly (readonly [string, Buffer])[] {
  const bomb = deflateSync(Buffer.alloc(60 * 1024 * 1024, ' '));
  const deeper = deflateSync(deflateSync(Buffer.alloc(200 * 1024 * 1024)));
  const bombPage = (filter: string, data: Buffer): Buffer =>
    pdfOf(['x'], '', () => streamOf(data, `/Filter ${filter}`));
  const good = pdfOf(['text of a page']);
  const docx = docxOf(paragraph('text'));
  const binary = (start: string): Buffer =>
    Buffer.concat([Buffer.from(start, 'latin1'), Buffer.from([0, 1, 2, 255, 254])]);
  const entity = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>';
  return [
    ['empty', Buffer.alloc(0)],
    ...(
      [
        '\x7fELF',
        'MZ',
        '\x89PNG\r\n\x1a\n',
        '\xff\xd8\xff\xe0',
        'GIF89a',
        '\x1f\x8b\x08',
        'BZh9',
        '\xfd7zXZ',
        '7z\xbc\xaf',
        'Rar!',
        'SQLite format 3\0',
        '{\\rtf1',
        '\xd0\xcf\x11\xe0\xa1\xb1',
      ] as const
    ).map((start) => [`begins with ${JSON.stringify(start)}`, binary(start)] as const),
    ['bytes', binary('\xc3\x28\xff')],
    ['text with zeros', Buffer.from('text\0text')],
    ['half of a UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8])],
    ['PDF: signature alone', Buffer.from('%PDF-1.7\n')],
    ['PDF: cut in the middle of its head', good.subarray(0, 60)],
    [
      'PDF: noise',
      Buffer.concat([
        Buffer.from('%PDF-1.7\n'),
        Buffer.from(Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 256)),
      ]),
    ],
    [
      'PDF: encrypted',
      Buffer.from(
        good
          .toString('latin1')
          .replace(
            '/Root 1 0 R',
            '/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /O (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) /U (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb) /P -4 >> /ID [<00> <00>]',
          ),
        'latin1',
      ),
    ],
    [
      'PDF: pages in a circle',
      Buffer.from(good.toString('latin1').replace('/Kids [4 0 R]', '/Kids [2 0 R]'), 'latin1'),
    ],
    ['PDF: no text', pdfOf([''])],
    ['PDF: a script alone', pdfOf([''], '/OpenAction << /S /JavaScript /JS (app.alert(1)) >>')],
    ['PDF: a stream that unpacks to 60 MB', bombPage('/FlateDecode', bomb)],
    ['PDF: a stream packed twice', bombPage('[/FlateDecode /FlateDecode]', deeper)],
    ['zip: signature alone', Buffer.from('PK\x03\x04')],
    ['zip: no document', zipOf([{ name: 'a.txt', content: 'x' }])],
    ['zip: no list of types', zipOf([{ name: word, content: '<w:document/>' }])],
    ['zip: cut off', docx.subarray(0, docx.length - 30)],
    ['zip: encrypted', zipOf([types, { name: word, content: '<w:document/>', flags: 1 }])],
    [
      'zip: bomb that says so',
      docxOf('', [{ name: 'word/styles.xml', content: Buffer.alloc(60 * 1024 * 1024, ' ') }]),
    ],
    [
      'zip: bomb that lies',
      zipOf([types, { name: word, content: Buffer.alloc(40 * 1024 * 1024, ' '), size: 100 }]),
    ],
    [
      'zip: two of one name',
      zipOf([
        types,
        { name: word, content: '<w:t>a</w:t>' },
        { name: word, content: '<w:t>b</w:t>' },
      ]),
    ],
    [
      'zip: thousands of parts',
      zipOf([
        types,
        ...Array.from({ length: 2_500 }, (_, index) => ({ name: `x${index}`, content: '' })),
      ]),
    ],
    [
      'zip: list that points outside',
      Buffer.from(docx).fill(0xff, docx.length - 6, docx.length - 2),
    ],
    [
      'Word: entities',
      zipOf([
        types,
        {
          name: word,
          content: `<?xml version="1.0"?>${entity}<w:document><w:p><w:t>&b;</w:t></w:p></w:document>`,
        },
      ]),
    ],
    ['Word: not UTF-8', zipOf([types, { name: word, content: Buffer.from([0x3c, 0xff, 0xfe]) }])],
    ['Word: no text', docxOf(paragraph(''))],
    ['Word: only tags that never end', docxOf('<w:p>'.repeat(100_000))],
  ];
}
