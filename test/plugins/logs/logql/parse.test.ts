import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { check, layOut, parse, printExpr } from '../../../../plugins/logs/logql/index.ts';

const refused: readonly [query: string, message: string][] = [
  ['', 'parse error : syntax error: unexpected $end'],
  ['{', 'parse error at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }'],
  [
    '{app',
    'parse error at line 1, col 5: syntax error: unexpected $end, expecting = or =~ or !~ or !=',
  ],
  ['{app=', 'parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING'],
  [
    '{app="a",',
    'parse error at line 1, col 10: syntax error: unexpected $end, expecting IDENTIFIER',
  ],
  ['{app="a', 'parse error at line 1, col 6: literal not terminated'],
  ["{app='a'}", 'parse error at line 1, col 6: syntax error: unexpected $unk, expecting STRING'],
  ['{app="a"} }', 'parse error at line 1, col 11: syntax error: unexpected }'],
  [
    '{app="a"}\n  |= 5',
    'parse error at line 2, col 6: syntax error: unexpected NUMBER, expecting STRING or ip',
  ],
  ['{app="a"} |~ ip("1.1.1.1")', 'parse error : ip: invalid operation'],
  ['{app="a"} | json | a >', 'parse error at line 1, col 23: syntax error: unexpected $end'],
  [
    '{app="a"} | line_format',
    'parse error at line 1, col 24: syntax error: unexpected $end, expecting STRING',
  ],
  [
    '{app="a"} | label_format a',
    'parse error at line 1, col 27: syntax error: unexpected $end, expecting =',
  ],
  [
    '{app="a"} | logfmt --lax',
    'parse error at line 1, col 20: syntax error: unexpected PARSER_FLAG',
  ],
  [
    '{app="a"} | regexp "x"',
    `parse error : stage '| regexp "x"' : at least one named capture must be supplied`,
  ],
  [
    '{app="a"} | regexp "(?P<a>x"',
    `parse error : stage '| regexp "(?P<a>x"' : error parsing regexp: missing closing ): \`(?P<a>x\``,
  ],
  [
    '{app="a"} | pattern "x"',
    `parse error : stage '| pattern "x"' : at least one capture is required`,
  ],
  [
    '{app="a"} | pattern "<a><b>"',
    `parse error : stage '| pattern "<a><b>"' : found consecutive capture '<a><b>': a text must stand between them`,
  ],
  ['{app="a"} |> "<a>"', `parse error : stage '|> "<a>"' : named captures are not allowed: <a>`],
  [
    '{app="a"} | json a="b..c"',
    `parse error : stage '| json a="b..c"' : cannot parse expression [b..c]: syntax error at character 2`,
  ],
  [
    '{app="a"} | line_format "{{.a"',
    `parse error : stage '| line_format "{{.a"' : invalid line template: template:1:1: unclosed action`,
  ],
  [
    '{app="a"} | line_format "{{nope}}"',
    `parse error : stage '| line_format "{{nope}}"' : invalid line template: template:1:3: function "nope" not defined`,
  ],
  [
    '{app="a"} | label_format a=b, a=c',
    `parse error : stage '| label_format a=b, a=c' : multiple label name 'a' not allowed in a single format operation`,
  ],
  [
    '{app="a"} | x=ip("1.2.3")',
    `parse error : stage '| x=ip("1.2.3")' : ip: invalid pattern "1.2.3"`,
  ],
  ['{app=~"("}', 'parse error : error parsing regexp: missing closing ): '],
  ['{app!="a"}', 'parse error : queries require at least one regexp or equality matcher'],
  ['rate({app="a"}[5x])', 'parse error at line 1, col 15: not a valid duration string: "5x"'],
  ['rate({app="a"}[5m', "parse error at line 1, col 15: missing closing ']' in duration"],
  ['rate({app="a"}[0s])', 'parse error at line 1, col 15: duration must be greater than 0'],
  [
    'rate({app="a"}[5m] offset)',
    'parse error at line 1, col 26: syntax error: unexpected ), expecting DURATION',
  ],
  [
    'count_over_time({app="a"} | unwrap x [5m])',
    'parse error : invalid aggregation count_over_time with unwrap',
  ],
  ['rate(5, {app="a"}[5m])', 'parse error : parameter 5 not supported for operation rate'],
  ['sum(2, rate({app="a"}[5m]))', 'parse error : unsupported parameter for operation sum(2,'],
  [
    'topk(0, rate({app="a"}[5m]))',
    'parse error : invalid parameter (must be greater than 0) topk(0',
  ],
  ['topk(1.5, rate({app="a"}[5m]))', 'parse error : invalid parameter topk(1.5,'],
  [
    'sum by (rate({app="a"}[5m]))',
    'parse error at line 1, col 13: syntax error: unexpected (, expecting ) or ,',
  ],
  [
    '1 or vector(1)',
    'parse error : unexpected literal for left leg of logical/set binary operation (or): 1',
  ],
  ['vector(1) + bool 1', 'parse error at line 1, col 13: syntax error: unexpected bool'],
  ['vector(1) and on() group_left() vector(1)', 'no grouping allowed for "and" operation'],
  [
    'label_replace(vector(1), "a", "b", "c", "(")',
    'parse error : error parsing regexp: missing closing ): `(`',
  ],
  [`${'('.repeat(200)}vector(1)${')'.repeat(200)}`, 'nested more than 100 levels deep'],
  [`{app="a"} | ${'('.repeat(200)}a=1${')'.repeat(200)}`, 'nested more than 100 levels deep'],
  [`{app="${'a'.repeat(131_072)}"}`, 'parse error : input size too long'],
];

for (const [query, message] of refused) {
  test(`refused: ${query.slice(0, 80)}`, () => {
    assert.throws(
      () => parse(query),
      (error: Error & { kind?: string; code?: string }) => {
        assert.ok(
          error.message.startsWith(message) || error.message.endsWith(message),
          error.message,
        );
        assert.equal(error.kind, 'bad_data');
        assert.equal(error.code, 'invalid_argument');
        return true;
      },
    );
  });
}

const printed: readonly [query: string, type: string, printed: string][] = [
  ['{ app = "a" , env=~"b|c"}', 'lines', '{app="a", env=~"b|c"}'],
  ['{app="a"}|="x"or"y"!~`z\\d`|>"<_>"', 'lines', '{app="a"} |= "x" or "y" !~ "z\\\\d" |> "<_>"'],
  ['{app="a"} |= ip("10.0.0.0/8") # remark', 'lines', '{app="a"} |= ip("10.0.0.0/8")'],
  [
    '{app="a"} | json | json a, b="c[0]" != "x"',
    'lines',
    '{app="a"} | json | json a="a",b="c[0]" != "x"',
  ],
  [
    '{app="a"} | logfmt --keep-empty --strict x="y"',
    'lines',
    '{app="a"} | logfmt --strict --keep-empty x="y"',
  ],
  [
    '{app="a"} | a=1 or b>2m and c<=3KB, d!=-4.5 e=~"f"',
    'lines',
    '{app="a"} | (a=1 or (((b>2m and c<=3KB) and d!=-4.5) and e=~"f"))',
  ],
  [
    '{app="a"} | json="x" | unpack | decolorize',
    'lines',
    '{app="a"} | json="x" | unpack | decolorize',
  ],
  [
    '{app="a"} | drop a, b="c" | keep d, e=~"f"',
    'lines',
    '{app="a"} | drop a, b="c" | keep d, e=~"f"',
  ],
  [
    '{app="a"} | line_format `{{.a}}` | label_format a=b,c="d"',
    'lines',
    '{app="a"} | line_format "{{.a}}" | label_format a=b, c="d"',
  ],
  ['sum(rate({app="a"}[90s]))by(x,y)', 'vector', 'sum by (x, y)(rate({app="a"} [1m30s]))'],
  [
    'sum without() (rate({app="a"}[1.5h] offset 1d))',
    'vector',
    'sum without ()(rate({app="a"} [1h30m] offset 1d))',
  ],
  [
    'quantile_over_time(.99,{app="a"}|json|unwrap duration(x)|__error__=""[5m])by(y)',
    'vector',
    'quantile_over_time(0.99, {app="a"} | json | unwrap duration(x) | __error__="" [5m]) by (y)',
  ],
  [
    'topk(3, vector(1)) > bool on (a) group_left (b) vector(2)',
    'vector',
    '(topk(3, vector(1)) > bool on (a) group_left (b) vector(2))',
  ],
  ['1 + 2 * 3 ^ 2 ^ 2 > 4', 'scalar', '((1 + (2 * (3 ^ (2 ^ 2)))) > 4)'],
  [
    'label_replace(vector(1),"a","$1","b","(.*)")',
    'vector',
    'label_replace(vector(1), "a", "$1", "b", "(.*)")',
  ],
  ['(({app="a"}))', 'lines', '{app="a"}'],
  ['(vector(1)) - 1', 'vector', '(vector(1) - 1)'],
];

for (const [query, type, text] of printed) {
  test(`checked and printed: ${query}`, () => {
    assert.deepEqual(check(query), { type, printed: text });
    assert.deepEqual(parse(text), parse(query));
    assert.equal(printExpr(parse(text)), text);
  });
}

/** Broken queries in lines of 20 characters. */
const broken: [query: string, text: string][] = [
  ['{a="b"} | json', '{a="b"} | json'],
  ['{app="a",b="c"} |json x="y", z|x="y"', '{app="a", b="c"}\n  | json x="y",z="z"\n  | x="y"'],
  [
    'sum by (x)(quantile_over_time(0.5,{app="a"}|logfmt|unwrap v|v>3[5m] offset 1m) by (x))',
    'sum by (x)(\n  quantile_over_time(\n    0.5,\n    {app="a"}\n      | logfmt\n      | unwrap v\n      | v>3 [5m] offset 1m\n  ) by (x)\n)',
  ],
  [
    '(vector(1) + vector(2)) * on(a) vector(3)',
    '  (\n      vector(1)\n    +\n      vector(2)\n  )\n* on (a)\n  vector(3)',
  ],
];

for (const [query, text] of broken) {
  test(`laid out: ${query}`, () => {
    const expr = parse(query);
    assert.equal(layOut(expr, 20), text);
    assert.deepEqual(parse(text), expr);
    assert.equal(layOut(expr, 1_000), printExpr(expr));
  });
}

const words = [
  ...'{ } ( ) [5m] [1h] , = != =~ !~ |= |~ |> !> | == > >= < <= + - * / % ^ and or unless by without on ignoring group_left bool offset'.split(
    ' ',
  ),
  ...'app "a" "b.*" "(a+)+$" `raw` 5 5m 10KB 1e3 -1 json logfmt regexp pattern unpack decolorize line_format label_format drop keep unwrap ip --strict'.split(
    ' ',
  ),
  ...'sum topk rate count_over_time sum_over_time quantile_over_time vector label_replace "{{.a}}" "{{" "<a> <b>" # \n'.split(
    ' ',
  ),
];

const parsesOrSaysWhy = (query: string): void => {
  try {
    assert.deepEqual(parse(printExpr(parse(query))), parse(query));
  } catch (error) {
    assert.match((error as Error).message, /^parse error|^approx_topk/, query);
    assert.ok('kind' in (error as object));
  }
};

test('whatever is typed is parsed, or refused as a parse error', () => {
  fc.assert(fc.property(fc.string({ maxLength: 60, unit: 'binary' }), parsesOrSaysWhy), {
    numRuns: 2000,
  });
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 25 }), (parts) =>
      parsesOrSaysWhy(parts.join(' ')),
    ),
    { numRuns: 5000 },
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) =>
      parsesOrSaysWhy(`{app="a"} | ${parts.join(' ')}`),
    ),
    { numRuns: 5000 },
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) =>
      parsesOrSaysWhy(`sum(rate({app="a"} ${parts.join(' ')} [5m]))`),
    ),
    { numRuns: 3000 },
  );
});
