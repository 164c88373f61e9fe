import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parse, print } from '../../../plugins/metricsdb/promql/index.ts';

const errors: readonly (readonly [query: string, message: string])[] = [
  ['', '1:1: parse error: no expression found in input'],
  ['# only a comment', '1:1: parse error: no expression found in input'],
  ['1+)', "1:4: parse error: unexpected right parenthesis ')'"],
  ['(1', '1:3: parse error: unclosed left parenthesis'],
  ['a[5m', '1:5: parse error: unclosed left bracket'],
  ['a[', '1:3: parse error: unexpected end of input in duration expression'],
  [
    'a[]',
    '1:3: parse error: unexpected "]" in subquery or range selector, expected number, duration, step(), or range()',
  ],
  ['a[5m)]', "1:6: parse error: unexpected right parenthesis ')'"],
  ['a[5mm]', '1:3: parse error: bad number or duration syntax: "5mm"'],
  ['a[1h5m1h]', '1:3: parse error: not a valid duration string: "1h5m1h"'],
  ['*1', '1:1: parse error: unexpected <op:*>'],
  ['a ! b', "1:3: parse error: unexpected character after '!': ' '"],
  ['a =~ b', "1:3: parse error: unexpected character after '=': '~'"],
  ['"open', '1:1: parse error: unterminated quoted string'],
  ['`open', '1:1: parse error: unterminated raw string'],
  ['"\\q"', "1:1: parse error: unknown escape sequence U+0071 'q'"],
  ['a{b}', '1:4: parse error: unexpected "}" in label matching, expected label matching operator'],
  [
    'a{b="c" d="e"}',
    '1:9: parse error: unexpected identifier "d" in label matching, expected "," or "}"',
  ],
  ['a{,}', '1:3: parse error: unexpected "," in label matching, expected identifier or "}"'],
  ['a{b=~"("}', '1:3: parse error: error parsing regexp: missing closing ): `(`'],
  ['a{__name__="b"}', '1:1: parse error: metric name must not be set twice: "a" or "b"'],
  ['nothing(a)', '1:1: parse error: unknown function with name "nothing"'],
  ['rate(a[5m], 1)', '1:1: parse error: expected 1 argument(s) in call to "rate", got 2'],
  ['round()', '1:1: parse error: expected at least 1 argument(s) in call to "round", got 0'],
  ['round(a, 1, 2)', '1:1: parse error: expected at most 2 argument(s) in call to "round", got 3'],
  ['abs(a,)', '1:6: parse error: trailing commas not allowed in function call args'],
  ['sum()', '1:1: parse error: no arguments for aggregate expression provided'],
  [
    'topk(a)',
    '1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, got 1',
  ],
  ['topk("x", a)', '1:6: parse error: expected type scalar in aggregation parameter, got string'],
  ['sum(a) by (b, )', ''],
  ['sum(a) by (,b)', '1:12: parse error: unexpected "," in grouping opts, expected label'],
  ['a + group_left b', '1:5: parse error: unexpected <group_left>'],
  ['a and bool b', '1:3: parse error: bool modifier can only be used on comparison operators'],
  [
    'a + on(b) group_left(c) 1',
    '1:1: parse error: vector matching only allowed between instant vectors',
  ],
  ['a or on(b) group_left(c) d', '1:1: parse error: no grouping allowed for "or" operation'],
  [
    '"a" + 1',
    '1:1: parse error: binary expression must contain only scalar and instant vector types',
  ],
  [
    '-"a"',
    '1:1: parse error: unary expression only allowed on expressions of type scalar or instant vector, got "string"',
  ],
  [
    '1 offset 5m',
    '1:1: parse error: offset modifier must be preceded by an instant vector selector or range vector selector or a subquery',
  ],
  [
    'a offset',
    '1:9: parse error: unexpected end of input in offset, expected number, duration, step(), or range()',
  ],
  ['a @', '1:4: parse error: unexpected end of input in @, expected timestamp'],
  ['a @ 1 @ 2', '1:1: parse error: @ <timestamp> may not be set multiple times'],
  ['a @ Inf', '1:1: parse error: timestamp out of bounds for @ modifier: +Inf'],
  ['sum(a)[5m]', '1:7: parse error: ranges only allowed for vector selectors'],
  ['a offset 1m[5m]', '1:12: parse error: no offset modifiers allowed before range'],
  // Lines from 1, and columns in bytes.
  ['sum(\n  "ü" ,\n)', '2:8: parse error: trailing commas not allowed in function call args'],
  ['{a="ü"} $', "1:10: parse error: unexpected character: '$'"],
];

test('what is wrong with a query is said in the words of Prometheus, with line and column', () => {
  for (const [query, message] of errors) {
    if (message === '') {
      parse(query);
    } else {
      assert.throws(() => parse(query), { message }, query);
    }
  }
});

const printed: readonly (readonly [query: string, text: string])[] = [
  ['sum  (a)BY(b)', 'sum by (b) (a)'],
  ['topk(2,a{y="2",x!="1"})', 'topk(2, a{x!="1",y="2"})'],
  ['{"a b", "c d"=~"e"}', '{"c d"=~"e",__name__="a b"}'],
  ['a[1h30m]offset-90s@end()', 'a[1h30m] @ end() offset -1m30s'],
  ['a[5m:]', 'a[5m:]'],
  ['a[1m*2:30]', 'a[1m * 2:30s]'],
  ['a > bool on(x) group_left(y) b', 'a > bool on (x) group_left (y) b'],
  [
    'a + ignoring(x) fill_left(1) fill_right(2) b',
    'a + ignoring (x) fill_left (1) fill_right (2) b',
  ],
  ['-a ^ 2', '-a ^ 2'],
  ['rate(a[5m] anchored)', 'rate(a[5m] anchored)'],
  ['1e3 + 1e-7', '1000 + 0.0000001'],
  ['"a\\"\\n\\u00e9"', '"a\\"\\né"'],
  ['sum without() (a)', 'sum without () (a)'],
  ['a @ 1.5', 'a @ 1.500'],
];

test('an expression is printed in one form, whatever form it was written in', () => {
  for (const [query, text] of printed) {
    assert.equal(print(parse(query)), text);
  }
});

test('operators bind as in mathematics, the sign less than the power, and set operators least', () => {
  const shape = (query: string): string => {
    const expr = parse(query);
    return expr.node === 'binary'
      ? `${print(expr.left)} | ${expr.op} | ${print(expr.right)}`
      : expr.node;
  };
  assert.equal(shape('a + b * c'), 'a | + | b * c');
  assert.equal(shape('a ^ b ^ c'), 'a | ^ | b ^ c');
  assert.equal(shape('a - b - c'), 'a - b | - | c');
  assert.equal(shape('-a ^ b'), 'unary');
  assert.equal(shape('-a * b'), '-a | * | b');
  assert.equal(shape('a or b and c'), 'a | or | b and c');
  assert.equal(shape('a == b + c unless d'), 'a == b + c | unless | d');
  assert.equal(shape('a atan2 b + c'), 'a atan2 b | + | c');
});
