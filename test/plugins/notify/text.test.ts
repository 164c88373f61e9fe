import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { cutToBytes, fitted, markdown, unmarked, withoutMentions } from 'svc/im';

import { checkTemplate, renderTemplate } from '../../../plugins/notify/message/channel-template.ts';
import { waitFor } from '../../../plugins/notify/queue/send-schedule.ts';
import { dingtalkSign } from '../../../plugins/notify/types/dingtalk.ts';
import { feishuSign } from '../../../plugins/notify/types/feishu.ts';
import { signatureOf } from '../../../plugins/notify/types/webhook.ts';
import { noticeOf } from './office.ts';

test('signatures are those of the platforms’ own examples', () => {
  assert.equal(feishuSign('1599360473', 'demo'), 'l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=');
  assert.equal(
    encodeURIComponent(dingtalkSign(1_577_262_236_757, 'this is secret')),
    'hmPWwU%2B7lVdm3ZZz0r9tSfx0L4Q26jWOZr9%2BGs6EZQM%3D',
  );
  // openssl dgst -sha256 -hmac key over "1700000000.{}"
  assert.equal(
    signatureOf('key', 1_700_000_000, '{}'),
    't=1700000000,v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae',
  );
});

const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

test('a text that is too long is cut by bytes between two characters, and leads on', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 300 });
  fc.assert(
    fc.property(
      fc.array(anyText, { maxLength: 12 }),
      fc.integer({ min: 60, max: 2_000 }),
      (lines, most) => {
        const text = fitted(lines, { most, link: 'https://svc.example/1', escape: html });
        assert.ok(Buffer.byteLength(text) <= most);
        assert.doesNotMatch(text, /&(?!amp;|lt;|gt;)/, 'no escape is cut in two');
        if (Buffer.byteLength(lines.map(html).join('\n')) > most) {
          assert.ok(text.endsWith('… full: https://svc.example/1'));
        } else {
          assert.equal(text, lines.map(html).join('\n'));
        }
      },
    ),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.integer({ min: 0, max: 400 }),
      (text, most) => {
        const cut = cutToBytes(text, most, '');
        assert.ok(Buffer.byteLength(cut) <= most && text.startsWith(cut));
        assert.ok(!cut.includes('\ufffd') || text.includes('\ufffd'));
      },
    ),
  );
});

test('nobody is called by a label: mentions are broken, addresses and prices are not', () => {
  for (const call of [
    '@all',
    '@here',
    ' @channel',
    '(@所有人)',
    '<@U123>',
    '<!channel>',
    '<at id=all></at>',
    '<AT user_id="all">',
    '</at>',
  ]) {
    assert.notEqual(withoutMentions(call), call, call);
    assert.equal(withoutMentions(call).replaceAll('\u200b', ''), call);
  }
  for (const harmless of ['ann@example.org', 'load @ 5', 'a < b', 'status <400']) {
    assert.equal(withoutMentions(harmless), harmless);
  }
});

test('a long line takes no room from short ones, which stand whole', () => {
  const lines = [
    '漢'.repeat(2_000),
    'Host: db-3 (10.0.0.7)',
    `Labels: ${'x'.repeat(3_000)}`,
    'Value: 97',
  ];
  const text = fitted(lines, { most: 2_000, link: 'https://svc.example/1' });
  assert.ok(Buffer.byteLength(text) <= 2_000 && Buffer.byteLength(text) > 1_900);
  for (const line of ['Host: db-3 (10.0.0.7)', 'Value: 97', '… full: https://svc.example/1']) {
    assert.ok(text.split('\n').includes(line), line);
  }
});

test('no mark of markdown is left that formats; names and addresses lead where they led', () => {
  for (const name of [
    'node_cpu_seconds_total',
    'a * b',
    '5 - 3',
    'x#1',
    'https://svc.example/a_b-c/d',
    'C:\\temp',
    'a.b:9100',
    '{"a": [1]}',
  ]) {
    assert.equal(markdown(name), name);
  }
  assert.equal(unmarked('*a* __b__ ~~c~~ `d` _e'), '＊a＊ ＿＿b＿＿ ～～c～～ ｀d｀ ＿e');
  assert.equal(
    unmarked('see https://x.example/_a_/*b* now'),
    'see https://x.example/%5Fa%5F/%2Ab%2A now',
  );
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          '*',
          '_',
          '`',
          '~',
          '[',
          ']',
          '(',
          ')',
          '<',
          '>',
          '#',
          ' ',
          'a',
          '\n',
          '!',
          ':',
        ),
      }),
      (text) => {
        const shown = markdown(text);
        assert.doesNotMatch(shown, /[<>`]|\]\(|\*\S[^]*\S\*|\b_\S|(?:^|\n)[#*]/);
      },
    ),
  );
});

test('no window ever holds more than its limit, however messages come', () => {
  const limit = fc.record({
    count: fc.integer({ min: 1, max: 8 }),
    per_ms: fc.integer({ min: 1, max: 500 }),
  });
  fc.assert(
    fc.property(
      fc.array(limit, { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 80 }),
      (limits, gaps) => {
        const stamps: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          now += waitFor(limits, stamps, now);
          assert.equal(waitFor(limits, stamps, now), 0, 'and nobody waits longer than that');
          stamps.push(now);
        }
        for (const { count, per_ms: perMs } of limits) {
          stamps.forEach((from, index) =>
            assert.ok(stamps.slice(index).filter((at) => at < from + perMs).length <= count),
          );
        }
      },
    ),
  );
});

test('a template makes the text of the incident; one that is wrong is refused with line and column', () => {
  const { incident } = noticeOf(3);
  const data = { kind: 'firing', incident, title: 'T', link: 'L' } as const;
  const template =
    '{{if .firing}}{{.severity | toUpper}}{{end}} {{$labels.team}} {{printf "%.1f" $value}}{{range $k, $v := .labels}} {{$k}}{{end}}\n{{.title}} {{.link}}';
  checkTemplate(template);
  assert.deepEqual(renderTemplate(template, data), { text: 'WARNING db 93.5 device_id team\nT L' });
  assert.throws(() => checkTemplate('a\n{{ nothing .x }}'), /^SvcError: template: template:2:4: /);
  assert.throws(() => checkTemplate('{{ .summary.first }}'), /template:1:/);
  assert.throws(
    () => checkTemplate('{{ range .labels }}{{ range $.labels }}{{ end }}'),
    /template:1:/,
  );
  assert.throws(
    () => checkTemplate(`{{ range 1000000 }}xxxxxxxxxxxx{{ end }}`),
    /steps|grows past/,
  );
  const { error } = renderTemplate('{{ .labels.a.b }}', {
    ...data,
    incident: { ...incident, labels: { a: 'x' } },
  }) as { error: string };
  assert.match(error, /can't evaluate field b in type string/);
});
