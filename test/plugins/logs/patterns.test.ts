import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { budget as makeBudget } from '../../../plugins/lib/query/index.ts';
import type { LogSource } from '../../../plugins/logs/logql/index.ts';
import { findTemplates } from '../../../plugins/logs/patterns/find-templates.ts';
import { masked, TemplateTree } from '../../../plugins/logs/patterns/template-tree.ts';

describe('what is masked', () => {
  for (const [text, expected] of [
    ['took 12ms, 3.5 s and -4e-3', 'took <_>, <_> s and <_>'],
    ['user=42 id=3F2504e0-4f89-11d3-9a0c-0305e82c3301', 'user=<_> id=<_>'],
    ['from 10.0.0.7:8080 to 192.168.0.0/16 and fe80:0:0:1::5', 'from <_> to <_> and <_>'],
    ['read /var/log/app/x.log at 0xdeadBEEF', 'read <_> at <_>'],
    ['commit 7d1f641ab of eth0 in h2 v2', 'commit <_> of eth0 in h2 v2'],
    ['2026-11-20T10:00:00.123Z and 10:00:01', '<_> and <_>'],
    ['\u001b[31mred\u001b[0m 5', 'red <_>'],
    ['facade decade std::vector nothing', 'facade decade std::vector nothing'],
  ] as const) {
    test(JSON.stringify(text), () => assert.equal(masked(text), expected));
  }
});

describe('templates', () => {
  const found = (
    lines: readonly string[],
    options: Partial<ConstructorParameters<typeof TemplateTree>[0]> = {},
  ): TemplateTree => {
    const tree = new TemplateTree({ stepMs: 1_000, ...options });
    lines.forEach((line, at) => tree.add(line, at * 400));
    return tree;
  };

  test('lines that say the same are one, counted by time step; the most frequent comes first', () => {
    const [often, seldom, ...rest] = found([
      'connection from alice closed after 5 bytes',
      'disk sda is full',
      'connection from bob closed after 1234 bytes',
      'connection from carol closed after 0 bytes',
    ]).templates();
    assert.deepEqual(rest, []);
    assert.deepEqual(often, {
      pattern: 'connection from <_> closed after <_> bytes',
      count: 3,
      example: 'connection from alice closed after 5 bytes',
      first: 0,
      last: 1_200,
      steps: new Map([
        [0, 2],
        [1_000, 1],
      ]),
    });
    assert.deepEqual([seldom!.pattern, seldom!.count], ['disk sda is full', 1]);
  });

  test('JSON and logfmt keep their keys; lines that are divided otherwise are others', () => {
    const patterns = found([
      '{"msg":"slow query","rows":17,"ok":true}',
      '{"msg":"slow query","rows":9000,"ok":true}',
      'level=warn msg="slow query" rows=5',
      'level=warn msg="slow query" rows=6',
      'slow query',
    ]).templates();
    assert.deepEqual(
      patterns.map(({ pattern, count }) => [pattern, count]),
      [
        ['level=warn msg="slow query" rows=<_>', 2],
        ['{"msg":"slow query","rows":<_>,"ok":true}', 2],
        ['slow query', 1],
      ],
    );
  });

  test('lines of different severity or message are never one, however many fields they share', () => {
    const fields = (level: string, message: string, at: number): string =>
      JSON.stringify({
        time: `2026-11-29T10:00:0${at}Z`,
        host: 'web-1',
        service: 'shop',
        pid: 7,
        level,
        message,
      });
    const patterns = found([
      fields('info', 'order stored', 1),
      fields('info', 'order stored', 2),
      fields('warn', 'query of 900 ms is slow', 3),
      fields('error', 'payment timed out after 30 s', 4),
      fields('error', 'payment timed out after 31 s', 5),
      '2026-11-29 10:00:01 web-1 app[7]: INFO the queue of orders is empty',
      '2026-11-29 10:00:02 web-1 app[7]: ERROR the queue of orders is full',
    ]).templates();
    assert.deepEqual(
      patterns
        .map(
          ({ count, example }) =>
            `${count} ${/stored|slow|timed out|empty|full/.exec(example)![0]}`,
        )
        .toSorted(),
      ['1 empty', '1 full', '1 slow', '2 stored', '2 timed out'],
    );
  });

  test('a line is seen behind a hundred thousand others', async () => {
    const total = 100_050;
    const source: LogSource = {
      async *select(_matchers, start, end) {
        const newest = Math.min(total, end.ms + (end.ns > 0 ? 1 : 0));
        const entries = [];
        for (let ms = newest - 1; ms >= start.ms; ms--) {
          entries.push({ ms, ns: 0, line: ms === 49 ? 'the disk failed' : 'all is well' });
        }
        yield { labels: ['app', 'x'], entries };
      },
    };
    const { templates, lines, partial } = await findTemplates(
      source,
      {
        query: '{app="x"}',
        start: { ms: 0, ns: 0 },
        end: { ms: total, ns: 0 },
        now: () => total,
        stepMs: Infinity,
      },
      makeBudget({ timeoutMs: 60_000 }),
    );
    assert.deepEqual([lines, partial], [total, false]);
    assert.ok(templates.some(({ example }) => example === 'the disk failed'));
  });

  test('a flood of different lines stays within bounds, and what has no template any more is counted', () => {
    const word = (at: number): string =>
      `w${at.toString(26).replace(/\d/g, (digit) => 'zyxwvutsrq'[Number(digit)]!)}`;
    const tree = found(
      Array.from({ length: 3_000 }, (_, at) => `${word(at)} ${word(at * 7)} ${word(at * 13)}`),
    );
    assert.ok(tree.templates().length <= 1_000);
    assert.equal(
      tree.templates().reduce((sum, { count }) => sum + count, tree.others),
      3_000,
    );
    assert.equal(found(['a b', 'c d', 'e f'], { maxTemplates: 2 }).others, 1);
    const long = found([`x ${'y '.repeat(50_000)}`, '']);
    assert.equal(long.templates().length, 2);
  });
});
